import type { Limits } from '../../src/types/limits.ts';
import type { RangeSelection } from '../../src/types/requests.ts';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { WatchOptions } from '../../src/types/watch.ts';

/**
 * A step of a random program: plain data, so that a failing program can be printed, cut down and run again. Numbers that
 * depend on the run are given relative to it: `back` counts from the newest revision (`undefined`: none given; below 0: the
 * future), `pick` is an index into what there is at that moment.
 */
export type Step =
  | ({ readonly op: 'put'; readonly key: Key; readonly expect: Expect; readonly prevKv: boolean } & PutSketch)
  | { readonly op: 'putAll'; readonly entries: readonly ({ readonly key: Key } & PutSketch)[] }
  | { readonly op: 'delete'; readonly range: Key | KeyRange<Key>; readonly expect: Expect; readonly prevKv: boolean }
  | { readonly op: 'txn'; readonly request: TxnSketch }
  | { readonly op: 'get'; readonly key: Key; readonly back: number | undefined }
  | { readonly op: 'range'; readonly request: RangeSketch; readonly back: number | undefined }
  | {
      readonly op: 'page';
      readonly pick: number;
      readonly back: number | undefined;
      /** Asked for instead of the range of the page before. */
      readonly other: RangeSketch | undefined;
    }
  | {
      readonly op: 'watch';
      readonly range: KeyRange<Key>;
      readonly options: WatchSketch;
      readonly back: number | undefined;
    }
  | { readonly op: 'read' | 'return' | 'abort' | 'progress'; readonly pick: number; readonly all?: true }
  | { readonly op: 'compact'; readonly back: number }
  | { readonly op: 'pin'; readonly back: number; readonly ttlMs: number | undefined }
  | { readonly op: 'release'; readonly pick: number }
  | { readonly op: 'grant'; readonly ttlMs: number; readonly id: string | undefined }
  | { readonly op: 'revoke' | 'keepAlive'; readonly lease: LeasePick; readonly byHandle: boolean }
  | { readonly op: 'timeToLive'; readonly lease: LeasePick; readonly byHandle: boolean; readonly keys: boolean }
  | { readonly op: 'leases' }
  | { readonly op: 'snapshot' }
  | { readonly op: 'stats' }
  | { readonly op: 'tick' }
  | { readonly op: 'advance'; readonly ms: number }
  | { readonly op: 'wrong'; readonly what: number };

/** What a write expects of the key's mod revision; worked out when the step runs. */
export type Expect = 'nothing' | 'absent' | 'current' | 'other';

/** An index into the leases that were ever granted, or an id. */
export type LeasePick = number | string;

export interface PutSketch {
  readonly value?: unknown;
  readonly lease?: LeasePick;
  readonly ttlMs?: number;
  readonly ignoreLease?: true;
  readonly ignoreValue?: true;
}

export type RangeSketch = KeyRange<Key> & BoundSketch & Omit<RangeSelection, `${'min' | 'max'}${string}`>;

/** Bounds on revisions, counted back from the newest one. */
export interface BoundSketch {
  readonly minModBack?: number;
  readonly maxModBack?: number;
  readonly minCreateBack?: number;
  readonly maxCreateBack?: number;
}

export type WatchSketch = Pick<WatchOptions, 'initial' | 'prevKv' | 'filter' | 'onSlow' | 'lagEventsMax'>;

export type CompareSketch = KeyRange<Key> & {
  readonly target: string;
  readonly result: string;
  readonly value?: unknown;
  readonly back?: number;
  readonly lease?: LeasePick;
};

export type OperationSketch =
  | ({ readonly type: 'put'; readonly key: Key; readonly prevKv?: true } & PutSketch)
  | ({ readonly type: 'delete'; readonly prevKv?: true } & KeyRange<Key>)
  | ({ readonly type: 'range'; readonly back?: number } & RangeSketch)
  | ({ readonly type: 'txn' } & TxnSketch);

export interface TxnSketch {
  readonly compare: readonly CompareSketch[];
  readonly then: readonly OperationSketch[];
  readonly else: readonly OperationSketch[];
}

export interface Settings {
  readonly keys: 'utf8' | 'bytes';
  readonly values: 'plain' | 'json' | 'trusted';
  readonly retentionEvents: number | undefined;
  /** Log entries that a slice of physical compaction does at most. */
  readonly sliceEntries: number;
  /** `late`: time passes without any timer running, so that what is due is found by the next call alone (M31). */
  readonly timers: 'prompt' | 'late';
  readonly limits: Limits | undefined;
}

export interface Program {
  readonly settings: Settings;
  readonly steps: readonly Step[];
}
