import type { Revision } from '../../types/revision.ts';
import type { StreamEvent } from './stream-event.ts';

/** An object as it truly is at some point of the stream. */
export interface TrueObject {
  readonly uid: string;
  readonly revision: Revision;
  readonly object: Readonly<Record<string, unknown>>;
}

/** A change that every watcher of everything has to see. */
export interface TrueChange {
  readonly revision: Revision;
  readonly type: 'put' | 'delete';
  readonly key: string;
}

/**
 * What the stream says, folded in the plainest way there is. It shares no code with the backend, the replica and the
 * store, whose outcome it is there to judge.
 *
 * The changes are kept until the replaying watcher has seen them (`shift`), so their number is bounded by how far the
 * feed lets that watcher fall behind.
 */
export class TrueState {
  readonly objects = new Map<string, TrueObject>();
  readonly counts = { events: 0, listed: 0, changes: 0, bookmarks: 0, ignoredDeletes: 0 };
  /** Newest revision of any event. */
  revision: Revision = 0;
  readonly #pending: TrueChange[] = [];
  #head = 0;

  /** Changes that `shift` has yet to hand out. */
  get pending(): number {
    return this.#pending.length - this.#head;
  }

  /** An event of the first list. */
  list(event: StreamEvent): void {
    this.counts.events++;
    this.counts.listed++;
    this.revision = Math.max(this.revision, event.revision);
    if (event.type === 'BOOKMARK') return;
    const { key, uid, revision, object } = event;
    if ((this.objects.get(key)?.revision ?? 0) < revision) this.objects.set(key, { uid, revision, object });
  }

  /** An event behind the first list. */
  apply(event: StreamEvent): void {
    this.counts.events++;
    this.revision = event.revision;
    if (event.type === 'BOOKMARK') {
      this.counts.bookmarks++;
      return;
    }
    const { key, uid, revision, object } = event;
    if (event.type === 'DELETED') {
      if (this.objects.delete(key)) this.#push({ revision, type: 'delete', key });
      else this.counts.ignoredDeletes++;
      return;
    }
    this.objects.set(key, { uid, revision, object });
    this.#push({ revision, type: 'put', key });
  }

  /** How many of them are at or below the revision. */
  pendingUpTo(revision: Revision): number {
    let low = this.#head;
    let high = this.#pending.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#pending[middle]?.revision ?? Number.POSITIVE_INFINITY) <= revision) low = middle + 1;
      else high = middle;
    }
    return low - this.#head;
  }

  /** The oldest change that was not handed out yet, without taking it. */
  peek(): TrueChange | undefined {
    return this.#pending[this.#head];
  }

  /** Takes the oldest change. */
  shift(): TrueChange | undefined {
    const change = this.#pending[this.#head];
    if (change === undefined) return undefined;
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#pending.length) {
      this.#pending.splice(0, this.#head);
      this.#head = 0;
    }
    return change;
  }

  #push(change: TrueChange): void {
    this.counts.changes++;
    this.#pending.push(change);
  }
}
