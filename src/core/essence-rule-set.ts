import { isPromise } from '../types/is-promise.ts';
import { canonicalJson } from './canonical-json.ts';
import type { DigestScheme } from './digest-scheme.ts';
import { EssenceCore } from './essence-core.ts';
import { Normaliser } from './essence-normaliser.ts';
import type { CheckedOptions, CheckedRules } from './essence-options.ts';
import { compileRules, type EssenceRules, isUntouched } from './essence-rules.ts';
import { schemaText } from './essence-schema.ts';

/**
 * The rules that hold for an object, compiled, and the ways to its digest:
 *
 * ```text
 *   plain   bytes ------------------------> core          value --> writer --> core
 *   slow    bytes --> core, JSON.parse --> value --> normalise --> canonical-json.ts --> [text, alsoCompare] --> core
 * ```
 *
 * A hasher is one of these, or chooses one for each object. The slow way is that of rules of which the core knows nothing. Bytes go through the core there too, which judges them.
 */
export class RuleSet {
  readonly alsoCompares: boolean;
  readonly #options: CheckedOptions;
  readonly #tag: string;
  readonly #core: EssenceCore;
  readonly #rules: EssenceRules;
  readonly #rejectDuplicates: boolean;
  readonly #normaliser: Normaliser;
  readonly #alsoCompare: ((object: unknown) => unknown) | undefined;
  readonly #isPlain: boolean;
  #schemaId: string | undefined;

  /** `all`: the rules that count, those of the most telling kind first. */
  constructor(
    module: WebAssembly.Module,
    scheme: DigestScheme,
    options: CheckedOptions,
    all: readonly CheckedRules[] = [options],
  ) {
    const rules = compileAll(all, options);
    // The rules for all objects come last in `all`, and their function first: that of a kind may build on it.
    const functions = all.flatMap(({ normalise }) => normalise ?? []).reverse();
    this.alsoCompares = options.alsoCompare !== undefined;
    this.#options = options;
    this.#tag = scheme.tag;
    this.#core = new EssenceCore(module, rules, scheme);
    this.#rules = rules;
    this.#rejectDuplicates = options.rejectDuplicates;
    this.#normaliser = new Normaliser(functions, rules, options.alwaysChecks);
    this.#alsoCompare = options.alsoCompare;
    this.#isPlain =
      functions.length === 0 && !rules.hasLists && !rules.nullIsAbsent && options.alsoCompare === undefined;
  }

  get schemaId(): string {
    const action = 'describe the essence rules';
    this.#schemaId ??= this.#core.digestText(schemaText(this.#options, this.#tag), action);
    return this.#schemaId;
  }

  digest(valueOrJsonBytes: unknown): string {
    const action = 'digest the value';
    if (!this.#isPlain)
      return this.#core.digestText(this.#hashedText(this.#parse(valueOrJsonBytes, action), action), action);
    if (valueOrJsonBytes instanceof Uint8Array) {
      const digest = this.#core.digest(valueOrJsonBytes, this.#rejectDuplicates, action);
      if (digest !== undefined) return digest;
      return this.#core.digestText(this.#reparse(valueOrJsonBytes.length, action), action);
    }
    return (
      this.#core.digestValue(valueOrJsonBytes) ??
      this.#core.digestText(canonicalJson(valueOrJsonBytes, this.#rules, action), action)
    );
  }

  canonicalize(valueOrJsonBytes: unknown): string {
    const action = 'canonicalize the value';
    if (!this.#isPlain) return this.#normaliser.canonicalize(this.#parse(valueOrJsonBytes, action), action);
    if (valueOrJsonBytes instanceof Uint8Array) {
      const length = this.#core.scan(valueOrJsonBytes, this.#rejectDuplicates, action);
      return length === undefined ? this.#reparse(valueOrJsonBytes.length, action) : this.#core.text(length);
    }
    return canonicalJson(valueOrJsonBytes, this.#rules, action);
  }

  isWholeAt(_value: unknown, path: readonly string[]): boolean {
    return this.#normaliser.isIdle && isUntouched(this.#rules, path);
  }

  /** What is hashed on the slow way. */
  #hashedText(value: unknown, action: string): string {
    const text = this.#normaliser.canonicalize(value, action);
    if (this.#alsoCompare === undefined) return text;
    // JSON has no word for "nothing".
    const derived = this.#alsoCompare(value) ?? null;
    // Refused like anything else that is no JSON data.
    isPromise(derived);
    return `[${text},${canonicalJson(derived, ALL, `${action}: alsoCompare`)}]`;
  }

  /** The value of a text that the core finds valid, or a value as it is. */
  #parse(valueOrJsonBytes: unknown, action: string): unknown {
    if (!(valueOrJsonBytes instanceof Uint8Array)) return valueOrJsonBytes;
    this.#core.scan(valueOrJsonBytes, this.#rejectDuplicates, action);
    return JSON.parse(this.#core.input(valueOrJsonBytes.length));
  }

  /**
   * The canonical text of a document the core found valid but left undecided: numbers with exponents or of more than 15
   * digits, which only the runtime converts the way `JSON.parse` does, or objects in objects whose members would have to
   * be moved more often than its budget allows (`assembly/json-order.ts`). The bounds of a value apply.
   */
  #reparse(length: number, action: string): string {
    return canonicalJson(JSON.parse(this.#core.input(length)), this.#rules, action);
  }
}

/** All of the rules as one. Throws as `compileRules` does. */
export function compileAll(all: readonly CheckedRules[], { defaults, nullIsAbsent }: CheckedOptions): EssenceRules {
  return compileRules({
    ignore: all.flatMap(({ ignore }) => ignore),
    defaults,
    keep: new Set(all.flatMap(({ keep }) => keep)),
    lists: all.flatMap(({ lists }) => lists),
    nullIsAbsent,
  });
}

/** Nothing left out. */
const ALL: EssenceRules = compileRules({ ignore: [], defaults: false });
