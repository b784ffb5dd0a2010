import type { WatchBatch } from '../../types/event.ts';
import type { KeyValue, Revision } from '../../types/revision.ts';
import type { TrueObject } from './true-state.ts';

/** One thing that is not as it has to be. */
export interface Difference {
  readonly key: string;
  readonly expected: string;
  readonly actual: string;
}

/** The type of every value in the demo's store. */
export type Resource = Readonly<Record<string, unknown>>;

/** A state as somebody outside of the store sees it: by key, what was put last. */
export type FoldedState = Map<string, KeyValue<Resource>>;

/** Applies a batch; the first one of a list + watch is the whole state. */
export function fold(state: FoldedState, batch: WatchBatch<Resource>): void {
  if (batch.initial === true) state.clear();
  for (const event of batch.events) {
    if (event.type === 'put') state.set(event.kv.key, event.kv);
    else state.delete(event.kv.key);
  }
}

/** The first difference in the order of keys: a missing or surplus object, another revision, another content. */
export function compareStates(
  expected: ReadonlyMap<string, TrueObject>,
  actual: ReadonlyMap<string, KeyValue<Resource>>,
): Difference | undefined {
  const keys = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  for (const key of keys) {
    const difference = compareObject(key, expected.get(key), actual.get(key));
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function compareObject(
  key: string,
  expected: TrueObject | undefined,
  actual: KeyValue<Resource> | undefined,
): Difference | undefined {
  if (expected === undefined || actual === undefined || expected.revision !== actual.modRevision) {
    return { key, expected: atRevision(expected?.revision), actual: atRevision(actual?.modRevision) };
  }
  const expectedText = JSON.stringify(expected.object);
  const actualText = JSON.stringify(actual.value);
  if (expectedText === actualText) return undefined;
  let at = 0;
  while (expectedText[at] === actualText[at]) at++;
  return { key, expected: excerpt(expectedText, at), actual: excerpt(actualText, at) };
}

function atRevision(revision: Revision | undefined): string {
  return revision === undefined ? 'no such object' : `the object at revision ${revision}`;
}

function excerpt(text: string, at: number): string {
  return `...${text.slice(Math.max(0, at - 40), at + 40)}...`;
}
