// @ts-check

/**
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('./watchers.mjs').Watchers} Watchers
 *
 * @typedef {object} Question
 * @property {readonly string[]} keys One to change for each of the places.
 * @property {readonly number[]} places Of the watchers whose ranges hold `keys`, one each.
 * @property {string} unwatched A key that is in nobody's range.
 */

/** Makes the values of each check new: there are stores for which a put of the same value is none. */
let checks = 0;

/**
 * Changes a key of one watcher after the other, and then one of nobody: each time the right watcher, and no other, gets
 * exactly that event, with the revision of its put. All watchers wait before and after.
 *
 * @param {Watchers} watchers
 * @param {Question} question
 * @returns {Promise<Finding[]>}
 */
export async function wakeUpFindings(watchers, { keys, places, unwatched }) {
  checks++;
  const expected = [];
  const actual = [];
  const before = await watchers.waiting();
  for (const [index, place] of places.entries()) {
    const key = /** @type {string} */ (keys[index]);
    const value = `check ${checks} of ${key}`;
    const revision = await watchers.put(key, value);
    expected.push({ place, revision, events: [{ type: 'put', key, value }] });
    actual.push({ place, ...(await take(watchers, place)) });
  }
  await watchers.put(unwatched, `check ${checks}`);
  return [
    { what: 'events of the watchers of changed keys', actual, expected },
    { what: 'watchers with something else', actual: [...before, ...(await watchers.waiting())], expected: [] },
  ];
}

/**
 * One change that all watchers are to get, and one of nobody.
 *
 * @param {Watchers} watchers
 * @param {{ count: number, key: string, unwatched: string }} question
 * @returns {Promise<Finding[]>}
 */
export async function fanOutFindings(watchers, { count, key, unwatched }) {
  checks++;
  const value = `check ${checks} of ${key}`;
  const before = await watchers.waiting();
  const revision = await watchers.put(key, value);
  const batch = { revision, events: [{ type: 'put', key, value }] };
  const actual = [];
  for (let place = 0; place < count; place++) actual.push(await take(watchers, place));
  await watchers.put(unwatched, `check ${checks}`);
  return [
    { what: `events of ${count} watchers`, actual, expected: Array.from({ length: count }, () => batch) },
    { what: 'watchers with something else', actual: [...before, ...(await watchers.waiting())], expected: [] },
  ];
}

/**
 * What the watcher has by now, `undefined` if nothing: one that was not woken must not be waited for.
 *
 * @param {Watchers} watchers
 * @param {number} place
 */
async function take(watchers, place) {
  const nothing = Symbol('nothing');
  // More turns than any of them needs between the end of its put and the answer of its watch.
  let patience = Promise.resolve(nothing);
  for (let turn = 0; turn < PATIENCE_TURNS; turn++) patience = patience.then((same) => same);
  const arrival = await Promise.race([watchers.arrival(place), patience]);
  if (arrival === undefined || arrival === nothing) return undefined;
  watchers.rearm(place);
  return watchers.read(arrival);
}

const PATIENCE_TURNS = 20;
