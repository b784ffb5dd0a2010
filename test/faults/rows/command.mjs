// @ts-check
// The rows as a part of the faults: what they need, and what is printed of them.
import { findPrograms, HAS_OTHER_NODES } from '../../../tools/runtimes.mjs';
import { BREAKABLE, IDS, runRows } from './run.mjs';

/**
 * @typedef {object} RowsCommand
 * @property {string} dist
 * @property {string} folder
 * @property {() => Promise<string>} findEtcd
 * @property {boolean} isSmoke
 * @property {number} seed
 * @property {readonly string[]} only
 * @property {readonly string[]} broken rows whose fault is put in: they have to fail
 * @property {boolean} isSelfCheck every row whose fault can be put in, passed where its check notices it
 * @property {boolean} isJson
 */

/** A step that is waited for longer has failed; with a fault in it, it often has to. */
const DEADLINE_MS = { smoke: 10_000, full: 60_000, broken: 2_500 };

/** @param {RowsCommand} command */
export async function tellRows({ dist, folder, findEtcd, isSmoke, seed, only, broken, isSelfCheck, isJson }) {
  const isBroken = broken.length > 0 || isSelfCheck;
  const size = isSmoke ? 'smoke' : 'full';
  const [node24] = HAS_OTHER_NODES ? await findPrograms(['node24']) : [];
  const setting = {
    dist,
    folder,
    findEtcd,
    isSmoke: isSmoke || isBroken,
    seed,
    deadlineMs: isBroken ? DEADLINE_MS.broken : DEADLINE_MS[size],
    ...(node24 === undefined ? {} : { node24: node24.command }),
  };
  const rows = await runRows(setting, {
    ids: broken.length > 0 ? broken : only,
    mode: isSelfCheck ? 'self-check' : isBroken ? 'broken' : 'sound',
    tell: (result) => {
      if (!isJson) console.log(lineOf(result));
    },
  });
  const passed = rows.filter((row) => row.passed).length;
  if (isJson) console.log(JSON.stringify({ seed, size, rows, passed, failed: rows.length - passed }));
  return { passed, failed: rows.length - passed };
}

/** @param {string} name @param {readonly string[]} ids @param {boolean} isBroken */
export function checkIds(name, ids, isBroken) {
  const known = isBroken ? BREAKABLE : IDS;
  const wrong = ids.find((id) => !known.includes(id));
  if (wrong !== undefined) {
    const why = isBroken ? 'a row whose fault can be put in' : 'a row from F1 to F40';
    throw new RangeError(`Cannot run the tests: ${name} is "${wrong}", not ${why}`);
  }
}

/** @param {import('./run.mjs').RowResult} result */
function lineOf({ id, title, on, passed, ms, error }) {
  const line = `${passed ? 'ok      ' : 'failed  '} ${id.padEnd(3)} ${on.padEnd(6)} ${title} (${(ms / 1000).toFixed(1)} s)`;
  return error === undefined ? line : `${line}\n${error}`;
}
