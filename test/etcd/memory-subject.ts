import { openStore } from '../../src/open-store.ts';
import { jsonCodec } from '../../src/store/codecs.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import {
  CompactedError,
  ConflictError,
  DuplicateKeyError,
  FutureRevisionError,
  InvalidKeyError,
  LimitExceededError,
} from '../../src/types/errors.ts';
import type { WatchBatch } from '../../src/types/event.ts';
import type { Key, KeyValue } from '../../src/types/revision.ts';
import type { Compare, Operation, OperationResult, Store, Watch, WatchOptions } from '../../src/types/store.ts';
import { encodeValue } from './encode-value.ts';
import type { OperationStep, RangeOptions, Settings } from './program.ts';
import {
  type Answer,
  type Batch,
  type Call,
  keyBytes,
  type RangeCall,
  type Row,
  type Subject,
  type SubjectWatch,
  showBytes,
  type WatchCall,
} from './subject.ts';

type AnyStore = Store<unknown, Key>;

/** The embedded store, with time that moves only when it is told to. */
export class MemorySubject implements Subject {
  #store: AnyStore | undefined;
  #clock: VirtualClock = createVirtualClock();
  #settings: Settings | undefined;
  /** Tokens of the next pages, by the id of the range. */
  #pages = new Map<number, string>();

  async begin(settings: Settings): Promise<void> {
    this.#settings = settings;
    this.#clock = createVirtualClock();
    this.#pages = new Map();
    this.#store = await openStore<unknown, Key>({
      clock: this.#clock,
      random: createSeededRandom(1),
      keys: settings.keys,
      ...(settings.values === 'json' ? { codec: jsonCodec() } : {}),
    });
  }

  async perform(call: Call): Promise<Answer> {
    const store = this.#open();
    try {
      return await this.#answer(store, call);
    } catch (error) {
      return errorAnswer(error);
    } finally {
      if (this.#settings?.physical === true) while (await this.#clock.advanceToNext());
      else await this.#clock.settle();
    }
  }

  async watch(call: WatchCall): Promise<SubjectWatch | Answer> {
    const options: WatchOptions = {
      prevKv: call.prevKv,
      ...(call.filter === undefined ? {} : { filter: call.filter }),
      ...(call.start === 'initial' ? { initial: true } : {}),
      ...(typeof call.start === 'number' ? { fromRevision: call.start } : {}),
    };
    try {
      const watch = this.#open().watch(call.range, options);
      return new MemoryWatch(watch, this.#clock, call.lazy, (kv) => this.#row(kv, false));
    } catch (error) {
      return errorAnswer(error);
    }
  }

  async end(): Promise<void> {
    await this.#store?.close();
    this.#store = undefined;
  }

  async #answer(store: AnyStore, call: Call): Promise<Answer> {
    const expect = 'expect' in call && call.expect !== undefined ? { expect: { modRevision: call.expect } } : {};
    switch (call.op) {
      case 'put': {
        const { revision, prevKv } = await store.put(call.key, call.value, { prevKv: call.prevKv, ...expect });
        return { revision, prevKv: this.#optionalRow(prevKv) };
      }
      case 'delete': {
        const target = 'key' in call.range ? call.range.key : call.range;
        const { revision, deleted, prevKvs } = await store.delete(target, { prevKv: call.prevKv, ...expect });
        return { revision, deleted, prevKvs: (prevKvs ?? []).map((kv) => this.#row(kv, false)) };
      }
      case 'txn': {
        const { revision, succeeded, responses } = await store.txn({
          compare: call.compare as readonly Compare<unknown, Key>[],
          then: call.then.map(operation),
          else: call.else.map(operation),
        });
        const branch = succeeded ? call.then : call.else;
        return { revision, succeeded, responses: responses.map((one, index) => this.#response(one, branch[index])) };
      }
      case 'get': {
        const kv = store.get(call.key, at(call.revision));
        return { revision: store.revision, kv: this.#optionalRow(kv) };
      }
      case 'range':
        return this.#range(store, call, at(call.revision));
      case 'page':
        return this.#range(store, call.of, { continue: this.#pages.get(call.of.id) ?? 'none' });
      case 'compact': {
        const { requested, compactRevision } = await store.compact(call.revision);
        return { revision: store.revision, requested, compactRevision };
      }
    }
  }

  #range(store: AnyStore, call: RangeCall, place: { revision?: number; continue?: string }): Answer {
    const result = store.range({ ...call.range, ...rangeOptions(call), ...place });
    if (result.continue !== undefined) this.#pages.set(call.id, result.continue);
    else this.#pages.delete(call.id);
    const kvs = result.kvs.map((kv) => this.#row(kv, call.keysOnly));
    return { revision: result.revision, kvs, count: result.count, more: result.more };
  }

  #response(result: OperationResult<unknown, Key>, step: OperationStep | undefined): Answer {
    switch (result.type) {
      case 'put':
        return { type: 'put', prevKv: this.#optionalRow(result.prevKv) };
      case 'delete': {
        const prevKvs = (result.prevKvs ?? []).map((kv) => this.#row(kv, false));
        return { type: 'delete', deleted: result.deleted, prevKvs };
      }
      case 'range': {
        const keysOnly = step?.type === 'range' && step.keysOnly;
        const kvs = result.kvs.map((kv) => this.#row(kv, keysOnly));
        return { type: 'range', kvs, count: result.count, more: result.more };
      }
    }
  }

  #optionalRow(kv: KeyValue<unknown, Key> | undefined): Row | null {
    return kv === undefined ? null : this.#row(kv, false);
  }

  #row(kv: KeyValue<unknown, Key>, keysOnly: boolean): Row {
    const isAbsent = keysOnly && kv.value === undefined;
    const value = isAbsent ? null : showBytes(encodeValue(kv.value, this.#settings?.values ?? 'plain'));
    const { createRevision: create, modRevision: mod, version, lease } = kv;
    return { key: showBytes(keyBytes(kv.key)), value, create, mod, version, lease };
  }

  #open(): AnyStore {
    if (this.#store === undefined) throw new TypeError('Cannot use the store: no program has begun');
    return this.#store;
  }
}

class MemoryWatch implements SubjectWatch {
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

function operation(step: OperationStep): Operation<unknown, Key> {
  switch (step.type) {
    case 'put':
      return step;
    case 'delete':
      return { type: 'delete', ...step.range, prevKv: step.prevKv };
    case 'range':
      return { type: 'range', ...step.range, ...rangeOptions(step) };
  }
}

function rangeOptions({ limit, keysOnly, countOnly }: RangeOptions) {
  return { ...(limit === undefined ? {} : { limit }), keysOnly, countOnly };
}

function at(revision: number | undefined) {
  return revision === undefined ? {} : { revision };
}

/** The class of an error in the words of the spec. Any other one is shown as it is, and so differs from all of etcd's. */
function errorAnswer(error: unknown): Answer {
  if (error instanceof CompactedError) return { error: 'compacted', compactRevision: error.compactRevision };
  if (error instanceof FutureRevisionError) return { error: 'future revision' };
  if (error instanceof DuplicateKeyError) return { error: 'duplicate key' };
  if (error instanceof InvalidKeyError) return { error: 'empty key' };
  if (error instanceof ConflictError) return { error: 'conflict', actual: error.actualRevision };
  if (error instanceof LimitExceededError && error.limit === 'txnOperationsMax')
    return { error: 'too many operations' };
  if (error instanceof RangeError && error.message.includes('the range is empty')) return { error: 'empty range' };
  return { error: String(error), stack: error instanceof Error ? error.stack : undefined };
}
