import { isDeepStrictEqual } from 'node:util';
import { PlimsollError } from '../../src/types/errors.ts';

/** What came of one call: an answer or an error, in a form that can be compared. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Store and model differ, or the store broke an invariant. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

export function outcome(fn: () => unknown): Outcome {
  try {
    return { value: fn() };
  } catch (error) {
    return { error };
  }
}

export async function outcomeOf(fn: () => unknown): Promise<Outcome> {
  try {
    return { value: await fn() };
  } catch (error) {
    return { error };
  }
}

/** An error by class, code and facts, an answer as it is. Messages are for the tables of the unit tests. */
export function comparable(one: Outcome): unknown {
  if (!('error' in one)) return one;
  const { error } = one;
  if (!(error instanceof Error)) return { thrown: error };
  return { class: error.constructor.name, ...(error instanceof PlimsollError ? { ...error } : {}) };
}

export function checkSame(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Mismatch(`${what}: the store gives ${show(actual)}, expected is ${show(expected)}`);
}

/** Long enough for every promise chain of the store; nothing there waits for a timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await undefined;
}

export function show(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) => {
      if (part instanceof Uint8Array) return `bytes ${[...part].join(' ')}`;
      if (part instanceof Error) return `${part.name}: ${part.message}`;
      return part;
    }) ?? 'undefined'
  );
}
