// @ts-check
// Lists of everything below a prefix: from the cache of a replica, and from etcd, which is asked each time.
import { keep } from '../harness/sink.mjs';
import { openEtcd3, RawClient } from './clients.mjs';
import { digestOf, keyOf, textOf } from './rows.mjs';
import { usedBytes } from './usage.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../../src/types/backend.ts').Backend} Backend
 *
 * @typedef {object} Tools
 * @property {(prefix: string) => Promise<{ store: Store, backend: Backend }>} openReplica of an etcd backend
 * @property {string} address
 * @property {number} serverPid
 * @property {() => void} collectGarbage
 *
 * @typedef {{ type: string, kv: { key: string, value?: unknown } }} WatchEvent
 * @typedef {{ revision: number, events: readonly WatchEvent[] }} Batch
 * @typedef {object} Store
 * @property {(request: { prefix: string }) => { kvs: readonly { key: string, value: unknown }[] }} range
 * @property {(key: string) => { value: unknown } | undefined} get
 * @property {(key: string, value: unknown) => Promise<{ revision: number }>} put
 * @property {(range: { prefix: string }) => AsyncIterable<Batch>} watch
 * @property {() => Promise<void>} close
 *
 * @typedef {{ heapBytes: number, keys: number }} ListMemory
 */

/** Puts of one transaction: what etcd takes. */
const TXN_MAX = 128;

/**
 * @param {string} name
 * @param {{ count: number, listsATurn: number }} size
 * @param {Tools} tools
 * @param {(memory: ListMemory) => void} tell what the replica of so many keys takes in this process
 * @returns {Promise<Case>}
 */
export async function listCase(name, { count, listsATurn }, tools, tell) {
  const prefix = `/bench/list-${count}/`;
  const raw = new RawClient(tools.address);
  await fill(raw, prefix, count);
  const before = await usedBytes(tools.collectGarbage);
  const { store, backend } = await tools.openReplica(prefix);
  tell({ heapBytes: (await usedBytes(tools.collectGarbage)) - before, keys: count });
  const etcd3 = openEtcd3(tools.address);
  const expected = digestOf(rowsOf(prefix, count));
  const findings = (/** @type {Iterable<readonly [string, string]>} */ rows) => [
    { what: `digest of ${count} rows`, actual: digestOf(rows), expected },
  ];
  /** @param {() => Promise<unknown>} list */
  const asked = (list) => async () => {
    for (let index = 0; index < listsATurn; index++) keep(await list());
    return listsATurn;
  };
  const rawList = async () => (await raw.range(prefix)).kvs ?? [];
  const etcd3List = async () => (await etcd3.getAll().prefix(prefix).exec()).kvs;
  const ranges = [rangeOf(prefix)];
  const backendList = async () => (await backend.range({ ranges })).kvs;
  return {
    name,
    n: count,
    subject: {
      name: 'plimsoll',
      check: () => findings(store.range({ prefix }).kvs.map(({ key, value }) => [key, JSON.stringify(value)])),
      operation: () => store.range({ prefix }).kvs.length,
    },
    peers: [
      {
        name: 'etcd3',
        lacks: 'keys and values stay bytes; but it is the newest state, and takes no memory here',
        check: async () => findings(textRows(await etcd3List())),
        sweep: asked(etcd3List),
      },
      {
        name: '@grpc/grpc-js',
        lacks: 'the same, without a client around it',
        check: async () => findings(textRows(await rawList())),
        sweep: asked(rawList),
      },
      {
        name: 'plimsoll/etcd without a cache',
        lacks: 'the same, over JSON and HTTP',
        check: async () => findings(textRows(await backendList())),
        sweep: asked(backendList),
      },
    ],
    close: async () => {
      await store.close();
      await backend[Symbol.asyncDispose]();
      etcd3.close();
      raw.close();
    },
  };
}

/**
 * Once for all processes of a run.
 *
 * @param {RawClient} raw
 * @param {string} prefix
 * @param {number} count
 */
async function fill(raw, prefix, count) {
  const { count: there } = await raw.range(prefix, { count_only: true });
  if (there === count) return;
  const rows = [...rowsOf(prefix, count)];
  for (let first = 0; first < count; first += TXN_MAX) await raw.putAll(rows.slice(first, first + TXN_MAX));
}

/**
 * In the order of the keys.
 *
 * @param {string} prefix
 * @param {number} count
 * @returns {(readonly [string, string])[]}
 */
function rowsOf(prefix, count) {
  const rows = Array.from(
    { length: count },
    (_, index) => /** @type {const} */ ([keyOf(prefix, index), textOf(index)]),
  );
  return rows.sort(([left], [right]) => (left < right ? -1 : 1));
}

/** @param {readonly { key: Uint8Array, value: Uint8Array }[]} kvs @returns {(readonly [string, string])[]} */
function textRows(kvs) {
  const decoder = new TextDecoder();
  return kvs.map(({ key, value }) => [decoder.decode(key), decoder.decode(value)]);
}

/** @param {string} prefix */
function rangeOf(prefix) {
  const encoder = new TextEncoder();
  return { start: encoder.encode(prefix), end: encoder.encode(`${prefix.slice(0, -1)}0`) };
}
