// @ts-check
// One change and so many watchers of it in one process: behind the cache of a replica, which watches etcd once, and as
// watchers of etcd, each of which etcd sends the change to. Who writes is a process of its own.
import { openEtcd3, RawClient } from './clients.mjs';
import { Deliveries } from './deliveries.mjs';
import { textOf } from './rows.mjs';
import { processCpuMs, usedBytes } from './usage.mjs';
import { Writer } from './writer.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('./lists.mjs').Tools} Tools
 *
 * @typedef {object} Seen One event, in words that all share.
 * @property {number} revision
 * @property {string} key
 * @property {string} value
 *
 * @typedef {object} Watchers
 * @property {Deliveries} deliveries
 * @property {(event: any) => Seen} read
 * @property {() => unknown} close
 *
 * @typedef {{ name: string, lacks?: string, open: (prefix: string, count: number, tools: Tools) => Promise<Watchers> }} Entry
 *
 * @typedef {object} FanOutFacts By contestant, over all turns of a process.
 * @property {number} deliveriesPerSec By the clock: the way there and back included.
 * @property {number} [etcdCpuMsPerThousand] What etcd has had of the processors for a thousand deliveries; where the system tells.
 * @property {number} memoryBytes What this process grew by when the watchers were opened, the replica's cache included.
 */

/** Changes of a turn, one after the other: a tenth of a second at least, so that what a turn begins with does not decide. */
const CHANGES = 100;

/** @type {readonly Entry[]} */
const ENTRIES = [
  { name: 'plimsoll', open: openReplicaWatchers },
  { name: 'etcd3', lacks: 'keys and values stay bytes', open: openEtcd3Watchers },
  {
    name: '@grpc/grpc-js',
    lacks: 'keys and values stay bytes, and nobody opens a broken stream again',
    open: openRawWatchers,
  },
];

/**
 * @param {string} name
 * @param {number} count
 * @param {Tools} tools
 * @param {(contestant: string, facts: FanOutFacts) => void} tell at the end
 * @param {{ entries?: readonly Entry[], put?: (key: string, value: string) => Promise<number> }} [replaced] by tests
 * @returns {Promise<Case>}
 */
export async function fanOutCase(name, count, tools, tell, { entries = ENTRIES, put } = {}) {
  const writer = put === undefined ? new Writer(tools.address) : undefined;
  const write = put ?? ((/** @type {string} */ key, /** @type {string} */ value) => writer?.put(key, value));
  /** @type {Watchers[]} */
  const opened = [];
  /** @type {Contestant[]} */
  const contestants = [];
  for (const [index, { name: entryName, lacks, open }] of entries.entries()) {
    const prefix = `/bench/fan-out-${process.pid}-${index}/`;
    const before = await usedBytes(tools.collectGarbage);
    const watchers = await open(prefix, count, tools);
    const memoryBytes = (await usedBytes(tools.collectGarbage)) - before;
    opened.push(watchers);
    let changes = 0;
    let used = { wallMs: 0, serverMs: /** @type {number | undefined} */ (0), deliveries: 0 };
    const change = async () => {
      const index = ++changes;
      const key = `${prefix}app-${index % 10}`;
      const revision = await watchers.deliveries.after(count, async () => write(key, textOf(index)));
      return { revision, key, value: textOf(index) };
    };
    contestants.push({
      name: entryName,
      ...(lacks === undefined ? {} : { lacks }),
      check: async () => {
        const { deliveries, read } = watchers;
        const { total } = deliveries;
        const expected = await change();
        const actual = deliveries.last.map((event) => read(event));
        // What comes twice may come later: after a change of nobody's.
        await write(`/bench/unwatched-${process.pid}/a`, 'nobody');
        await new Promise((resolve) => setTimeout(resolve, 20));
        return [
          { what: `events of ${count} watchers`, actual, expected: Array.from({ length: count }, () => expected) },
          {
            what: 'events that came twice, or of a key that is not watched',
            actual: deliveries.total - total - count,
            expected: 0,
          },
        ];
      },
      // What the warm-up took is not told.
      prepare: (round) => {
        if (round <= 0) used = { wallMs: 0, serverMs: 0, deliveries: 0 };
      },
      sweep: async () => {
        const [start, serverStart] = [performance.now(), processCpuMs(tools.serverPid)];
        for (let index = 0; index < CHANGES; index++) await change();
        const server = processCpuMs(tools.serverPid);
        const serverMs = server === undefined || serverStart === undefined ? undefined : server - serverStart;
        used.wallMs += performance.now() - start;
        used.serverMs = serverMs === undefined || used.serverMs === undefined ? undefined : used.serverMs + serverMs;
        used.deliveries += CHANGES * count;
        tell(entryName, factsOf(used, memoryBytes));
        return CHANGES * count;
      },
    });
  }
  const [subject, ...peers] = /** @type {[Contestant, ...Contestant[]]} */ (contestants);
  const close = async () => {
    for (const watchers of opened) await watchers.close();
    writer?.close();
  };
  return { name, n: count, per: 'cpu second', subject, peers, close };
}

/**
 * @param {{ wallMs: number, serverMs: number | undefined, deliveries: number }} used
 * @param {number} memoryBytes
 * @returns {FanOutFacts}
 */
function factsOf({ wallMs, serverMs, deliveries }, memoryBytes) {
  const facts = { deliveriesPerSec: Math.round((deliveries / wallMs) * 1000), memoryBytes };
  if (serverMs === undefined) return facts;
  return { ...facts, etcdCpuMsPerThousand: Number(((serverMs / deliveries) * 1000).toPrecision(3)) };
}

/** @param {string} prefix @param {number} count @param {Tools} tools @returns {Promise<Watchers>} */
async function openReplicaWatchers(prefix, count, tools) {
  const { store, backend } = await tools.openReplica(prefix);
  const deliveries = new Deliveries();
  const stop = new AbortController();
  const follow = async (/** @type {number} */ place) => {
    try {
      for await (const batch of store.watch({ prefix })) deliveries.receive(place, batch);
    } catch (error) {
      if (!stop.signal.aborted) deliveries.fail(error);
    }
  };
  const following = Array.from({ length: count }, (_, place) => follow(place));
  return {
    deliveries,
    read: (/** @type {import('./lists.mjs').Batch} */ { revision, events }) => {
      const [{ kv: { key = '', value } = {} } = {}] =
        /** @type {readonly { kv?: { key: string, value?: unknown } }[]} */ (events);
      return { revision, key, value: events.length === 1 ? JSON.stringify(value) : `${events.length} events` };
    },
    close: async () => {
      stop.abort();
      await store.close();
      await Promise.all(following);
      await backend[Symbol.asyncDispose]();
    },
  };
}

/** @param {string} prefix @param {number} count @param {Tools} tools @returns {Promise<Watchers>} */
async function openEtcd3Watchers(prefix, count, { address }) {
  const client = openEtcd3(address);
  const deliveries = new Deliveries();
  const creating = Array.from({ length: count }, async (_, place) => {
    const watcher = await client.watch().prefix(prefix).create();
    watcher.on('put', (kv) => deliveries.receive(place, kv));
    return watcher;
  });
  const watchers = await Promise.all(creating);
  return {
    deliveries,
    read: seenOf,
    // One that is not cancelled is opened again and again, also by a client that was closed.
    close: async () => {
      await Promise.all(watchers.map((watcher) => watcher.cancel()));
      client.close();
    },
  };
}

/** @param {string} prefix @param {number} count @param {Tools} tools @returns {Promise<Watchers>} */
async function openRawWatchers(prefix, count, { address }) {
  const client = new RawClient(address);
  const deliveries = new Deliveries();
  const stop = await client.openWatches(prefix, count, (place, { kv }) => deliveries.receive(place, kv));
  return {
    deliveries,
    read: seenOf,
    close: () => {
      stop();
      client.close();
    },
  };
}

/** @param {{ key: Buffer, value: Buffer, mod_revision: number | string }} kv @returns {Seen} */
function seenOf({ key, value, mod_revision: revision }) {
  return { revision: Number(revision), key: key.toString(), value: value.toString() };
}
