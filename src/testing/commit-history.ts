import { byteRangeHas, compareBytes } from '../core/key-order.ts';
import type {
  Backend,
  BackendCallOptions,
  BackendEvent,
  BackendKeyValue,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  BackendWatchItem,
  BackendWatchRequest,
  BackendWatchStream,
} from '../types/backend.ts';
import { CompactedError, FutureRevisionError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { type HistoryState, HistoryTxn, stateAfter } from './commit-history-txn.ts';
import { checkKitOptions } from './kit-options.ts';

export interface CommitHistoryOptions {
  /** `''` for a backend that cannot name its data. @default 'history' */
  readonly identity?: string;
  /** Revision before the first commit. @default 1 */
  readonly revision?: Revision;
  /**
   * Breaks B3: commits are sent, answered and counted as soon as they are visible, also while a smaller number is still
   * held back. @default false
   */
  readonly unordered?: boolean;
}

/** One key to write (with `value`) or to delete (without). Text is UTF-8. */
export interface HistoryChange {
  readonly key: string;
  readonly value?: string;
  readonly lease?: string;
}

/** A commit that has its number, and is not visible yet. */
export interface HeldCommit {
  readonly revision: Revision;
  release(): void;
}

/**
 * A backend whose history is fed by hand: the naive full history that property tests compare with, and, by `hold`, one
 * where numbers are handed out before commits become visible.
 *
 * ```text
 *   commit a  hold b  commit c          revision 2 (b holds c back)      release b: revision 4
 *     2         3       4
 * ```
 */
export interface CommitHistory extends Backend {
  readonly identity: string;
  /** The newest revision below which nothing is held back. */
  readonly revision: Revision;
  /** 0 before the first compaction. */
  readonly compactRevision: Revision;
  commit(changes: readonly HistoryChange[]): Revision;
  hold(changes: readonly HistoryChange[]): HeldCommit;
  /** Burns numbers, as failed writes elsewhere do. */
  skip(count: number): void;
  /** What every key was at a revision, compacted or not, in key order. Held commits are not in it. */
  stateAt(revision: Revision): readonly BackendKeyValue[];
  /** The events of each visible commit of a span of revisions, ends included. */
  eventsOf(
    from: Revision,
    to: Revision,
  ): readonly { readonly revision: Revision; readonly events: readonly BackendEvent[] }[];
}

/**
 * Makes a {@link CommitHistory}.
 *
 * @throws TypeError for an unknown option
 * @example
 * ```ts
 * import { createCommitHistory } from 'plimsoll/testing';
 *
 * const history = createCommitHistory();
 * history.commit([{ key: 'a', value: '1' }]); // 2
 * const held = history.hold([{ key: 'b', value: '1' }]); // 3, unseen
 * held.release();
 * ```
 */
export function createCommitHistory(options: CommitHistoryOptions = {}): CommitHistory {
  checkKitOptions(options, ['identity', 'revision', 'unordered'], 'make a commit history');
  return new History(options);
}

interface Commit {
  readonly revision: Revision;
  readonly events: readonly BackendEvent[];
  /** Live keys behind it, by key text. */
  readonly state: HistoryState;
  isHeld: boolean;
  isSent: boolean;
}

class History implements CommitHistory {
  readonly capabilities = { progress: true, writable: true } as const;
  readonly identity: string;
  readonly #isUnordered: boolean;
  /** Each with a whole state of its own. Not bounded, compaction included: for tests. */
  readonly #commits: Commit[] = [];
  /** Visible commits in the order in which they became so; what streams read. Not bounded either. */
  readonly #sent: Commit[] = [];
  readonly #encoder = new TextEncoder();
  #last: Revision;
  #sentMax: Revision;
  #compacted = 0;
  #waiting: (() => void)[] = [];

  constructor(options: CommitHistoryOptions) {
    this.identity = options.identity ?? 'history';
    this.#isUnordered = options.unordered ?? false;
    this.#last = options.revision ?? 1;
    this.#sentMax = this.#last;
  }

  get revision(): Revision {
    if (this.#isUnordered) return this.#sentMax;
    const held = this.#commits[this.#sent.length];
    return held === undefined ? this.#last : held.revision - 1;
  }

  get compactRevision(): Revision {
    return this.#compacted;
  }

  commit(changes: readonly HistoryChange[]): Revision {
    return this.#add(this.#eventsFor(changes), false).revision;
  }

  hold(changes: readonly HistoryChange[]): HeldCommit {
    const commit = this.#add(this.#eventsFor(changes), true);
    const release = () => {
      commit.isHeld = false;
      this.#publish();
    };
    return { revision: commit.revision, release };
  }

  skip(count: number): void {
    this.#last += count;
    this.#publish();
  }

  stateAt(revision: Revision): readonly BackendKeyValue[] {
    const state = this.#commits.findLast((commit) => commit.revision <= revision && !commit.isHeld)?.state;
    return [...(state?.values() ?? [])].sort((a, b) => compareBytes(a.key, b.key));
  }

  eventsOf(from: Revision, to: Revision): readonly { revision: Revision; events: readonly BackendEvent[] }[] {
    return this.#commits.filter(({ revision, isHeld }) => !isHeld && revision >= from && revision <= to);
  }

  async range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    request.signal?.throwIfAborted();
    const revision = request.revision ?? this.revision;
    this.#checkReadable(revision, 'list');
    const rows = this.stateAt(revision).filter(({ key }) => request.ranges.some((range) => byteRangeHas(range, key)));
    const kvs = rows.filter(({ modRevision }) => modRevision >= (request.minModRevision ?? 0));
    const limit = request.limit ?? 0;
    const page = request.countOnly === true ? [] : limit > 0 ? kvs.slice(0, limit) : kvs;
    const told = request.keysOnly === true ? page.map(withoutValue) : page.map(copyOf);
    return { identity: this.identity, revision, count: rows.length, kvs: told };
  }

  async status(request: BackendCallOptions): Promise<BackendPosition> {
    request.signal?.throwIfAborted();
    return { identity: this.identity, revision: this.revision };
  }

  watch(request: BackendWatchRequest): BackendWatchStream {
    let wantsProgress = false;
    const isWanted = () => wantsProgress;
    const want = (wants: boolean) => {
      wantsProgress = wants;
      if (wants) this.#wake();
    };
    return {
      requestProgress: () => want(true),
      [Symbol.asyncIterator]: () => this.#items(request, isWanted, () => want(false)),
    };
  }

  async txn(request: BackendTxnRequest): Promise<BackendTxnResponse> {
    request.signal?.throwIfAborted();
    const txn = new HistoryTxn(this.#newest(), this.#last + 1, (revision) => {
      this.#checkReadable(revision, 'run a transaction');
      return this.stateAt(revision);
    });
    const { succeeded, responses } = txn.run(request);
    const { events } = txn;
    // A failed compare and a no-op were judged on the newest state, the held part included.
    const revision = events.length === 0 ? this.#last : this.#add(events, false).revision;
    // Acknowledged only when nothing at or below it can still commit (B3).
    while (!this.#isUnordered && this.revision < revision) await this.#changed(request.signal);
    return { identity: this.identity, revision, succeeded, responses };
  }

  async compact({ revision, signal }: { readonly revision: Revision } & BackendCallOptions): Promise<void> {
    signal?.throwIfAborted();
    if (revision <= this.#compacted && this.#compacted > 0) throw this.#compactedError('compact');
    if (revision > this.revision) {
      throw new FutureRevisionError('compact', { revision, currentRevision: this.revision });
    }
    this.#compacted = revision;
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async *#items(
    request: BackendWatchRequest,
    wantsProgress: () => boolean,
    answered: () => void,
  ): AsyncGenerator<BackendWatchItem, void, undefined> {
    const { signal, fromRevision, ranges } = request;
    yield { type: 'open', identity: this.identity, revision: this.revision };
    if (fromRevision < this.#compacted) throw this.#compactedError('watch');
    for (let index = 0; ; ) {
      signal?.throwIfAborted();
      const commit = this.#sent[index];
      if (commit === undefined) {
        if (wantsProgress()) {
          answered();
          yield { type: 'progress', revision: this.revision };
        } else await this.#changed(signal);
        continue;
      }
      index++;
      if (commit.revision < fromRevision) continue;
      if (commit.revision < this.#compacted) throw this.#compactedError('watch');
      const events = commit.events.filter((event) => ranges.some((range) => byteRangeHas(range, keyOf(event))));
      if (events.length > 0) yield { type: 'change', revision: commit.revision, events };
    }
  }

  #eventsFor(changes: readonly HistoryChange[]): readonly BackendEvent[] {
    const txn = new HistoryTxn(this.#newest(), this.#last + 1, () => []);
    for (const { key, value, lease } of changes) {
      const bytes = this.#encoder.encode(key);
      if (value === undefined) txn.operate({ type: 'delete', range: { start: bytes } });
      else txn.operate({ type: 'put', key: bytes, value: this.#encoder.encode(value), lease: lease ?? '0' });
    }
    return txn.events;
  }

  /** With what is held back: its content is fixed, only nobody can see it. */
  #newest(): HistoryState {
    return this.#commits[this.#commits.length - 1]?.state ?? new Map();
  }

  #add(events: readonly BackendEvent[], isHeld: boolean): Commit {
    const state = stateAfter(this.#newest(), events);
    const commit: Commit = { revision: ++this.#last, events, state, isHeld, isSent: false };
    this.#commits.push(commit);
    this.#publish();
    return commit;
  }

  #publish(): void {
    // In order, what was sent is the beginning of all commits.
    const unsent = this.#isUnordered
      ? this.#commits.filter((commit) => !commit.isSent)
      : this.#commits.slice(this.#sent.length);
    for (const commit of unsent) {
      if (commit.isHeld && !this.#isUnordered) break;
      if (commit.isHeld) continue;
      commit.isSent = true;
      this.#sent.push(commit);
      this.#sentMax = Math.max(this.#sentMax, commit.revision);
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }

  #checkReadable(revision: Revision, action: string): void {
    if (revision > this.revision) {
      throw new FutureRevisionError(action, { revision, currentRevision: this.revision });
    }
    if (revision < this.#compacted) throw this.#compactedError(action);
  }

  #compactedError(action: string): CompactedError {
    return new CompactedError(action, { minRevision: this.#compacted, compactRevision: this.#compacted });
  }
}

function copyOf(row: BackendKeyValue): BackendKeyValue {
  return { ...row, key: row.key.slice(), value: row.value.slice() };
}

function withoutValue(row: BackendKeyValue): BackendKeyValue {
  return { ...row, key: row.key.slice(), value: new Uint8Array(0) };
}

function keyOf(event: BackendEvent): Uint8Array {
  return event.type === 'put' ? event.kv.key : event.key;
}
