import type { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { WatchBatch } from '../../src/types/event.ts';
import type { Key, KeyValue } from '../../src/types/revision.ts';
import type { Watch } from '../../src/types/watch.ts';
import { errorAnswer } from './memory-errors.ts';
import { type Answer, type Batch, keyBytes, type Row, type SubjectWatch, showBytes } from './subject.ts';

/** A watch of the embedded store, read all the time or only when its events are asked for. */
export class MemoryWatch implements SubjectWatch {
  readonly batches: Batch[] = [];
  ended: Answer | undefined;
  readonly #watch: Watch<unknown, Key>;
  readonly #clock: VirtualClock;
  readonly #row: (kv: KeyValue<unknown, Key>) => Row;
  #reading: Promise<void> | undefined;

  constructor(
    watch: Watch<unknown, Key>,
    clock: VirtualClock,
    isLazy: boolean,
    row: (kv: KeyValue<unknown, Key>) => Row,
  ) {
    this.#watch = watch;
    this.#clock = clock;
    this.#row = row;
    if (!isLazy) this.#reading = this.#read();
  }

  /** Reads all there is: the embedded store keeps no event back. */
  async reached(): Promise<boolean> {
    this.#reading ??= this.#read();
    await this.#clock.settle();
    return true;
  }

  async close(): Promise<void> {
    await this.#watch.return();
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      for await (const batch of this.#watch) this.batches.push(this.#batch(batch));
    } catch (error) {
      this.ended = errorAnswer(error);
    }
  }

  #batch(batch: WatchBatch<unknown, Key>): Batch {
    const events = batch.events.map((event) => {
      const prev = event.prevKv === undefined ? null : this.#row(event.prevKv);
      if (event.type === 'put') return { type: event.type, row: this.#row(event.kv), prev };
      return { type: event.type, key: showBytes(keyBytes(event.kv.key)), mod: event.kv.modRevision, prev };
    });
    if (batch.span === true) throw new TypeError('Cannot compare a span: no watch here asks for one');
    return { revision: batch.revision, initial: batch.initial === true, events };
  }
}
