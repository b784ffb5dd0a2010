// @ts-check
// What a user of node-sqlite3-wasm does by hand when a process was killed (docs/sqlite.md).
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';

const CHECK = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1]);
  const [row] = database.prepare('PRAGMA quick_check').all();
  if (row.quick_check !== 'ok') throw new Error(row.quick_check);
`;

/**
 * Takes the lock of a dead process away, and has another program undo what it had not completed.
 *
 * @param {string} file
 * @param {string} program a Node that has `node:sqlite`
 */
export function recover(file, program) {
  rmSync(`${file}.lock`, { recursive: true, force: true });
  if (!existsSync(`${file}-journal`)) return;
  const { status, stderr } = spawnSync(program, ['-e', CHECK, file], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot undo what is in ${file}: ${stderr}`);
}
