// @ts-check
// The cases as a script for the edge machine, which has no modules: a global runs one.
import { runCase } from './worker.mjs';

Object.assign(globalThis, { plimsollRunCase: runCase });
