import { openStore } from '../../src/open-store.ts';
import { jsonCodec } from '../../src/store/codecs.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { PutOptions } from '../../src/types/requests.ts';
import type { Key, KeyValue } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';
import type { Compare, Operation, OperationResult, TxnRequest } from '../../src/types/txn.ts';
import type { WatchOptions } from '../../src/types/watch.ts';
import { encodeValue } from './encode-value.ts';
import { timeAnswer } from './etcd-leases.ts';
import { isGenerated, LeaseNames } from './lease-names.ts';
import { errorAnswer } from './memory-errors.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { Attachment, Selection, Settings } from './program.ts';
import type { CompareCall, LeaseCall, OperationCall, TxnCall } from './subject.ts';
import {
  type Answer,
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
type AnyResult = OperationResult<unknown, Key>;

/** A decimal id, not 0. */
const LEASE_ID = /^[1-9]\d{0,18}$/;

/**
 * The embedded store, with time that moves only when it is told to. With `physical` timers run; without they never do,
 * and the store has to see for itself what the time is.
 */
export class MemorySubject implements Subject {
  #store: AnyStore | undefined;
  #clock: VirtualClock = createVirtualClock();
  #settings: Settings | undefined;
  #leases = new LeaseNames();
  /** Time that went by without timers. */
  #skipped = 0;
  /** Tokens of the next pages, by the id of the range. */
  #pages = new Map<number, string>();

  async begin(settings: Settings): Promise<void> {
    const clock = createVirtualClock();
    this.#settings = settings;
    this.#clock = clock;
    this.#leases = new LeaseNames();
    this.#skipped = 0;
    this.#pages = new Map();
    this.#store = await openStore<unknown, Key>({
      clock: { ...clock, now: () => clock.now() + this.#skipped },
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
      // Compaction goes on by timers of no delay.
      if (this.#settings?.physical === true) await this.#clock.advance(0);
      else await this.#clock.settle();
    }
  }

  async sleep(ms: number): Promise<void> {
    if (this.#settings?.physical === true) await this.#clock.advance(ms);
    else this.#skipped += ms;
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
        const options: PutOptions = { prevKv: call.prevKv, ...expect, ...this.#attachment(call) };
        const { revision, prevKv } = await store.put(call.key, call.value, options);
        return { revision, prevKv: this.#optionalRow(prevKv) };
      }
      case 'putAll': {
        const entries = call.entries.map(({ key, value, lease, ignoreLease }) => {
          return { key, value, ...this.#attachment({ lease, ignoreLease, ignoreValue: false }) };
        });
        const { revision } = await store.putAll(entries);
        return { revision };
      }
      case 'delete': {
        const target = 'key' in call.range ? call.range.key : call.range;
        const { revision, deleted, prevKvs } = await store.delete(target, { prevKv: call.prevKv, ...expect });
        return { revision, deleted, prevKvs: (prevKvs ?? []).map((kv) => this.#row(kv, false)) };
      }
      case 'txn': {
        const { revision, succeeded, responses } = await store.txn(this.#txn(call));
        return { revision, ...this.#branch(succeeded, responses, call) };
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
      default:
        return this.#lease(store, call);
    }
  }

  async #lease(store: AnyStore, call: LeaseCall): Promise<Answer> {
    switch (call.op) {
      case 'grant': {
        const { lease: name, ttlMs } = call;
        const { id, ttlMs: granted } = await store.grantLease({ ttlMs, ...(isGenerated(name) ? {} : { id: name }) });
        if (!LEASE_ID.test(id)) throw new TypeError(`The id of a lease is "${id}", which is none`);
        this.#leases.made(name, id);
        return { lease: name, ttlMs: granted };
      }
      case 'revoke': {
        const { revision, deleted } = await store.revokeLease(this.#leases.id(call.lease));
        return { revision, deleted };
      }
      case 'keepAlive': {
        const { ttlMs } = await store.keepAliveLease(this.#leases.id(call.lease));
        return { ttlMs };
      }
      case 'timeToLive': {
        const status = await store.leaseTimeToLive(this.#leases.id(call.lease), { keys: call.withKeys });
        if (status === undefined) return { lease: 'none' };
        const keys = status.keys?.map((key) => showBytes(keyBytes(key))) ?? null;
        const name = this.#leases.name(status.id);
        return { lease: name, ...timeAnswer(status.grantedTtlMs, status.remainingMs), keys };
      }
      case 'leases': {
        const ids = await store.leases();
        const isAscending = ids.every((id, index) => index === 0 || BigInt(ids[index - 1] ?? 0) < BigInt(id));
        if (!isAscending) throw new TypeError(`The leases are not ascending: ${ids.join(', ')}`);
        return { leases: ids.map((id) => this.#leases.name(id)).sort() };
      }
    }
  }

  #range(store: AnyStore, call: RangeCall, place: { revision?: number; continue?: string }): Answer {
    const result = store.range({ ...call.range, ...selectionOf(call), ...place });
    const isInKeyOrder = (call.sortTarget ?? 'key') === 'key' && call.sortOrder !== 'descend';
    if ((result.continue !== undefined) !== (result.more && isInKeyOrder)) {
      throw new TypeError(`A page with more: ${result.more} continues at ${result.continue}`);
    }
    if (result.continue !== undefined) this.#pages.set(call.id, result.continue);
    else this.#pages.delete(call.id);
    const kvs = result.kvs.map((kv) => this.#row(kv, call.keysOnly));
    return { revision: result.revision, kvs, count: result.count, more: result.more };
  }

  #branch(succeeded: boolean, responses: readonly AnyResult[], call: TxnCall): Answer {
    const branch = succeeded ? call.then : call.else;
    return { succeeded, responses: responses.map((one, index) => this.#response(one, branch[index])) };
  }

  #response(result: AnyResult, call: OperationCall | undefined): Answer {
    switch (result.type) {
      case 'put':
        return { type: 'put', prevKv: this.#optionalRow(result.prevKv) };
      case 'delete': {
        const prevKvs = (result.prevKvs ?? []).map((kv) => this.#row(kv, false));
        return { type: 'delete', deleted: result.deleted, prevKvs };
      }
      case 'range': {
        const keysOnly = call?.type === 'range' && call.keysOnly;
        const kvs = result.kvs.map((kv) => this.#row(kv, keysOnly));
        return { type: 'range', kvs, count: result.count, more: result.more };
      }
      case 'txn': {
        if (call?.type !== 'txn') throw new TypeError('The answer of a transaction is at the place of another one');
        return { type: 'txn', ...this.#branch(result.succeeded, result.responses, call) };
      }
    }
  }

  #txn(call: TxnCall): TxnRequest<unknown, Key> {
    return {
      compare: call.compare.map((one) => this.#compare(one)),
      then: call.then.map((one) => this.#operation(one)),
      else: call.else.map((one) => this.#operation(one)),
    };
  }

  #compare({ range, target, result, value }: CompareCall): Compare<unknown, Key> {
    const named = target === 'lease' ? this.#leases.id(String(value)) : value;
    return { ...range, target, result, value: named } as Compare<unknown, Key>;
  }

  #operation(call: OperationCall): Operation<unknown, Key> {
    switch (call.type) {
      case 'put': {
        const { type, key, value, prevKv } = call;
        const given = value === undefined ? {} : { value };
        return { type, key, ...given, prevKv, ...this.#attachment(call) } as Operation<unknown, Key>;
      }
      case 'delete':
        return { type: 'delete', ...call.range, prevKv: call.prevKv };
      case 'range':
        return { type: 'range', ...call.range, ...at(call.revision), ...selectionOf(call) };
      case 'txn':
        return { type: 'txn', ...this.#txn(call) };
    }
  }

  #attachment({ lease, ignoreValue, ignoreLease }: Attachment) {
    return {
      ...(lease === undefined ? {} : { lease: this.#leases.id(lease) }),
      ...(ignoreValue ? { ignoreValue } : {}),
      ...(ignoreLease ? { ignoreLease } : {}),
    };
  }

  #optionalRow(kv: KeyValue<unknown, Key> | undefined): Row | null {
    return kv === undefined ? null : this.#row(kv, false);
  }

  #row(kv: KeyValue<unknown, Key>, keysOnly: boolean): Row {
    const isAbsent = keysOnly && kv.value === undefined;
    const value = isAbsent ? null : showBytes(encodeValue(kv.value, this.#settings?.values ?? 'plain'));
    const { createRevision: create, modRevision: mod, version } = kv;
    const lease = this.#leases.name(kv.lease);
    return { key: showBytes(keyBytes(kv.key)), value, create, mod, version, lease };
  }

  #open(): AnyStore {
    if (this.#store === undefined) throw new TypeError('Cannot use the store: no program has begun');
    return this.#store;
  }
}

function selectionOf({ limit, keysOnly, countOnly, sortTarget, sortOrder, bounds }: Selection<number>) {
  return {
    ...(limit === undefined ? {} : { limit }),
    keysOnly,
    countOnly,
    ...(sortTarget === undefined ? {} : { sortTarget }),
    ...(sortOrder === undefined ? {} : { sortOrder }),
    ...bounds,
  };
}

function at(revision: number | undefined) {
  return revision === undefined ? {} : { revision };
}
