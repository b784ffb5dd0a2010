// @ts-check
// antietcd in this process: an etcd for JavaScript with watches and leases, which keeps the newest version of a key only.

/**
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 *
 * @typedef {{ key: string, value: string, mod_revision: number }} KeyValue
 * @typedef {{ header: { revision: number } }} Answer
 * @typedef {{ key: string, range_end?: string, limit?: number }} Range
 * @typedef {object} Message
 * @property {{ header: { revision: number }, events: { type: string, kv: { key: string, value: string } }[] }} result
 *
 * @typedef {object} AntiEtcd The calls that are measured.
 * @property {(request: { key: string, value: string }) => Promise<Answer>} put
 * @property {(request: Range) => Promise<{ kvs: KeyValue[] }>} range
 * @property {(request: object) => Promise<Answer & { succeeded: boolean }>} txn
 * @property {(request: Range, callback: (message: Message) => void) => Promise<number>} create_watch
 * @property {(id: number) => Promise<void>} cancel_watch
 * @property {() => Promise<void>} stop
 *
 * @typedef {'put' | 'txn' | 'get' | 'range'} Call
 */

export const ANTIETCD_LACKS =
  'newest version only, no create revision and no version in answers, a directory is in no order';
/** Reads of a turn: they are asynchronous, so a fixed number. */
const READS = { get: 20_000, range: 20 };

/**
 * Its class by itself: without `start`, `data` and `cluster` it has no server, no file and no peers. Keys and values are
 * text, not base64, which the etcd API over HTTP needs and a caller in the same process does not.
 *
 * @returns {Promise<AntiEtcd>}
 */
export async function openAntiEtcd() {
  const packageName = 'antietcd';
  const { default: Class } = await import(packageName);
  return new Class({ use_base64: false });
}

/**
 * @param {AntiEtcd} etcd empty
 * @param {Call} call
 * @param {{ keys: readonly string[], order: readonly string[], page: { prefix: string, limit: number } }} data `keys`, once
 *   filled in in this order, and the order in which every round goes through them
 * @returns {Promise<Contestant>}
 */
export async function antiEtcdContestant(etcd, call, { keys, order, page }) {
  for (const key of keys) await etcd.put({ key, value: 'value of round 0' });
  let round = 0;
  const known = new Map(keys.map((key, place) => [key, place + 1]));
  const overwrite = async () => {
    const value = `value of round ${++round}`;
    for (const key of order) {
      const { header } = await (call === 'txn' ? compareAndPut(etcd, key, value, known) : etcd.put({ key, value }));
      known.set(key, header.revision);
    }
    return order.length;
  };
  // Prefixes are whole directories. It stops once it has more than the limit.
  const request = { key: page.prefix, range_end: `${page.prefix.slice(0, -1)}0`, limit: page.limit - 1 };
  let found = 0;
  let next = 0;
  const read = async () => {
    const reads = READS[call === 'range' ? 'range' : 'get'];
    for (let turn = 0; turn < reads; turn++) {
      const key = /** @type {string} */ (order[next++ % order.length]);
      const { kvs } = await etcd.range(call === 'range' ? request : { key });
      found += kvs.length;
    }
    if (found === 0) throw new Error('Cannot measure reads: nothing was found');
    return reads;
  };
  return {
    name: 'antietcd',
    lacks: ANTIETCD_LACKS,
    check: () => findings(etcd, { keys, order, round, known, page, request }),
    sweep: call === 'put' || call === 'txn' ? overwrite : read,
  };
}

/**
 * @param {AntiEtcd} etcd
 * @param {string} key
 * @param {string} value
 * @param {ReadonlyMap<string, number>} known
 */
async function compareAndPut(etcd, key, value, known) {
  const compare = [{ key, target: 'MOD', mod_revision: known.get(key) }];
  const answer = await etcd.txn({ compare, success: [{ request_put: { key, value } }] });
  if (!answer.succeeded) throw new Error(`Cannot measure transactions: the compare of ${key} does not hold`);
  return answer;
}

/**
 * Every key with the value and the revision that `round` rounds leave; of the page, that it has as many keys of the prefix
 * as asked for, each once and as it is, since it has no order to compare.
 *
 * @param {AntiEtcd} etcd
 * @param {object} state
 * @param {readonly string[]} state.keys
 * @param {readonly string[]} state.order
 * @param {number} state.round
 * @param {ReadonlyMap<string, number>} state.known
 * @param {{ prefix: string, limit: number }} state.page
 * @param {Range} state.request
 * @returns {Promise<Finding[]>}
 */
async function findings(etcd, { keys, order, round, known, page, request }) {
  const written = round === 0 ? keys : order;
  const rows = new Map(
    written.map((key, place) => [
      key,
      { key, value: `value of round ${round}`, mod_revision: round * keys.length + place + 1 },
    ]),
  );
  const stored = [];
  for (const key of written) stored.push(...(await etcd.range({ key })).kvs.map(row));
  const { kvs } = await etcd.range(request);
  const ofPage = kvs.filter(({ key }) => key.startsWith(page.prefix));
  const revisions = written.map((key) => known.get(key));
  return [
    { what: 'every key', actual: stored, expected: [...rows.values()] },
    { what: 'revisions that it answered', actual: revisions, expected: stored.map((kv) => kv.mod_revision) },
    { what: 'different keys of the page', actual: new Set(ofPage.map(({ key }) => key)).size, expected: page.limit },
    { what: 'the page', actual: kvs.map(row), expected: kvs.map(({ key }) => rows.get(key)) },
  ];
}

/** @param {KeyValue} entry */
function row({ key, value, mod_revision }) {
  return { key, value, mod_revision };
}
