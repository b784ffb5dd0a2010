import type { WatchFilter } from '../../src/types/watch.ts';
import type { Gateway, WatchResponse } from './gateway.ts';
import type { Answer, Batch, BatchEvent, SubjectWatch } from './subject.ts';
import { readRow, type Words } from './wire.ts';

/** An event of etcd is there within milliseconds, one of the past within the 100 ms of its catch-up loop. */
const EVENT_MS_MAX = 8_000;
/** How a watch ended that nobody ended. */
export const STREAM_BROKE = 'the stream of etcd broke';
const FILTERS = { noput: 'NOPUT', nodelete: 'NODELETE' } as const;

/** One watch on etcd, read all the time; its responses are taken apart into one batch a revision (store:R30). */
export class EtcdWatch implements SubjectWatch {
  readonly batches: Batch[] = [];
  ended: Answer | undefined;
  readonly #gateway: Gateway;
  readonly #words: Pick<Words, 'base' | 'leases'>;
  readonly #filter: WatchFilter | undefined;
  readonly #abort = new AbortController();
  #reading: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(gateway: Gateway, words: Pick<Words, 'base' | 'leases'>, filter: WatchFilter | undefined) {
    this.#gateway = gateway;
    this.#words = words;
    this.#filter = filter;
  }

  /** Resolves when etcd has made the watch, so that nothing written from now on is missed; or with why it did not. */
  async open(request: object): Promise<Answer | undefined> {
    const filters = this.#filter === undefined ? [] : [FILTERS[this.#filter]];
    const create = { create_request: { ...request, filters } };
    const stream = this.#gateway.stream<WatchResponse>('watch', create, this.#abort.signal);
    const first = await stream.next();
    if (first.done === true) throw new TypeError('Cannot watch on etcd: the stream ended before its first message');
    if (first.value.canceled === true) {
      await this.close();
      const reason = first.value.cancel_reason ?? '';
      return { error: reason.includes('watcher range is empty') ? 'empty range' : reason };
    }
    this.#reading = this.#read(stream);
    return undefined;
  }

  async reached(revision: number): Promise<boolean> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake?.();
    }, EVENT_MS_MAX);
    try {
      for (;;) {
        if (this.ended !== undefined || (this.batches.at(-1)?.revision ?? 0) >= revision) return true;
        if (isLate) return false;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }

  async #read(stream: AsyncIterable<WatchResponse>): Promise<void> {
    try {
      for await (const response of stream) {
        if (response.canceled === true) {
          const compactRevision = Number(response.compact_revision ?? 0) - this.#words.base;
          this.ended = { error: 'compacted', compactRevision };
        } else {
          this.#take(response);
        }
        this.#wake?.();
      }
      this.ended ??= { error: STREAM_BROKE };
    } catch (error) {
      if (!this.#abort.signal.aborted) this.ended ??= { error: `${STREAM_BROKE}: ${error}` };
    }
    this.#wake?.();
  }

  /** A revision comes in one response whole; one that is split shows as two batches, which the embedded store never has. */
  #take({ events = [] }: WatchResponse): void {
    let batch: BatchEvent[] = [];
    let last = 0;
    for (const { type, kv, prev_kv } of events) {
      const row = readRow(kv, this.#words);
      // That is the emptying before the program.
      if (row.mod <= 1) continue;
      if (row.mod !== last) {
        batch = [];
        this.batches.push({ revision: row.mod, initial: false, events: batch });
        last = row.mod;
      }
      const prev = prev_kv === undefined ? null : readRow(prev_kv, this.#words);
      batch.push(type === 'DELETE' ? { type: 'delete', key: row.key, mod: row.mod, prev } : { type: 'put', row, prev });
    }
  }
}
