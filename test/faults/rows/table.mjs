// @ts-check
// F1 to F40 of docs/spec/store.md: a program of several processes for each, or the test that shows it within one.
import { APPLYING } from './applying.mjs';
import { READING } from './reading.mjs';
import { RUNNING } from './running.mjs';
import { WATCHING } from './watching.mjs';

/**
 * @typedef {object} Row shown by processes
 * @property {string} id
 * @property {string} title
 * @property {readonly import('./world.mjs').Kind[]} on which data; the first is that of the smoke size
 * @property {string} [says] what the check has to say of a cache that has the fault (naive-cache.mjs)
 * @property {(world: import('./world.mjs').RowWorld) => Promise<void>} check throws what is wrong
 *
 * @typedef {object} Reference to a test of one process
 * @property {string} id
 * @property {string} why two processes cannot show it
 * @property {string} file
 * @property {string} test its title
 */

export const ROWS_TOTAL = 40;

/** @type {readonly Row[]} */
export const ROWS = [...APPLYING, ...WATCHING, ...READING, ...RUNNING];

const COST = 'a matter of cost: from outside it is only a time, which decides nothing';

/** @type {readonly Reference[]} */
export const REFERENCES = [
  {
    id: 'F4',
    why: 'a race of two threads of one process for one item',
    file: 'test/unit/faults/lists.test.ts',
    test: 'F4: an update between a delete and a new put gets into no orphan',
  },
  {
    id: 'F21',
    why: COST,
    file: 'test/unit/watch/wake-index.test.ts',
    test: '10,000 watches on distinct prefixes: one change wakes one',
  },
  {
    id: 'F22',
    why: COST,
    file: 'test/unit/core/key-index.test.ts',
    test: 'lists by the bytes of keys: text outside ASCII, no end, an empty range, an end before the start',
  },
  {
    id: 'F23',
    why: COST,
    file: 'test/unit/core/memory.test.ts',
    test: 'reads everything at the limit, however long, and no read takes memory',
  },
  {
    id: 'F24',
    why: COST,
    file: 'test/unit/core/log.test.ts',
    test: 'grows, wraps its positions and its directory, and replays across both',
  },
  {
    id: 'F27',
    why: 'what a read leaves behind is in the process that reads',
    file: 'test/unit/faults/running.test.ts',
    test: 'F27: reads leave nothing behind',
  },
];
