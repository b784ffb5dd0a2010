import { createEssenceHasherWith, type EssenceHasher } from './core/essence-hasher.ts';
import type { EssenceHasherOptions } from './core/essence-options.ts';
import { coreModule } from './core/module.ts';

/**
 * Makes a hasher of object essences: `xxh3-128:<32 hex>` over the RFC 8785 form of an object minus what never matters
 * (D17, docs/essence.md). Compile the exclusions once, hash often.
 *
 * Throws TypeError for a malformed pointer; `digest` throws `JsonSyntaxError` for bytes that are not JSON and
 * `ValueError` for values that have no JSON form.
 *
 * @example
 * ```ts
 * import { createEssenceHasher } from 'plimsoll';
 *
 * const hasher = createEssenceHasher({ ignore: ['/spec/replicas'] });
 * const a = hasher.digest({ metadata: { resourceVersion: '1' }, spec: { replicas: 1, image: 'x' } });
 * const b = hasher.digest(new TextEncoder().encode('{"spec":{"image":"x"}}'));
 * console.log(a === b); // true
 * ```
 */
export function createEssenceHasher(options: EssenceHasherOptions = {}): EssenceHasher {
  return createEssenceHasherWith(coreModule(), options);
}
