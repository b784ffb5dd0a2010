// @ts-check
// Whether the store whose memory was measured still answers rightly. A small store that has forgotten something is no
// achievement.
import { isDeepStrictEqual } from 'node:util';
import { WrongAnswerError } from '../harness/measure.mjs';

/**
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {{ key: string, value?: unknown, modRevision: number, version: number }} KeyValue
 * @typedef {{ revision: number, events: readonly { type: string, kv: { key: string, modRevision: number } }[] }} Batch
 * @typedef {{ next(): Promise<{ value: Batch | undefined, done: boolean }> }} Watch
 *
 * @typedef {object} Store
 * @property {(key: string, value: unknown) => Promise<{ revision: number }>} put
 * @property {(key: string, options?: { revision?: number }) => KeyValue | undefined} get
 * @property {(request: { prefix: string, limit: number }) => { kvs: readonly KeyValue[] }} range
 * @property {(range: { key: string } | { prefix: string }) => Watch} watch
 * @property {() => { memoryBytes: number, storedVersions: number }} stats
 * @property {() => Promise<void>} close
 *
 * @typedef {Promise<{ value: Batch | undefined, done: boolean }>} Answer
 * @typedef {{ watches: Watch[], answers: (Answer | undefined)[] }} Readers By place; `answers` of those that wait.
 */

/** Keys that are read back. */
const SAMPLE = 1000;
const PAGE = { prefix: '/registry/pods/', limit: 100 };

/**
 * A store in which `sweeps` sweeps over `keys` were put, key by key in that order, the first at revision 2.
 *
 * @param {Store} store
 * @param {readonly string[]} keys
 * @param {number} sweeps
 * @returns {Finding[]}
 */
export function storeFindings(store, keys, sweeps) {
  const count = keys.length;
  const step = Math.max(1, Math.floor(count / SAMPLE));
  const places = keys.map((_, place) => place).filter((place) => place % step === 0);
  const expected = (/** @type {number} */ place, /** @type {number} */ sweep) => ({
    key: keys[place],
    modRevision: (sweep - 1) * count + place + 2,
    version: sweep,
  });
  const middle = Math.ceil(sweeps / 2);
  const page = [...keys]
    .filter((key) => key.startsWith(PAGE.prefix))
    .sort()
    .slice(0, PAGE.limit);
  const keyAt = (/** @type {number} */ place) => /** @type {string} */ (keys[place]);
  return [
    { what: 'versions stored', actual: store.stats().storedVersions, expected: count * sweeps },
    {
      what: 'keys',
      actual: places.map((place) => row(store.get(keyAt(place)))),
      expected: places.map((place) => expected(place, sweeps)),
    },
    {
      what: `keys as of sweep ${middle}`,
      actual: places.map((place) => row(store.get(keyAt(place), { revision: middle * count + 1 }))),
      expected: places.map((place) => expected(place, middle)),
    },
    { what: 'a key that is not there', actual: store.get('/registry/none'), expected: undefined },
    { what: 'a page', actual: store.range(PAGE).kvs.map(({ key }) => key), expected: page },
  ];
}

/** @param {KeyValue | undefined} kv */
function row(kv) {
  return kv === undefined ? undefined : { key: kv.key, modRevision: kv.modRevision, version: kv.version };
}

/**
 * Every watcher of a key gets the one event of its key; every watcher of the prefix gets the one event there is.
 *
 * @param {Store} store
 * @param {Readers} readers
 * @param {readonly string[]} keys
 * @param {'keys' | 'prefix'} watched
 * @returns {Promise<Finding[]>}
 */
export async function watchFindings(store, { watches, answers }, keys, watched) {
  const written = watched === 'keys' ? keys : keys.slice(0, 1);
  /** @type {number[]} */
  const revisions = [];
  // Before the puts: a consumer that was not waiting is asked now.
  const asked = watches.map((watch, place) => answers[place] ?? watch.next());
  for (const key of written) revisions.push((await store.put(key, 'news')).revision);
  const actual = (await Promise.all(asked)).map(({ value }) => value?.events.map(eventOf));
  const expected = watches.map((_, place) => {
    const which = watched === 'keys' ? place : 0;
    return [`put ${keys[which]} at ${revisions[which]}`];
  });
  return [{ what: 'the event of each watcher', actual, expected }];
}

/** @param {Batch['events'][number]} event */
function eventOf({ type, kv }) {
  return `${type} ${kv.key} at ${kv.modRevision}`;
}

/**
 * @param {string} rowName
 * @param {string} contestant
 * @param {readonly Finding[]} findings
 */
export function refuseWrong(rowName, contestant, findings) {
  if (findings.length === 0) throw new WrongAnswerError(rowName, contestant, 'has no answer that can be checked');
  for (const { what, actual, expected } of findings) {
    if (isDeepStrictEqual(actual, expected)) continue;
    throw new WrongAnswerError(rowName, contestant, `gives a wrong answer to "${what}"`);
  }
}
