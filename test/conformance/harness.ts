/**
 * A test harness that runs wherever the package runs: no host API, no dependency, no timer. Cases register themselves
 * by `test` when their file is loaded; `run` runs them one after the other, in that order.
 */
export type TestFunction = () => void | Promise<void>;

export interface Failure {
  readonly name: string;
  readonly message: string;
}

export interface RunResult {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
}

/** What an error must be: its class, and its literal `code` when it is one of Plimsoll's. */
export interface ErrorExpectation<E extends Error = Error> {
  readonly class: new (...parameters: never[]) => E;
  readonly code?: string;
}

/** The cases of one bundle. */
export class Harness {
  readonly #cases = new Map<string, TestFunction>();

  test(name: string, fn: TestFunction): void {
    if (this.#cases.has(name)) throw new TypeError(`Cannot add the test "${name}": there is one of that name`);
    this.#cases.set(name, fn);
  }

  /**
   * Never rejects: what a case throws is its failure. `onStart` is told each case before it runs: of one that never
   * ends there will be no result to read its name in. After `failuresMax` failures the rest is left.
   */
  async run(onStart: (name: string) => void = () => {}, failuresMax = Number.POSITIVE_INFINITY): Promise<RunResult> {
    const failures: Failure[] = [];
    let ended = 0;
    for (const [name, fn] of this.#cases) {
      if (failures.length >= failuresMax) break;
      onStart(name);
      try {
        await fn();
      } catch (error) {
        failures.push({ name, message: describeError(error) });
      }
      ended++;
    }
    return { passed: ended - failures.length, failed: failures.length, failures };
  }
}

const harness = new Harness();

/** Adds a case. Names are unique. */
export function test(name: string, fn: TestFunction): void {
  harness.test(name, fn);
}

/** Runs every case added so far; see `Harness.run`. */
export function run(onStart?: (name: string) => void, failuresMax?: number): Promise<RunResult> {
  return harness.run(onStart, failuresMax);
}

/** Fails unless both are the same data: primitives by `Object.is`, bytes, arrays, maps, sets and objects by content. */
export function equal(actual: unknown, expected: unknown): void {
  const path = difference(actual, expected, '');
  if (path === undefined) return;
  throw new Error(`Not equal${path === '' ? '' : ` at ${path}`}: got ${show(actual)}, expected ${show(expected)}`);
}

/** Fails unless `fn` throws what is expected; returns the error for a look at its facts. */
export function throws<E extends Error>(fn: () => unknown, expected: ErrorExpectation<E>): E {
  try {
    fn();
  } catch (error) {
    return check(error, expected);
  }
  throw new Error(`Nothing was thrown, expected ${expected.class.name}`);
}

/** Fails unless the promise rejects with what is expected; resolves with the error for a look at its facts. */
export async function rejects<E extends Error>(promise: Promise<unknown>, expected: ErrorExpectation<E>): Promise<E> {
  const outcome = await promise.then(
    () => ({ error: undefined, rejected: false }),
    (error: unknown) => ({ error, rejected: true }),
  );
  if (!outcome.rejected) throw new Error(`Nothing was rejected, expected ${expected.class.name}`);
  return check(outcome.error, expected);
}

function check<E extends Error>(error: unknown, expected: ErrorExpectation<E>): E {
  if (!(error instanceof expected.class)) {
    throw new Error(`Expected ${expected.class.name}, got ${describeError(error)}`, { cause: error });
  }
  const code = (error as E & { readonly code?: unknown }).code;
  if (expected.code !== undefined && code !== expected.code) {
    throw new Error(`Expected code ${expected.code}, got ${show(code)}`, { cause: error });
  }
  return error;
}

/** Where the two differ first, as a path; undefined when they do not. */
function difference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return path;
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return path;
  if (actual instanceof Map && expected instanceof Map) return difference([...actual], [...expected], path);
  if (actual instanceof Set && expected instanceof Set) return difference([...actual], [...expected], path);
  const actualKeys = Object.keys(actual);
  const expectedKeys = Object.keys(expected);
  if (actualKeys.length !== expectedKeys.length) return path;
  for (const key of expectedKeys) {
    if (!Object.hasOwn(actual, key)) return `${path}.${key}`;
    const [left, right] = [Reflect.get(actual, key), Reflect.get(expected, key)];
    const found = difference(left, right, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return show(error);
  return error.stack?.includes(error.message) ? error.stack : `${error.name}: ${error.message}`;
}

function show(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes [${value.join(' ')}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(value);
}
