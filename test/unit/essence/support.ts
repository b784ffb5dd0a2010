import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import {
  createEssenceHasherWith,
  type EssenceHasher,
  type EssenceHasherOptions,
} from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';
import { JsonSyntaxError } from '../../../src/types/errors.ts';

const encoder = new TextEncoder();

export function createHasher(options?: EssenceHasherOptions): EssenceHasher {
  return createEssenceHasherWith(coreModule(), options);
}

/** Nothing left out: plain RFC 8785. */
export const PLAIN: EssenceHasherOptions = { defaults: false };

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Where and why a text is refused, as `3: a value was expected`; `accepted` if it is not. */
export function refusal(hasher: EssenceHasher, bytes: Uint8Array): string {
  try {
    hasher.digest(bytes);
    return 'accepted';
  } catch (error) {
    if (error instanceof JsonSyntaxError) return `${error.offset}: ${error.reason}`;
    throw error;
  }
}

/** A file of the project's shared test data, or `undefined` where that is not installed. */
export function sharedData(name: string): Uint8Array | undefined {
  try {
    const bytes = readFileSync(new URL(`../../../../shared/data/${name}`, import.meta.url));
    return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
