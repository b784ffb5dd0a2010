import { EtcdLeases, LEASE_NOT_FOUND } from './etcd-leases.ts';
import { EtcdWatch } from './etcd-watch.ts';
import type { Header, OperationResponse, RangeResponse, TxnResponse, WireRow } from './gateway.ts';
import { type DeleteResponse, type Gateway, GatewayError, type PutResponse } from './gateway.ts';
import { LeaseNames } from './lease-names.ts';
import type { LeaseName, Settings } from './program.ts';
import type { OperationCall, TxnCall, WatchCall } from './subject.ts';
import {
  type Answer,
  type Call,
  keyBytes,
  type RangeCall,
  type Row,
  type Subject,
  type SubjectWatch,
} from './subject.ts';
import {
  absolute,
  base64,
  readRow,
  type WireRange,
  type Words,
  wireAt,
  wireCompare,
  wirePut,
  wireRange,
  wireSelection,
  wireTxn,
} from './wire.ts';

/** etcd's words for the errors that the programs can meet, and ours. */
const ERRORS: Readonly<Record<string, string>> = {
  'etcdserver: mvcc: required revision has been compacted': 'compacted',
  'etcdserver: mvcc: required revision is a future revision': 'future revision',
  'etcdserver: duplicate key given in txn request': 'duplicate key',
  'etcdserver: too many operations in txn request': 'too many operations',
  'etcdserver: key is not provided': 'empty key',
  'etcdserver: key not found': 'key not found',
  'etcdserver: value is provided': 'value provided',
  'etcdserver: lease is provided': 'lease provided',
  [LEASE_NOT_FOUND]: 'lease not found',
  'etcdserver: lease already exists': 'lease exists',
  'etcdserver: too large lease TTL': 'TTL too large',
};

interface Page {
  readonly range: WireRange;
  readonly revision: number;
}

/**
 * A real etcd. Programs share one server, whose revisions go on: each begins by emptying it, and counts from there.
 *
 * ```text
 *   ... the program before | put, delete everything | 2   3   4     revisions of this program
 *                                        ^ base + 1 = 1
 *                            ^ base, compacted: 0
 * ```
 */
export class EtcdSubject implements Subject {
  readonly #gateway: Gateway;
  #words: Words = { values: 'plain', base: 0, leases: new LeaseNames() };
  #leases: EtcdLeases;
  #compacted = 0;
  /** The next pages, by the id of the range. */
  #pages = new Map<number, Page>();
  readonly #watches = new Set<EtcdWatch>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#leases = new EtcdLeases(gateway, this.#words.leases);
  }

  async begin({ values }: Settings): Promise<void> {
    this.#pages = new Map();
    this.#compacted = 0;
    await EtcdLeases.revokeAll(this.#gateway);
    const all = wireRange({ prefix: '' });
    // So that there is something to delete, and the base is above what the program before compacted to.
    await this.#gateway.call('kv/put', { key: base64(Uint8Array.of(1)) });
    const { header } = await this.#gateway.call<DeleteResponse>('kv/deleterange', all);
    const base = Number(header?.revision) - 1;
    await this.#gateway.call('kv/compaction', { revision: String(base) });
    this.#words = { values, base, leases: new LeaseNames() };
    this.#leases = new EtcdLeases(this.#gateway, this.#words.leases);
  }

  async perform(call: Call): Promise<Answer> {
    try {
      const answer = await this.#answer(call);
      this.#leases.checkTime();
      return answer;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const kind = ERRORS[error.message] ?? error.message;
      return kind === 'compacted' ? { error: kind, compactRevision: this.#compacted } : { error: kind };
    }
  }

  async watch(call: WatchCall): Promise<SubjectWatch | Answer> {
    const watch = new EtcdWatch(this.#gateway, this.#words, call.filter);
    let start = typeof call.start === 'number' ? absolute(call.start, this.#base) : 0;
    if (call.start === 'initial') {
      const list = await this.#gateway.call<RangeResponse>('kv/range', wireRange(call.range));
      const events = (list.kvs ?? []).map((row) => ({ type: 'put', row: this.#row(row), prev: null }) as const);
      watch.batches.push({ revision: this.#revision(list.header), initial: true, events });
      start = Number(list.header?.revision) + 1;
    }
    const refused = await watch.open({ ...wireRange(call.range), start_revision: String(start), prev_kv: call.prevKv });
    if (refused !== undefined) return refused;
    this.#watches.add(watch);
    return watch;
  }

  sleep(ms: number, due: readonly LeaseName[]): Promise<void> {
    return this.#leases.sleep(ms, due);
  }

  async end(): Promise<void> {
    for (const watch of this.#watches) await watch.close();
    this.#watches.clear();
  }

  async #answer(call: Call): Promise<Answer> {
    switch (call.op) {
      case 'put': {
        const request = wirePut(call, this.#words);
        if (call.expect !== undefined) return this.#guarded(call.key, call.expect, { request_put: request });
        return this.#put(await this.#gateway.call<PutResponse>('kv/put', request));
      }
      case 'putAll': {
        const entries = call.entries.map((entry) => wirePut({ ...entry, ignoreValue: false }, this.#words));
        const success = entries.map((request) => ({ request_put: request }));
        const { header } = await this.#gateway.call<TxnResponse>('kv/txn', { success });
        return { revision: this.#revision(header) };
      }
      case 'delete': {
        const request = { ...wireRange(call.range), prev_kv: call.prevKv };
        if (call.expect !== undefined && 'key' in call.range)
          return this.#guarded(call.range.key, call.expect, { request_delete_range: request });
        return this.#deleted(await this.#gateway.call<DeleteResponse>('kv/deleterange', request));
      }
      case 'txn':
        return this.#txn(await this.#gateway.call<TxnResponse>('kv/txn', wireTxn(call, this.#words)), call);
      case 'get': {
        const request = { key: base64(keyBytes(call.key)), ...wireAt(call.revision, this.#base) };
        const { header, kvs = [] } = await this.#gateway.call<RangeResponse>('kv/range', request);
        return { revision: this.#revision(header), kv: this.#optionalRow(kvs[0]) };
      }
      case 'range':
        return this.#range(call, { ...wireRange(call.range), ...wireAt(call.revision, this.#base) });
      case 'page': {
        const page = this.#pages.get(call.of.id);
        return this.#range(call.of, { ...page?.range, ...wireAt(page?.revision, this.#base) });
      }
      case 'compact': {
        // `physical`: the answer comes when it is done, so that what etcd keeps (E2) does not depend on a race.
        const request = { revision: String(absolute(call.revision, this.#base)), physical: true };
        const { header } = await this.#gateway.call<{ header?: Header }>('kv/compaction', request);
        this.#compacted = call.revision;
        return { revision: this.#revision(header), requested: call.revision, compactRevision: call.revision };
      }
      default:
        return this.#leases.perform(call, ({ header }) => this.#revision(header));
    }
  }

  /** `expect` as a client of etcd says it: a transaction that compares the mod revision, and reads it if it is another. */
  async #guarded(key: Uint8Array | string, expect: number, request: object): Promise<Answer> {
    const compare = wireCompare({ range: { key }, target: 'mod', result: '=', value: expect }, this.#words);
    const { header, succeeded, responses } = await this.#gateway.call<TxnResponse>('kv/txn', {
      compare: [compare],
      success: [request],
      failure: [{ request_range: { key: base64(keyBytes(key)) } }],
    });
    const response = responses?.[0];
    if (succeeded !== true) {
      const row = response?.response_range?.kvs?.[0];
      return { error: 'conflict', actual: this.#optionalRow(row)?.mod ?? 0 };
    }
    const whole = { header: header ?? {} };
    if ('request_put' in request) return this.#put({ ...response?.response_put, ...whole });
    return this.#deleted({ ...response?.response_delete_range, ...whole });
  }

  #txn({ header, ...response }: TxnResponse, call: TxnCall): Answer {
    return { revision: this.#revision(header), ...this.#branch(response, call) };
  }

  #branch({ succeeded = false, responses = [] }: TxnResponse, call: TxnCall): Answer {
    const branch = succeeded ? call.then : call.else;
    return { succeeded, responses: responses.map((response, index) => this.#operation(response, branch[index])) };
  }

  #operation(response: OperationResponse, call: OperationCall | undefined): Answer {
    if (response.response_put !== undefined) {
      return { type: 'put', prevKv: this.#optionalRow(response.response_put.prev_kv) };
    }
    if (response.response_delete_range !== undefined) {
      const { deleted, prevKvs } = this.#deleted(response.response_delete_range);
      return { type: 'delete', deleted, prevKvs };
    }
    if (response.response_txn !== undefined && call?.type === 'txn') {
      return { type: 'txn', ...this.#branch(response.response_txn, call) };
    }
    return { type: 'range', ...this.#rows(response.response_range ?? {}, call?.type === 'range' && call.keysOnly) };
  }

  async #range(call: RangeCall, place: object): Promise<Answer> {
    const response = await this.#gateway.call<RangeResponse>('kv/range', {
      ...place,
      ...wireSelection(call, this.#base),
    });
    this.#keepPage(call, response);
    return { revision: this.#revision(response.header), ...this.#rows(response, call.keysOnly) };
  }

  /** The next page begins right behind the last key, at the revision of the first page. */
  #keepPage(call: RangeCall, response: RangeResponse): void {
    const before = this.#pages.get(call.id);
    this.#pages.delete(call.id);
    const last = response.kvs?.at(-1);
    if (response.more !== true || last === undefined) return;
    const behind = Buffer.concat([Buffer.from(last.key, 'base64'), Uint8Array.of(0)]);
    const asked = call.revision !== undefined && call.revision > 0 ? call.revision : this.#revision(response.header);
    const end = wireRange(call.range).range_end;
    const range = { key: base64(behind), ...(end === undefined ? {} : { range_end: end }) };
    this.#pages.set(call.id, { range, revision: before?.revision ?? asked });
  }

  #put({ header, prev_kv }: PutResponse): Answer {
    return { revision: this.#revision(header), prevKv: this.#optionalRow(prev_kv) };
  }

  #deleted({ header, deleted, prev_kvs = [] }: DeleteResponse): Answer {
    const prevKvs = prev_kvs.map((row) => this.#row(row));
    return { revision: this.#revision(header), deleted: Number(deleted ?? 0), prevKvs };
  }

  #rows({ kvs = [], count, more = false }: RangeResponse, keysOnly: boolean): Answer {
    return { kvs: kvs.map((row) => this.#row(row, keysOnly)), count: Number(count ?? 0), more };
  }

  #optionalRow(row: WireRow | undefined): Row | null {
    return row === undefined ? null : this.#row(row);
  }

  #row(row: WireRow, keysOnly = false): Row {
    return readRow(row, this.#words, keysOnly);
  }

  get #base(): number {
    return this.#words.base;
  }

  #revision(header: Header | undefined): number {
    return Number(header?.revision) - this.#base;
  }
}
