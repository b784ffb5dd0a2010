import { type DigestScheme, digestScheme } from './digest-scheme.ts';
import { KindTable } from './essence-kinds.ts';
import { RuleMatches } from './essence-matches.ts';
import { type CheckedOptions, type CheckedRules, checkOptions, type EssenceHasherOptions } from './essence-options.ts';
import { compileAll, RuleSet } from './essence-rule-set.ts';
import { schemaText } from './essence-schema.ts';

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
   * surrogate, a number larger than any double), `ValueError` with the JSON pointer for a value that is not JSON and for
   * a `normalise` that is not idempotent, what `normalise` and `alsoCompare` throw, and `LimitExceededError` and
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
  return new RulesHasher(module, scheme, checked);
}

class RulesHasher implements EssenceHasher {
  readonly alsoCompares: boolean;
  readonly #options: CheckedOptions;
  readonly #tag: string;
  /** For the objects that no kind matches. */
  readonly #general: RuleSet;
  /** `undefined` where there are no kinds: most hashers do not look at the kind of an object. */
  readonly #kinds: KindTable<CheckedRules, RuleSet> | undefined;
  readonly #matches: RuleMatches | undefined;
  #schemaId: string | undefined;

  constructor(module: WebAssembly.Module, scheme: DigestScheme, options: CheckedOptions) {
    this.alsoCompares = options.alsoCompare !== undefined;
    this.#options = options;
    this.#tag = scheme.tag;
    this.#general = new RuleSet(module, scheme, options);
    if (options.onUnmatched !== undefined) this.#matches = new RuleMatches(options, options.onUnmatched);
    if (options.kinds.length === 0) return;
    const make = (rules: readonly CheckedRules[]): RuleSet => new RuleSet(module, scheme, options, [...rules, options]);
    this.#kinds = new KindTable(options.kinds, make);
    // A malformed pointer is told now, not by the first object of the kind.
    for (const [, rules] of options.kinds) compileAll([rules, options], options);
  }

  get schemaId(): string {
    this.#schemaId ??= this.#general.digestText(schemaText(this.#options, this.#tag), 'describe the essence rules');
    return this.#schemaId;
  }

  digest(valueOrJsonBytes: unknown): string {
    const digest = this.#rulesFor(valueOrJsonBytes).digest(valueOrJsonBytes, 'digest the value');
    // Not before: what is no JSON has been refused.
    if (this.#matches !== undefined && !this.#matches.isOver) this.#matches.look(parsed(valueOrJsonBytes));
    return digest;
  }

  canonicalize(valueOrJsonBytes: unknown): string {
    return this.#rulesFor(valueOrJsonBytes).canonicalize(valueOrJsonBytes, 'canonicalize the value');
  }

  #rulesFor(valueOrJsonBytes: unknown): RuleSet {
    if (this.#kinds === undefined) return this.#general;
    return this.#kinds.find(parsed(valueOrJsonBytes)) ?? this.#general;
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
