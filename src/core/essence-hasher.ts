import { type DigestScheme, digestScheme } from './digest-scheme.ts';
import { KindTable } from './essence-kinds.ts';
import { RuleMatches } from './essence-matches.ts';
import { type CheckedOptions, type CheckedRules, checkOptions, type EssenceHasherOptions } from './essence-options.ts';
import { compileAll, RuleSet } from './essence-rule-set.ts';

export type { EssenceHasherOptions };

/**
 * Says whether two objects mean the same: equal essence, equal digest, however either was written.
 *
 * By default the digest does not resist an attacker who wants two objects to collide; see `algorithm` and `seed` of
 * {@link EssenceHasherOptions}.
 */
export interface EssenceHasher {
  /**
   * `xxh3-128:` and 32 hexadecimal digits (`sha256:` and 64, `xxh3-128-seed-`, a fingerprint of the seed in 16 digits,
   * `:` and 32), for a JSON text (`Uint8Array`) or a parsed JSON value (anything else). A text
   * and the value parsed from it have the same digest. The value is only read.
   *
   * Throws `JsonSyntaxError` with the byte offset for a text that is not JSON or has no canonical form (a lone
   * surrogate, a number larger than any double), `ValueError` with the JSON pointer for a value that is not JSON, for
   * a `normalise` that is not idempotent, and for bytes whose buffer is detached, what `normalise` and `alsoCompare` throw, and `LimitExceededError` and
   * `StoreFullError` for what is too large.
   */
  digest(valueOrJsonBytes: unknown): string;
  /**
   * The essence as a text: RFC 8785 of the value without the excluded parts. It is what `digest` hashes, alone or, with
   * `alsoCompare`, as the first of two elements of an array. Throws as `digest` does.
   */
  canonicalize(valueOrJsonBytes: unknown): string;
  /**
   * A digest of all rules, the defaults of this version included: while two hashers have one `schemaId`, they have one
   * digest for one object (E15). The functions among the rules are told by `version` alone.
   */
  readonly schemaId: string;
  /**
   * Whether the essence of a value of this kind, or of a JSON text (`Uint8Array`), has all that may be at a place: no rule is
   * about it, or about anything below it. Only the kind of the value is looked at. `false` everywhere with `normalise` and
   * `nullIsAbsent`.
   *
   * `path`: keys from the root. Example: by the default rules `['spec', 'replicas']` is whole, `['metadata']` is not.
   */
  isWholeAt(value: unknown, path: readonly string[]): boolean;
  /** Whether digests depend on more than the essence, by `alsoCompare`. */
  readonly alsoCompares: boolean;
}

/**
 * Creates a hasher on a compiled core module; see {@link EssenceHasherOptions}. Costs an instance of the module: make
 * one and keep it. Throws `TypeError` for a malformed option, `LimitExceededError` for too many rules.
 *
 * Internal; what users call, with an example, is `createEssenceHasher` of `src/mod.ts`.
 */
export function createEssenceHasherWith(module: WebAssembly.Module, options: EssenceHasherOptions = {}): EssenceHasher {
  const checked = checkOptions(options);
  const { algorithm = 'xxh3-128', seed } = options;
  const scheme = digestScheme(module, algorithm, seed);
  const general = new RuleSet(module, scheme, checked);
  const isAlone = checked.kinds.length === 0 && checked.onUnmatched === undefined;
  return isAlone ? general : new ChoosingHasher(module, scheme, checked, general);
}

/** Looks at each object before it takes the rules for it. */
class ChoosingHasher implements EssenceHasher {
  readonly schemaId: string;
  readonly alsoCompares: boolean;
  /** For the objects that no kind matches. */
  readonly #general: RuleSet;
  readonly #kinds: KindTable<CheckedRules, RuleSet>;
  readonly #matches: RuleMatches | undefined;

  constructor(module: WebAssembly.Module, scheme: DigestScheme, options: CheckedOptions, general: RuleSet) {
    const { kinds, onUnmatched } = options;
    this.schemaId = general.schemaId;
    this.alsoCompares = general.alsoCompares;
    this.#general = general;
    this.#kinds = new KindTable(kinds, (rules) => new RuleSet(module, scheme, options, [...rules, options]));
    if (onUnmatched !== undefined) this.#matches = new RuleMatches(options, onUnmatched);
    // A malformed pointer is told now, not by the first object of the kind.
    for (const [, rules] of kinds) compileAll([rules, options], options);
  }

  digest(valueOrJsonBytes: unknown): string {
    const value = parsed(valueOrJsonBytes);
    const digest = (this.#kinds.find(value) ?? this.#general).digest(valueOrJsonBytes);
    // Not before: what is no JSON has been refused.
    if (this.#matches?.isOver === false) this.#matches.look(value);
    return digest;
  }

  isWholeAt(value: unknown, path: readonly string[]): boolean {
    return (this.#kinds.find(parsed(value)) ?? this.#general).isWholeAt(value, path);
  }

  canonicalize(valueOrJsonBytes: unknown): string {
    return (this.#kinds.find(parsed(valueOrJsonBytes)) ?? this.#general).canonicalize(valueOrJsonBytes);
  }
}

/** The value of bytes; nothing for a text that is no JSON, which the rules for all objects will refuse, with the place. */
function parsed(valueOrJsonBytes: unknown): unknown {
  if (!(valueOrJsonBytes instanceof Uint8Array)) return valueOrJsonBytes;
  try {
    return JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(valueOrJsonBytes));
  } catch {
    return undefined;
  }
}
