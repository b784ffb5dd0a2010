import { byteRangeHas } from '../../core/key-order.ts';
import type { BackendEvent, BackendWatchItem, BackendWatchRequest, BackendWatchStream } from '../../types/backend.ts';
import { CompactedError, IdentityChangedError } from '../../types/errors.ts';
import type { Revision } from '../../types/revision.ts';
import type { Changes } from './changes.ts';
import type { SqliteFile } from './file.ts';
import type { SqliteState } from './tables.ts';

const ACTION = 'watch an SQLite backend';

/** Events that are read at once, and held until they are pulled. History itself is the queue (B10). */
const EVENTS_MAX = 200;

/** A cursor into the history of a file: reads on when it is pulled, and waits when it has read everything. */
export class SqliteStream implements BackendWatchStream {
  readonly #file: SqliteFile;
  readonly #changes: Changes;
  readonly #request: BackendWatchRequest;
  #wantsProgress = false;
  #wake: () => void = () => {};

  constructor(file: SqliteFile, changes: Changes, request: BackendWatchRequest) {
    this.#file = file;
    this.#changes = changes;
    this.#request = request;
  }

  requestProgress(): void {
    this.#wantsProgress = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<BackendWatchItem, void, undefined> {
    const { fromRevision, ranges, signal } = this.#request;
    const { identity, revision } = await this.#file.read(ACTION, signal, (state) => state);
    yield { type: 'open', identity, revision };
    for (let next = fromRevision; ; ) {
      // Before the look, so that nothing is missed between it and the wait.
      const { turn } = this.#changes;
      const wantsProgress = this.#wantsProgress;
      const { state, found } = await this.#file.read(ACTION, signal, (state) => ({
        state,
        found: this.#file.tables.history(next, EVENTS_MAX),
      }));
      checkPosition(state, identity, next);
      for (const item of itemsOf(found)) {
        next = item.revision + 1;
        const events = item.events.filter((event) => ranges.some((range) => byteRangeHas(range, keyOf(event))));
        if (events.length > 0) yield { type: 'change', revision: item.revision, events };
      }
      if (found.length >= EVENTS_MAX) continue;
      next = Math.max(next, state.revision + 1);
      if (wantsProgress) {
        this.#wantsProgress = false;
        yield { type: 'progress', revision: state.revision };
      }
      if (!this.#wantsProgress) await this.#changes.next(turn, (wake) => this.#wakeBy(wake), signal);
      signal?.throwIfAborted();
    }
  }

  #wakeBy(wake: () => void): void {
    this.#wake = wake;
  }
}

/** A start in the future has nothing to fear from compaction (B6). */
function checkPosition({ compacted, identity }: SqliteState, opened: string, next: Revision): void {
  if (identity !== opened) throw new IdentityChangedError(ACTION, 0);
  if (next < compacted) throw new CompactedError(ACTION, { minRevision: compacted, compactRevision: compacted });
}

function* itemsOf(
  found: readonly { readonly revision: Revision; readonly event: BackendEvent }[],
): Generator<{ readonly revision: Revision; readonly events: readonly BackendEvent[] }> {
  for (let index = 0; index < found.length; ) {
    const { revision } = found[index] as (typeof found)[number];
    const events: BackendEvent[] = [];
    for (; found[index]?.revision === revision; index++) events.push((found[index] as (typeof found)[number]).event);
    yield { revision, events };
  }
}

function keyOf(event: BackendEvent): Uint8Array {
  return event.type === 'put' ? event.kv.key : event.key;
}
