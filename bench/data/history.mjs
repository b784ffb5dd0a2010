// @ts-check
// A long history of puts and deletes: half of the events go to a few busy keys, 5 % delete a key that is there.
import { generateKeys } from './keys.mjs';
import { createRandom } from './random.mjs';

/**
 * Event n has the revision n + 1.
 *
 * @typedef {object} History
 * @property {readonly string[]} keys
 * @property {Uint32Array} keyOf place in `keys` of each event's key
 * @property {Uint8Array} isDelete 1 for a delete
 */

const SEED = 90_210;
const DELETE_SHARE = 0.05;
/** A higher power makes fewer keys busier. */
const SKEW = 3;

/**
 * @param {number} keyCount
 * @param {number} events
 * @returns {History}
 */
export function generateHistory(keyCount, events) {
  const keys = generateKeys(keyCount);
  const random = createRandom(SEED);
  const keyOf = new Uint32Array(events);
  const isDelete = new Uint8Array(events);
  const isThere = new Uint8Array(keyCount);
  for (let event = 0; event < events; event++) {
    const place = Math.floor(keyCount * (event % 2 === 0 ? random() : random() ** SKEW));
    const deletes = isThere[place] === 1 && random() < DELETE_SHARE;
    keyOf[event] = place;
    isDelete[event] = deletes ? 1 : 0;
    isThere[place] = deletes ? 0 : 1;
  }
  return { keys, keyOf, isDelete };
}
