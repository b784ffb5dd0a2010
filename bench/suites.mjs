// @ts-check
import * as backends from './backends/suite.mjs';
import * as cache from './cache/suite.mjs';
import * as compaction from './compaction/suite.mjs';
import * as essence from './essence/suite.mjs';
import * as handlers from './handlers/suite.mjs';
import * as index from './index/suite.mjs';
import * as locks from './locks/suite.mjs';
import * as memory from './memory/suite.mjs';
import * as replay from './replay/suite.mjs';
import * as store from './store/suite.mjs';
import * as watch from './watch/suite.mjs';

/** Suites of rates: the harness times their cases. */
/** @type {readonly import('./harness/process.mjs').Suite[]} */
export const SUITES = [essence, index, compaction, replay, store, watch, locks, handlers, backends, cache];

/** Suites that measure something else, in processes of their own: they only share the command and its options. */
/** @type {readonly import('./memory/suite.mjs').OwnSuite[]} */
export const OWN_SUITES = [memory];
