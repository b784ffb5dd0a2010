import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { CompareResult } from '../../src/types/txn.ts';
import type { WatchFilter } from '../../src/types/watch.ts';
import type { Attachment, EntryStep, LeaseName, Selection, Settings } from './program.ts';

/**
 * The adapter: the two stores behind one face, so that the same calls get answers that can be compared field by field.
 *
 * ```text
 *   step --(runner: relative to absolute)--> call --+--> memory-subject --> answer --+
 *                                                   |                                +--> deep equal?
 *                                                   +--> etcd-subject   --> answer --+
 * ```
 *
 * Revisions in calls and answers count from 1, the revision at which the program found its empty store. Keys and values
 * in answers are text: printable ASCII as it is, other bytes and the backslash as `\xNN`. Leases in calls and answers have
 * the program's names, since each store makes its own ids.
 */
export interface Subject {
  /** An empty store at revision 1. */
  begin(settings: Settings): Promise<void>;
  perform(call: Call): Promise<Answer>;
  /** The watch, or the answer if it is refused at once. */
  watch(call: WatchCall): Promise<SubjectWatch | Answer>;
  /**
   * Lets time go on by `ms`.
   *
   * @param due the leases that have expired then, in the order of their deadlines
   */
  sleep(ms: number, due: readonly LeaseName[]): Promise<void>;
  /** Ends what is open. */
  end(): Promise<void>;
}

export type Call =
  | ({
      readonly op: 'put';
      readonly key: Key;
      readonly value: unknown;
      readonly prevKv: boolean;
      readonly expect?: number;
    } & Attachment)
  | { readonly op: 'putAll'; readonly entries: readonly EntryStep[] }
  | { readonly op: 'delete'; readonly range: KeyRange<Key>; readonly prevKv: boolean; readonly expect?: number }
  | ({ readonly op: 'txn' } & TxnCall)
  | { readonly op: 'get'; readonly key: Key; readonly revision: number | undefined }
  | RangeCall
  /** The rest of an earlier range behind its last row, at its revision. Each store remembers in its own way where that is. */
  | { readonly op: 'page'; readonly of: RangeCall }
  | { readonly op: 'compact'; readonly revision: number }
  | LeaseCall;

export type LeaseCall =
  | { readonly op: 'grant'; readonly lease: LeaseName; readonly ttlMs: number }
  | { readonly op: 'revoke' | 'keepAlive'; readonly lease: LeaseName }
  | { readonly op: 'timeToLive'; readonly lease: LeaseName; readonly withKeys: boolean }
  | { readonly op: 'leases' };

export interface RangeCall extends Selection<number> {
  readonly op: 'range';
  readonly id: number;
  readonly range: KeyRange<Key>;
  readonly revision: number | undefined;
}

export interface TxnCall {
  readonly compare: readonly CompareCall[];
  readonly then: readonly OperationCall[];
  readonly else: readonly OperationCall[];
}

export interface CompareCall {
  readonly range: KeyRange<Key>;
  readonly target: 'value' | 'create' | 'mod' | 'version' | 'lease';
  readonly result: CompareResult;
  readonly value: unknown;
}

export type OperationCall =
  | ({ readonly type: 'put'; readonly key: Key; readonly value: unknown; readonly prevKv: boolean } & Attachment)
  | { readonly type: 'delete'; readonly range: KeyRange<Key>; readonly prevKv: boolean }
  | ({
      readonly type: 'range';
      readonly range: KeyRange<Key>;
      readonly revision: number | undefined;
    } & Selection<number>)
  | ({ readonly type: 'txn' } & TxnCall);

export interface WatchCall {
  readonly range: KeyRange<Key>;
  readonly start: number | 'initial' | undefined;
  readonly prevKv: boolean;
  readonly filter: WatchFilter | undefined;
  readonly lazy: boolean;
}

/** Plain data; `error` names the class of an error. */
export type Answer = Readonly<Record<string, unknown>>;

export interface Row {
  readonly key: string;
  /** `null` where it was not asked for. */
  readonly value: string | null;
  readonly create: number;
  readonly mod: number;
  readonly version: number;
  readonly lease: string;
}

export interface Batch {
  readonly revision: number;
  readonly initial: boolean;
  readonly events: readonly BatchEvent[];
}

export type BatchEvent =
  | { readonly type: 'put'; readonly row: Row; readonly prev: Row | null }
  | { readonly type: 'delete'; readonly key: string; readonly mod: number; readonly prev: Row | null };

/** A watch under way. */
export interface SubjectWatch {
  /** What was delivered so far, one batch a revision. */
  readonly batches: readonly Batch[];
  /** How it ended, if it did. */
  readonly ended: Answer | undefined;
  /** Resolves when a batch at or above this revision is there, or the watch ended; `false` if that takes too long. */
  reached(revision: number): Promise<boolean>;
  close(): Promise<void>;
}

export function isWatch(opened: SubjectWatch | Answer): opened is SubjectWatch {
  return 'batches' in opened;
}

/** Bytes as text that tells any two apart. */
export function showBytes(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}

const encoder = new TextEncoder();

export function keyBytes(key: Key): Uint8Array {
  return typeof key === 'string' ? encoder.encode(key) : key;
}
