// @ts-check
// Puts to one etcd: through the list manager, which also waits until they are visible in its cache, and with clients.
import { openEtcd3, RawClient } from './clients.mjs';
import { keyOf, objectOf, textOf } from './rows.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('./lists.mjs').Tools} Tools
 */

/** Puts of a turn; more of them when many write at a time. */
const PUTS = 50;
const PUTS_TOGETHER = 320;

/**
 * @param {string} name
 * @param {number} writers
 * @param {Tools} tools
 * @returns {Promise<Case>}
 */
export async function putEtcdCase(name, writers, tools) {
  const root = `/bench/put-${process.pid}-${writers}/`;
  const raw = new RawClient(tools.address);
  const etcd3 = openEtcd3(tools.address);
  const { store, backend } = await tools.openReplica(`${root}plimsoll/`);
  const cached = 'waits until the put is visible in no cache';
  const peer = (/** @type {string} */ peerName, /** @type {(key: string, index: number) => Promise<number>} */ put) =>
    putContestant(peerName, cached, `${root}${peerName}/`, writers, put, raw);
  return {
    name,
    n: writers === 1 ? PUTS : PUTS_TOGETHER,
    subject: putContestant(
      'plimsoll',
      undefined,
      `${root}plimsoll/`,
      writers,
      async (key, index) => {
        const { revision } = await store.put(key, objectOf(index));
        if (store.get(key) === undefined) throw new Error('Cannot measure a put: it is not visible after its answer');
        return revision;
      },
      raw,
    ),
    peers: [
      peer('etcd3', async (key, index) => Number((await etcd3.put(key).value(textOf(index)).exec()).header.revision)),
      peer('@grpc/grpc-js', (key, index) => raw.put(key, textOf(index))),
    ],
    close: async () => {
      await store.close();
      await backend[Symbol.asyncDispose]();
      await raw.deleteAll(root);
      etcd3.close();
      raw.close();
    },
  };
}

/**
 * Each put is one of a new key.
 *
 * @param {string} name
 * @param {string | undefined} lacks
 * @param {string} prefix
 * @param {number} writers
 * @param {(key: string, index: number) => Promise<number>} put resolves with the revision
 * @param {Pick<RawClient, 'get' | 'range'>} raw
 * @returns {Contestant}
 */
function putContestant(name, lacks, prefix, writers, put, raw) {
  let index = 0;
  const write = () => {
    const own = index++;
    return put(keyOf(prefix, own), own);
  };
  const each = (writers === 1 ? PUTS : PUTS_TOGETHER) / writers;
  return {
    name,
    ...(lacks === undefined ? {} : { lacks }),
    check: async () => {
      const own = index;
      const revision = await write();
      const { count } = await raw.range(prefix, { count_only: true });
      const kv = await raw.get(keyOf(prefix, own));
      const actual = { key: kv?.key.toString(), value: kv?.value.toString(), revision: kv?.mod_revision };
      return [
        { what: 'newest key at etcd', actual, expected: { key: keyOf(prefix, own), value: textOf(own), revision } },
        { what: 'keys at etcd', actual: count, expected: index },
      ];
    },
    sweep: async () => {
      const writer = async () => {
        for (let turn = 0; turn < each; turn++) await write();
      };
      await Promise.all(Array.from({ length: writers }, writer));
      return writers * each;
    },
  };
}
