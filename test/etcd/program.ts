import { inspect } from 'node:util';
import type { SortOrder, SortTarget } from '../../src/types/requests.ts';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { CompareResult } from '../../src/types/txn.ts';
import type { WatchFilter } from '../../src/types/watch.ts';

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
  /**
   * Whether timers of the embedded store run: what frees what compaction dropped, and what expires leases. No answer may
   * depend on it.
   */
  readonly physical: boolean;
  /** Leases with short TTLs, and steps that wait until they have expired. */
  readonly expiry: boolean;
}

/** A lease as programs call it: its id, or `g` and a number if the store is to make the id. '0' is none. */
export type LeaseName = string;

export type Step =
  | ({
      readonly op: 'put';
      readonly key: Key;
      readonly value: unknown;
      readonly prevKv: boolean;
      readonly expect: Expect;
    } & Attachment)
  | { readonly op: 'putAll'; readonly entries: readonly EntryStep[] }
  | { readonly op: 'delete'; readonly range: KeyRange<Key>; readonly prevKv: boolean; readonly expect: Expect }
  | ({ readonly op: 'txn' } & TxnStep)
  | { readonly op: 'get'; readonly key: Key; readonly at: At }
  | ({ readonly op: 'range'; readonly id: number; readonly range: KeyRange<Key>; readonly at: At } & Selection<Place>)
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
  | { readonly op: 'compact'; readonly back: number }
  | { readonly op: 'grant'; readonly lease: LeaseName; readonly ttlMs: number }
  | { readonly op: 'revoke' | 'keepAlive'; readonly lease: LeaseName }
  | { readonly op: 'timeToLive'; readonly lease: LeaseName; readonly withKeys: boolean }
  | { readonly op: 'leases' }
  /** Time goes on, and what is due by then expires. Only in programs with `expiry`. */
  | { readonly op: 'sleep'; readonly ms: number };

/** What a write expects of the key's mod revision. */
export type Expect = 'nothing' | 'absent' | 'current' | 'other';

/** So many revisions back from the newest; below 0: in the future. */
export interface Place {
  readonly back: number;
}

/** A place, or a revision as it is. */
export type At = Place | { readonly raw: number } | undefined;
/** `compacted`: at the compact revision itself, the oldest legal start. */
export type Start = At | 'initial' | 'compacted';

/** What a put says of the key's lease and of its value. */
export interface Attachment {
  readonly lease: LeaseName | undefined;
  readonly ignoreValue: boolean;
  readonly ignoreLease: boolean;
}

export type EntryStep = { readonly key: Key; readonly value: unknown } & Omit<Attachment, 'ignoreValue'>;

export const BOUNDS = ['minModRevision', 'maxModRevision', 'minCreateRevision', 'maxCreateRevision'] as const;
/** Bounds on revisions, as places in steps and as numbers in calls. */
export type Bounds<R> = { readonly [name in (typeof BOUNDS)[number]]?: R };

/** Which rows of a range. */
export interface Selection<R> {
  readonly limit: number | undefined;
  readonly keysOnly: boolean;
  readonly countOnly: boolean;
  readonly sortTarget: SortTarget | undefined;
  readonly sortOrder: SortOrder | undefined;
  readonly bounds: Bounds<R>;
}

export type CompareStep = { readonly range: KeyRange<Key>; readonly result: CompareResult } & (
  | { readonly target: 'value'; readonly value: unknown }
  | { readonly target: 'lease'; readonly value: LeaseName }
  | { readonly target: 'version'; readonly value: number }
  | { readonly target: 'create' | 'mod'; readonly at: Place | 'absent' }
);

export interface TxnStep {
  readonly compare: readonly CompareStep[];
  readonly then: readonly OperationStep[];
  readonly else: readonly OperationStep[];
}

export type OperationStep =
  | ({ readonly type: 'put'; readonly key: Key; readonly value: unknown; readonly prevKv: boolean } & Attachment)
  | { readonly type: 'delete'; readonly range: KeyRange<Key>; readonly prevKv: boolean }
  | ({ readonly type: 'range'; readonly range: KeyRange<Key>; readonly at: At } & Selection<Place>)
  | ({ readonly type: 'txn' } & TxnStep);

/** The program as numbered lines, for a person who has to find out why it fails. */
export function printProgram(program: Program): string {
  const lines = program.steps.map(({ op, ...rest }, index) => `${String(index + 1).padStart(4)}. ${op} ${show(rest)}`);
  return [`      settings ${show(program.settings)}`, ...lines].join('\n');
}

/** Any plain data on one line, without what is not there. */
export function show(data: unknown): string {
  const options = { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 16, maxArrayLength: 12 };
  return inspect(withoutAbsent(data), options);
}

function withoutAbsent(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withoutAbsent);
  if (typeof data !== 'object' || data === null || data instanceof Uint8Array) return data;
  const members = Object.entries(data).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutAbsent(member)]));
}
