import { byteRangeHas, byteText, compareBytes } from '../core/key-order.ts';
import type {
  Backend,
  BackendCompare,
  BackendEvent,
  BackendKeyValue,
  BackendOperation,
  BackendOperationResponse,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  BackendWatchItem,
  BackendWatchRequest,
  BackendWatchStream,
} from '../types/backend.ts';
import { CompactedError, FutureRevisionError, UnsupportedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';

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
 *
 * ```ts
 * import { createCommitHistory } from 'plimsoll/testing';
 *
 * const history = createCommitHistory();
 * history.commit([{ key: 'a', value: '1' }]); // 2
 * const held = history.hold([{ key: 'b', value: '1' }]); // 3, unseen
 * held.release();
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

export function createCommitHistory(options: CommitHistoryOptions = {}): CommitHistory {
  return new History(options);
}

interface Commit {
  readonly revision: Revision;
  readonly events: readonly BackendEvent[];
  /** Live keys behind it, by key text. */
  readonly state: ReadonlyMap<string, BackendKeyValue>;
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
    if (revision > this.revision) {
      throw new FutureRevisionError('list', { revision, currentRevision: this.revision });
    }
    if (revision < this.#compacted) throw this.#compactedError('list');
    const rows = this.stateAt(revision).filter(({ key }) => request.ranges.some((range) => byteRangeHas(range, key)));
    const kvs = rows.filter(({ modRevision }) => modRevision >= (request.minModRevision ?? 0));
    const limit = request.limit ?? 0;
    const page = request.countOnly === true ? [] : limit > 0 ? kvs.slice(0, limit) : kvs;
    return { identity: this.identity, revision, count: rows.length, kvs: page };
  }

  async status(): Promise<BackendPosition> {
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
    const state = new Map(this.#newest());
    const succeeded = request.compare.every((compare) => {
      if (compare.key === undefined) throw new UnsupportedError('run a transaction', 'a compare over a range');
      return holds(compare, state.get(byteText(compare.key)));
    });
    const events: BackendEvent[] = [];
    const responses = (succeeded ? request.then : request.else).map((operation) =>
      run(operation, state, this.#last + 1, events),
    );
    // A failed compare and a no-op were judged on the newest state, the held part included.
    const revision = events.length === 0 ? this.#last : this.#add(events, false).revision;
    // Acknowledged only when nothing at or below it can still commit (B3).
    while (!this.#isUnordered && this.revision < revision) await this.#changed(request.signal);
    return { identity: this.identity, revision, succeeded, responses };
  }

  async compact({ revision }: { readonly revision: Revision }): Promise<void> {
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

  #eventsFor(changes: readonly HistoryChange[]): BackendEvent[] {
    const state = new Map(this.#newest());
    const events: BackendEvent[] = [];
    for (const { key, value, lease } of changes) {
      const bytes = this.#encoder.encode(key);
      if (value === undefined) run({ type: 'delete', range: { start: bytes } }, state, this.#last + 1, events);
      else {
        const put = { type: 'put', key: bytes, value: this.#encoder.encode(value), lease: lease ?? '0' } as const;
        run(put, state, this.#last + 1, events);
      }
    }
    return events;
  }

  /** With what is held back: its content is fixed, only nobody can see it. */
  #newest(): ReadonlyMap<string, BackendKeyValue> {
    return this.#commits[this.#commits.length - 1]?.state ?? new Map();
  }

  #add(events: readonly BackendEvent[], isHeld: boolean): Commit {
    const state = new Map(this.#newest());
    for (const event of events) {
      if (event.type === 'put') state.set(byteText(event.kv.key), event.kv);
      else state.delete(byteText(event.key));
    }
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

  #compactedError(action: string): CompactedError {
    return new CompactedError(action, { minRevision: this.#compacted, compactRevision: this.#compacted });
  }
}

/** Runs one operation on a state and notes the events. */
function run(
  operation: BackendOperation,
  state: Map<string, BackendKeyValue>,
  revision: Revision,
  events: BackendEvent[],
): BackendOperationResponse {
  if (operation.type === 'put') {
    const text = byteText(operation.key);
    const prevKv = state.get(text);
    const kv: BackendKeyValue = {
      key: operation.key.slice(),
      value: operation.value.slice(),
      createRevision: prevKv?.createRevision ?? revision,
      modRevision: revision,
      version: (prevKv?.version ?? 0) + 1,
      lease: operation.lease ?? '0',
    };
    state.set(text, kv);
    events.push({ type: 'put', kv });
    return prevKv === undefined ? { type: 'put' } : { type: 'put', prevKv };
  }
  if (operation.type === 'txn') throw new UnsupportedError('run a transaction', 'a nested transaction');
  const rows = [...state.values()].filter(({ key }) => byteRangeHas(operation.range, key));
  rows.sort((a, b) => compareBytes(a.key, b.key));
  if (operation.type === 'range') {
    const limit = operation.limit ?? 0;
    return { type: 'range', count: rows.length, kvs: limit > 0 ? rows.slice(0, limit) : rows };
  }
  for (const { key } of rows) {
    state.delete(byteText(key));
    events.push({ type: 'delete', key, modRevision: revision });
  }
  return { type: 'delete', deleted: rows.length, prevKvs: rows };
}

/** A missing key counts as 0; its value satisfies nothing (store:R17). */
function holds(compare: BackendCompare, kv: BackendKeyValue | undefined): boolean {
  const { target, value, result } = compare;
  if (target === 'value') {
    return kv !== undefined && value instanceof Uint8Array && outcome(compareBytes(kv.value, value), result);
  }
  const found = {
    create: kv?.createRevision,
    mod: kv?.modRevision,
    version: kv?.version,
    lease: Number(kv?.lease ?? 0),
  };
  return outcome((found[target] ?? 0) - Number(value), result);
}

function outcome(difference: number, result: BackendCompare['result']): boolean {
  if (result === '=') return difference === 0;
  if (result === '!=') return difference !== 0;
  return result === '<' ? difference < 0 : difference > 0;
}

function keyOf(event: BackendEvent): Uint8Array {
  return event.type === 'put' ? event.kv.key : event.key;
}
