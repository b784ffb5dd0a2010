// @ts-check
import * as essence from './essence/suite.mjs';
import * as index from './index/suite.mjs';
import * as store from './store/suite.mjs';

/** @type {readonly import('./harness/process.mjs').Suite[]} */
export const SUITES = [essence, index, store];
