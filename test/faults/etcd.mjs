// @ts-check
// What becomes of replicas of an etcd when its servers, or the way to them, fail.
import { setTimeout as delay } from 'node:timers/promises';
import { EtcdCluster } from './etcd-cluster.mjs';
import { Load, loadLibrary, PREFIX, until } from './etcd-load.mjs';
import { FaultyProxy } from './etcd-proxy.mjs';

/**
 * @typedef {object} EtcdWorld
 * @property {string} folder
 * @property {string} dist
 * @property {string} command the etcd
 * @property {() => number} random
 * @property {(line: string) => void} say
 */

const WRITERS = 32;

/**
 * Three members; whoever leads is killed or stopped, again and again, while they write.
 *
 * @param {EtcdWorld} world
 * @param {number} writes
 */
export async function hurtLeaders({ folder, dist, command, random, say }, writes) {
  const cluster = await EtcdCluster.start({ command, folder, size: 3 });
  const load = new Load(await loadLibrary(dist));
  load.endpoints = cluster.endpoints;
  try {
    await load.open(cluster.endpoints);
    await load.open([...cluster.endpoints].reverse(), 'grpc');
    load.write(WRITERS);
    let faults = 0;
    while (load.journal.acknowledged.length < writes) {
      await delay(1_000 + random() * 3_000);
      const leader = await cluster.untilLed();
      const isKill = faults++ % 2 === 0;
      load.lastFault = isKill ? 'leader killed' : 'leader stopped';
      await cluster.signal(leader, isKill ? 'SIGKILL' : 'SIGSTOP');
      await delay(300 + random() * 1_500);
      if (isKill) await cluster.startMember(leader);
      else await cluster.signal(leader, 'SIGCONT');
      if (faults % 10 === 0) say(`  ${load.journal.acknowledged.length} writes acknowledged, ${faults} faults`);
    }
    await cluster.untilLed();
    tell(say, load, await load.finish(), `${faults} faults`);
  } finally {
    await load.close();
    cluster.stop();
  }
}

/**
 * One server, which stops, dies, compacts behind our back, and is replaced by another one of the same name.
 *
 * @param {EtcdWorld} world
 */
export async function hurtServer({ folder, dist, command, random, say }) {
  const library = await loadLibrary(dist);
  const cluster = await EtcdCluster.start({ command, folder, size: 1 });
  const [member] = /** @type {[import('./etcd-cluster.mjs').Member]} */ (cluster.members);
  const proxy = new FaultyProxy(member.client, random);
  const load = new Load(library);
  load.endpoints = cluster.endpoints;
  try {
    const store = await load.open([await proxy.listen()]);
    load.write(WRITERS);
    await delay(1_000);
    for (const [fault, begin, end] of /** @type {const} */ ([
      ['SIGSTOP, 3 s', () => cluster.signal(member, 'SIGSTOP'), () => cluster.signal(member, 'SIGCONT')],
      ['kill -9', () => cluster.signal(member, 'SIGKILL'), () => cluster.startMember(member)],
    ])) {
      load.lastFault = fault;
      const before = store.revision;
      await begin();
      await delay(3_000);
      // Whatever happens there, what is here is a true state.
      if (store.range({ prefix: PREFIX }).count === 0 || store.revision < before)
        throw new Error('an empty or older state');
      const answered = load.journal.acknowledged.length;
      await end();
      await until(() => store.revision > before, `news after ${fault}`);
      // Each writer has the answer of the write that had to wait, before the next fault can be blamed for it.
      await until(() => load.journal.acknowledged.length > answered + 2 * WRITERS, `answers after ${fault}`);
    }
    tell(say, load, await load.finish(), 'stopped and killed');
    await compactBehind(library, cluster, proxy, store);
    await replaceBehind(library, cluster, member, store);
  } finally {
    await load.close();
    proxy.close();
    cluster.stop();
  }
}

/**
 * The replica is cut off; meanwhile the history that it would need is compacted. Then it lists, and tells the difference.
 *
 * @param {import('./etcd-load.mjs').Library} library
 * @param {EtcdCluster} cluster
 * @param {FaultyProxy} proxy
 * @param {import('./etcd-load.mjs').Store} store
 */
async function compactBehind({ openStore, openEtcdBackend, textCodec }, cluster, proxy, store) {
  const relists = store.stats().replica?.relists ?? 0;
  const watch = store.watch({ prefix: PREFIX }, { fromRevision: store.revision + 1 });
  const first = watch.next();
  const direct = await openEtcdBackend({ endpoints: cluster.endpoints });
  const other = await openStore({ backend: direct, prefixes: [PREFIX], codec: textCodec() });
  try {
    proxy.cut();
    for (let count = 0; count < 300; count++) await other.put(`${PREFIX}compacted/${count % 7}`, `${count}`);
    await other.compact(other.revision);
    await delay(500);
    proxy.mend();
    await until(() => store.revision >= other.revision, 'the list after the compaction');
    const { value } = await first;
    if (value?.span !== true || value.events.length !== 7) throw new Error('the difference was not told as one span');
    const own = JSON.stringify(store.range({ prefix: PREFIX }).kvs);
    if (own !== JSON.stringify(other.range({ prefix: PREFIX }).kvs)) throw new Error('the replicas differ');
    if ((store.stats().replica?.relists ?? 0) <= relists || store.epoch !== 1)
      throw new Error('it was not listed again');
  } finally {
    await watch.return?.();
    await other.close();
    await direct[Symbol.asyncDispose]();
  }
}

/**
 * The data folder is replaced by an empty one, whose cluster has the same id, and which gets further than the old one was.
 *
 * @param {import('./etcd-load.mjs').Library} library
 * @param {EtcdCluster} cluster
 * @param {import('./etcd-cluster.mjs').Member} member
 * @param {import('./etcd-load.mjs').Store} store
 */
async function replaceBehind({ openStore, openEtcdBackend, textCodec }, cluster, member, store) {
  const { revision } = store;
  const watch = store.watch({ prefix: PREFIX });
  const ended = watch.next().then(
    () => undefined,
    (error) => error,
  );
  await cluster.wipe(member);
  const direct = await openEtcdBackend({ endpoints: cluster.endpoints });
  const other = await openStore({ backend: direct, prefixes: [PREFIX], codec: textCodec() });
  try {
    const entries = Array.from({ length: 100 }, (_, index) => ({ key: `${PREFIX}new/${index}`, value: 'n' }));
    await other.putAll(entries);
    while (other.revision < Math.min(revision + 10, 2_000)) await other.put(`${PREFIX}new/0`, `${other.revision}`);
    await until(() => store.epoch > 1, 'the replacement to be found out');
    await store.ready({ signal: AbortSignal.timeout(30_000) });
    await store.sync({ signal: AbortSignal.timeout(30_000) });
    const error = await ended;
    if (error?.code !== 'IDENTITY_CHANGED') throw new Error(`the watch ended with ${error}`);
    const own = JSON.stringify(store.range({ prefix: PREFIX }).kvs);
    if (own !== JSON.stringify(other.range({ prefix: PREFIX }).kvs)) throw new Error('the new data are not all here');
  } finally {
    await other.close();
    await direct[Symbol.asyncDispose]();
  }
}

/**
 * All that there is of connections goes through a proxy that breaks some of it.
 *
 * @param {EtcdWorld} world
 * @param {number} writes
 */
export async function hurtConnections({ folder, dist, command, random, say }, writes) {
  const cluster = await EtcdCluster.start({ command, folder, size: 1 });
  const [target] = /** @type {[string]} */ (cluster.endpoints);
  const proxies = [new FaultyProxy(target, random), new FaultyProxy(target, random)];
  const load = new Load(await loadLibrary(dist));
  load.endpoints = cluster.endpoints;
  load.lastFault = 'connections';
  try {
    const addresses = [];
    for (const proxy of proxies) addresses.push(await proxy.listen());
    await load.open(addresses);
    await load.open([...addresses].reverse(), 'grpc');
    for (const proxy of proxies) proxy.percent = 2;
    load.write(WRITERS);
    await until(() => load.journal.acknowledged.length >= writes, `${writes} writes`, 600_000);
    for (const proxy of proxies) proxy.percent = 0;
    const faults = proxies.map(({ counts }) => JSON.stringify(counts)).join(' ');
    tell(say, load, await load.finish(), faults);
  } finally {
    await load.close();
    for (const proxy of proxies) proxy.close();
    cluster.stop();
  }
}

/**
 * @param {(line: string) => void} say
 * @param {Load} load
 * @param {number} commits
 * @param {string} what
 */
function tell(say, { journal }, commits, what) {
  const open = journal.failed.filter(({ isOpen }) => isOpen).length;
  const recovery = [...journal.recovery].map(([fault, ms]) => `${fault} ${ms} ms`).join(', ');
  say(
    `  ${what}: ${journal.acknowledged.length} writes acknowledged, ${open} without an answer, ${journal.failed.length - open} refused, ${commits} commits; longest time without an answer: ${recovery}`,
  );
}
