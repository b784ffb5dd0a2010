import { canonicalJson } from './canonical-json.ts';
import { type DigestAlgorithm, digestScheme } from './digest-scheme.ts';
import { EssenceCore } from './essence-core.ts';
import { compileRules, type EssenceRules } from './essence-rules.ts';

export interface EssenceHasherOptions {
  /**
   * JSON pointers (RFC 6901) of parts that do not count, added to the defaults. A segment `*` matches every element of
   * an array (and nothing in an object); a decimal segment matches that element, or that member of an object.
   * @default []
   */
  readonly ignore?: readonly string[];
  /** Leave out what Kubernetes and controllers write for themselves; `docs/essence.md` has the list. @default true */
  readonly defaults?: boolean;
  /**
   * What to do when JSON bytes name a member twice: the last one counts, as with `JSON.parse`, or the text is refused,
   * wherever in it the second one is. Parsed values cannot have any. @default 'last'
   */
  readonly duplicates?: 'last' | 'reject';
  /**
   * What the canonical text is hashed with. `sha256` is for those who cannot rule out that somebody builds two objects
   * with one digest; it takes several times as long. @default 'xxh3-128'
   */
  readonly algorithm?: DigestAlgorithm;
  /**
   * Seed of XXH3-128, from 1n to 2n ** 64n - 1n: digests made with different seeds are never equal, and who does not know
   * the seed cannot prepare objects that collide. It is no MAC: do not let a digest prove who made it. Only with
   * `xxh3-128`. @default none
   */
  readonly seed?: bigint;
}

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
   * surrogate, a number larger than any double), `ValueError` with the JSON pointer for a value that is not JSON,
   * `LimitExceededError` and `StoreFullError` for what is too large.
   */
  digest(valueOrJsonBytes: unknown): string;
  /** The text that `digest` hashes: RFC 8785 of the value without the excluded parts. Throws as `digest` does. */
  canonicalize(valueOrJsonBytes: unknown): string;
}

/**
 * Creates a hasher on a compiled core module; see {@link EssenceHasherOptions}. Costs an instance of the module: make
 * one and keep it. Throws `TypeError` for a malformed option, `LimitExceededError` for too many rules.
 *
 * Internal; what users call, with an example, is `createEssenceHasher` of `src/mod.ts`.
 */
export function createEssenceHasherWith(module: WebAssembly.Module, options: EssenceHasherOptions = {}): EssenceHasher {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('Cannot create the essence hasher: the options are not an object');
  }
  for (const name of Object.keys(options)) {
    if (!NAMES.has(name)) throw new TypeError(`Cannot create the essence hasher: unknown option ${name}`);
  }
  const { ignore = [], defaults = true, duplicates = 'last', algorithm = 'xxh3-128', seed } = options;
  if (!Array.isArray(ignore)) throw new TypeError('Cannot create the essence hasher: ignore is not an array');
  if (typeof defaults !== 'boolean') throw new TypeError('Cannot create the essence hasher: defaults is not a boolean');
  if (duplicates !== 'last' && duplicates !== 'reject') {
    throw new TypeError(
      `Cannot create the essence hasher: duplicates is "${String(duplicates)}", not "last" or "reject"`,
    );
  }
  const scheme = digestScheme(module, algorithm, seed);
  const rules = compileRules(ignore, defaults);
  return new CoreEssenceHasher(new EssenceCore(module, rules, scheme), rules, duplicates === 'reject');
}

const NAMES: ReadonlySet<string> = new Set<keyof EssenceHasherOptions>([
  'ignore',
  'defaults',
  'duplicates',
  'algorithm',
  'seed',
]);

class CoreEssenceHasher implements EssenceHasher {
  readonly #core: EssenceCore;
  readonly #rules: EssenceRules;
  readonly #rejectDuplicates: boolean;

  constructor(core: EssenceCore, rules: EssenceRules, rejectDuplicates: boolean) {
    this.#core = core;
    this.#rules = rules;
    this.#rejectDuplicates = rejectDuplicates;
  }

  digest(valueOrJsonBytes: unknown): string {
    const action = 'digest the value';
    if (valueOrJsonBytes instanceof Uint8Array) {
      const digest = this.#core.digest(valueOrJsonBytes, this.#rejectDuplicates, action);
      if (digest !== undefined) return digest;
      return this.#core.digestText(this.#reparse(valueOrJsonBytes.length, action), action);
    }
    return (
      this.#core.digestValue(valueOrJsonBytes) ??
      this.#core.digestText(canonicalJson(valueOrJsonBytes, this.#rules.root, action), action)
    );
  }

  canonicalize(valueOrJsonBytes: unknown): string {
    const action = 'canonicalize the value';
    if (valueOrJsonBytes instanceof Uint8Array) {
      const length = this.#core.scan(valueOrJsonBytes, this.#rejectDuplicates, action);
      return length === undefined ? this.#reparse(valueOrJsonBytes.length, action) : this.#core.text(length);
    }
    return canonicalJson(valueOrJsonBytes, this.#rules.root, action);
  }

  /**
   * The canonical text of a document the core found valid but left undecided: numbers with exponents or of more than 15
   * digits, which only the runtime converts the way `JSON.parse` does, or objects in objects whose members would have to
   * be moved more often than its budget allows (`assembly/json-order.ts`). The bounds of a value apply.
   */
  #reparse(length: number, action: string): string {
    return canonicalJson(JSON.parse(this.#core.input(length)), this.#rules.root, action);
  }
}
