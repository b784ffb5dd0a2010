import { ValueError } from '../types/errors.ts';
import { isPromise } from '../types/is-promise.ts';
import { canonicalJson } from './canonical-json.ts';
import type { EssenceRules } from './essence-rules.ts';
import { jsonPointer } from './json-pointer.ts';

/** Objects at first that are checked each, and of how many later ones one is. */
export const CHECKED_FIRST = 100;
export const CHECKED_ONE_OF = 64;

/**
 * Takes an object for what user functions make of it, one after the other, and checks now and then that they make of their
 * own result the same again (E16). A function for which that does not hold has no fixed form: `1000m` and `1` would have
 * one digest today, and two of them when it is run on what is stored of a view.
 *
 * What the rules exclude may differ.
 */
export class Normaliser {
  readonly #functions: readonly ((object: unknown) => unknown)[];
  readonly #rules: EssenceRules;
  readonly #alwaysChecks: boolean;
  #objects = 0;

  constructor(functions: readonly ((object: unknown) => unknown)[], rules: EssenceRules, alwaysChecks: boolean) {
    this.#functions = functions;
    this.#rules = rules;
    this.#alwaysChecks = alwaysChecks;
  }

  /** Whether there is nothing that it does. */
  get isIdle(): boolean {
    return this.#functions.length === 0;
  }

  /**
   * The canonical text of the object normalised. Throws what the functions throw, what `canonicalJson` does of their
   * result, and `ValueError` with the place where the second result is another one.
   */
  canonicalize(value: unknown, action: string): string {
    const normal = this.#apply(value);
    const text = canonicalJson(normal, this.#rules, action);
    if (this.#functions.length > 0 && this.#isChecked()) {
      const again = canonicalJson(this.#apply(normal), this.#rules, action);
      if (again !== text) {
        const path = jsonPointer(firstDifference(JSON.parse(text), JSON.parse(again)) ?? []);
        throw new ValueError(action, {
          path,
          reason: 'is not the same when normalised twice: normalise is not idempotent',
        });
      }
    }
    return text;
  }

  #apply(value: unknown): unknown {
    return this.#functions.reduce((normal, normalise) => {
      const next = normalise(normal);
      // Refused like anything else that is no JSON data.
      isPromise(next);
      return next;
    }, value);
  }

  /** Counts objects, rather than toss a coin: who runs the same program again gets the same answers. */
  #isChecked(): boolean {
    const nth = this.#objects++;
    return this.#alwaysChecks || nth < CHECKED_FIRST || nth % CHECKED_ONE_OF === 0;
  }
}

/** The way to the first part in which two values differ, the members in the order of the first one; `undefined` if none does. */
function firstDifference(a: unknown, b: unknown): readonly (string | number)[] | undefined {
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b))
    return Object.is(a, b) ? undefined : [];
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (!Object.hasOwn(a, name) || !Object.hasOwn(b, name)) return [name];
    const below = firstDifference(a[name], b[name]);
    if (below !== undefined) return [name, ...below];
  }
  return undefined;
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
