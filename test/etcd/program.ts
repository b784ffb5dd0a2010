import { inspect } from 'node:util';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { CompareResult, WatchFilter } from '../../src/types/store.ts';

/**
 * A random program: plain data, so that one that fails can be cut down, printed and run again. Revisions are said
 * relative to the newest one at the moment the step runs, so a program keeps its meaning when steps before are cut out.
 */
export interface Program {
  readonly settings: Settings;
  readonly steps: readonly Step[];
}

export interface Settings {
  readonly keys: 'utf8' | 'bytes';
  /** `plain`: text and bytes as they are. `json`: JSON data through the JSON codec. */
  readonly values: 'plain' | 'json';
  /** Whether the embedded store gets time to free what compaction dropped. No answer may depend on it. */
  readonly physical: boolean;
}

export type Step =
  | {
      readonly op: 'put';
      readonly key: Key;
      readonly value: unknown;
      readonly prevKv: boolean;
      readonly expect: Expect;
    }
  | { readonly op: 'delete'; readonly range: KeyRange<Key>; readonly prevKv: boolean; readonly expect: Expect }
  | {
      readonly op: 'txn';
      readonly compare: readonly CompareStep[];
      readonly then: readonly OperationStep[];
      readonly else: readonly OperationStep[];
    }
  | { readonly op: 'get'; readonly key: Key; readonly at: At }
  | ({ readonly op: 'range'; readonly id: number; readonly range: KeyRange<Key>; readonly at: At } & RangeOptions)
  /** The next page of one of the ranges that have more, if there is any. */
  | { readonly op: 'page'; readonly pick: number }
  | {
      readonly op: 'watch';
      readonly id: number;
      readonly range: KeyRange<Key>;
      readonly start: Start;
      readonly prevKv: boolean;
      readonly filter: WatchFilter | undefined;
      /** The embedded store's watch is read only when its events are asked for, as a slow consumer does. */
      readonly lazy: boolean;
    }
  | { readonly op: 'cancel'; readonly pick: number }
  | { readonly op: 'compact'; readonly back: number };

/** What a write expects of the key's mod revision. */
export type Expect = 'nothing' | 'absent' | 'current' | 'other';

/** A number of revisions back from the newest (below 0: in the future), or a revision as it is. */
export type At = { readonly back: number } | { readonly raw: number } | undefined;
/** `compacted`: at the compact revision itself, the oldest legal start. */
export type Start = At | 'initial' | 'compacted';

export interface RangeOptions {
  readonly limit: number | undefined;
  readonly keysOnly: boolean;
  readonly countOnly: boolean;
}

export type CompareStep = { readonly key: Key; readonly result: CompareResult } & (
  | { readonly target: 'value'; readonly value: unknown }
  | { readonly target: 'lease'; readonly value: string }
  | { readonly target: 'version'; readonly value: number }
  | { readonly target: 'create' | 'mod'; readonly at: { readonly back: number } | 'absent' }
);

export type OperationStep =
  | { readonly type: 'put'; readonly key: Key; readonly value: unknown; readonly prevKv: boolean }
  | { readonly type: 'delete'; readonly range: KeyRange<Key>; readonly prevKv: boolean }
  | ({ readonly type: 'range'; readonly range: KeyRange<Key> } & RangeOptions);

/** The program as numbered lines, for a person who has to find out why it fails. */
export function printProgram(program: Program): string {
  const lines = program.steps.map(({ op, ...rest }, index) => `${String(index + 1).padStart(4)}. ${op} ${show(rest)}`);
  return [`      settings ${show(program.settings)}`, ...lines].join('\n');
}

/** Any plain data on one line. */
export function show(data: unknown): string {
  return inspect(data, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 12, maxArrayLength: 12 });
}
