// @ts-check
// The rows of a run: each by its processes, or its reference looked up. One line a row.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { REFERENCES, ROWS, ROWS_TOTAL } from './table.mjs';
import { Worlds } from './world.mjs';

/**
 * @typedef {import('./table.mjs').Row} Row
 * @typedef {import('./world.mjs').Kind} Kind
 * @typedef {{ id: string, title: string, on: string, passed: boolean, ms: number, error?: string }} RowResult
 *
 * @typedef {object} RowsOptions
 * @property {readonly string[]} ids of the rows to be run; none is all
 * @property {'sound' | 'broken' | 'self-check'} mode with the fault of the row in the subject, or with it and passed where the check says so
 * @property {(result: RowResult) => void} tell
 */

const root = new URL('../../../', import.meta.url);
export const IDS = Array.from({ length: ROWS_TOTAL }, (_, index) => `F${index + 1}`);
/** The rows whose fault can be put in. */
export const BREAKABLE = ROWS.filter(({ says }) => says !== undefined).map(({ id }) => id);

/**
 * @param {import('./world.mjs').Setting} setting
 * @param {RowsOptions} options
 * @returns {Promise<RowResult[]>}
 */
export async function runRows(setting, { ids, mode, tell }) {
  const worlds = new Worlds(setting);
  /** @type {RowResult[]} */
  const results = [];
  const end = () => worlds.close();
  // Whatever ends this process, a signal too: its handlers exit.
  process.prependOnceListener('exit', end);
  try {
    for (const id of ids.length > 0 ? ids : mode === 'sound' ? IDS : BREAKABLE) {
      for (const result of await runRow(setting, worlds, id, mode)) {
        results.push(result);
        tell(result);
      }
    }
    return results;
  } finally {
    process.off('exit', end);
    end();
  }
}

/**
 * @param {import('./world.mjs').Setting} setting
 * @param {Worlds} worlds
 * @param {string} id
 * @param {RowsOptions['mode']} mode
 * @returns {Promise<RowResult[]>}
 */
async function runRow({ isSmoke }, worlds, id, mode) {
  const row = ROWS.find((one) => one.id === id);
  if (row === undefined) return [await timed(id, await titleOf(id), 'a test', () => lookUp(id))];
  const kinds = row.on.filter((kind) => worlds.kinds.includes(kind));
  if (mode === 'self-check') {
    const [kind = 'etcd'] = kinds;
    return [await timed(id, `the check notices the fault: ${row.says}`, kind, () => breakRow(worlds, row, kind))];
  }
  const results = [];
  for (const kind of isSmoke ? kinds.slice(0, 1) : kinds) {
    const fault = mode === 'broken' ? id : undefined;
    results.push(await timed(id, row.title, kind, () => worlds.run(id, kind, fault, row.check)));
  }
  return results;
}

/**
 * The check has to fail, and by what it says of this very fault.
 *
 * @param {Worlds} worlds
 * @param {Row} row
 * @param {Kind} kind
 */
async function breakRow(worlds, { id, says = '', check }, kind) {
  const error = await worlds.run(id, kind, id, check).then(
    () => undefined,
    (reason) => reason,
  );
  if (error === undefined) throw new Error(`the fault ${id} is in the cache, and nobody has noticed`);
  const text = `${error?.message ?? error}`;
  if (!text.includes(says))
    throw new Error(`the fault ${id} was to be noticed by "${says}": ${text}`, { cause: error });
}

/** @param {string} id */
async function titleOf(id) {
  const reference = REFERENCES.find((one) => one.id === id);
  return reference === undefined ? 'has no row' : `${reference.why}: ${reference.file} › ${reference.test}`;
}

/** Throws where the test that is referred to is not there any more. @param {string} id */
export async function lookUp(id) {
  const reference = REFERENCES.find((one) => one.id === id);
  if (reference === undefined) throw new Error(`${id} has neither a program nor a test`);
  const text = await readFile(fileURLToPath(new URL(reference.file, root)), 'utf8');
  const isThere = text
    .split('\n')
    .some((line) => /^\s*(?:it|both)\b/.test(line) && line.includes(`'${reference.test}`));
  if (!isThere) throw new Error(`${reference.file} has no test "${reference.test}"`);
}

/**
 * @param {string} id
 * @param {string} title
 * @param {string} on
 * @param {() => Promise<void>} work
 * @returns {Promise<RowResult>}
 */
async function timed(id, title, on, work) {
  const start = Date.now();
  try {
    await work();
    return { id, title, on, passed: true, ms: Date.now() - start };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { id, title, on, passed: false, ms: Date.now() - start, error: text };
  }
}
