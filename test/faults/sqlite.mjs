// @ts-check
// What becomes of files of SQLite when something goes wrong: processes that die, that share, that run out of disk.
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} World
 * @property {string} folder
 * @property {string} dist
 * @property {string} command a program that runs JavaScript
 * @property {readonly string[]} args of that, before the script
 * @property {'node:sqlite' | 'bun:sqlite' | 'better-sqlite3' | 'node-sqlite3-wasm'} library
 * @property {(file: string) => void} [recover] what somebody has to do by hand when a process was killed
 * @property {() => number} random
 * @property {(line: string) => void} say
 */

/**
 * Of each pair the revisions of its put and of its delete, 0 where there was none; and whether its delete was sent.
 *
 * @typedef {Map<string, { put: number, deleted: number, isLeaving: boolean }>} Acknowledged
 */

/** @param {string} name */
const script = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Runs a script; with `killAfterMs` it is killed so long after it has said that it is ready.
 *
 * @param {World} world
 * @param {string} name
 * @param {readonly string[]} args
 * @param {{ killAfterMs?: number, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ lines: string[], code: number | null, errors: string }>}
 */
function runScript({ command, args: before, dist }, name, args, { killAfterMs, env = {} } = {}) {
  const child = spawn(command, [...before, script(name), dist, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    if (output === '' && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      // What a killed process had not finished saying was not acknowledged.
      const end = output.lastIndexOf('\n');
      resolve({ lines: end < 0 ? [] : output.slice(0, end).split('\n'), code, errors });
    });
  });
}

/**
 * @param {World} world
 * @param {string} file
 */
async function read(world, file) {
  const { lines, errors } = await runScript(world, 'sqlite-reader.mjs', [file, world.library]);
  const [line] = lines;
  if (line === undefined) throw new Error(`Cannot read ${file}: ${errors}`);
  return /** @type {{ identity: string, revision: number, next: number, rows: { key: string, name: string, modRevision: number }[] }} */ (
    JSON.parse(line)
  );
}

/**
 * What was acknowledged, line by line.
 *
 * @param {readonly string[]} lines
 * @param {Acknowledged} acknowledged
 */
function note(lines, acknowledged) {
  for (const line of lines) {
    const [what, name = '', revision] = line.split(' ');
    const told = acknowledged.get(name) ?? { put: 0, deleted: 0, isLeaving: false };
    if (what === 'put') acknowledged.set(name, { ...told, put: Number(revision) });
    else if (what === 'deleting') acknowledged.set(name, { ...told, isLeaving: true });
    else if (what === 'delete') acknowledged.set(name, { ...told, deleted: Number(revision) });
  }
}

/**
 * @param {Awaited<ReturnType<typeof read>>} found
 * @param {Acknowledged} acknowledged
 * @param {string} label
 */
function check({ revision, next, rows }, acknowledged, label) {
  if (next !== revision + 1) throw new Error(`${label}: the write behind revision ${revision} was ${next}`);
  /** @type {Map<string, { key: string, name: string, modRevision: number }[]>} */
  const pairs = new Map();
  for (const row of rows) {
    if (row.key === 'opened') continue;
    const name = row.key.slice(2);
    if (row.name !== name) throw new Error(`${label}: ${row.key} has the value of ${row.name}`);
    pairs.set(name, [...(pairs.get(name) ?? []), row]);
  }
  for (const [name, pair] of pairs) {
    if (pair.length !== 2 || pair[0]?.modRevision !== pair[1]?.modRevision) {
      throw new Error(`${label}: half a transaction of ${name}: ${JSON.stringify(pair)}`);
    }
    const told = acknowledged.get(name);
    if (told === undefined) continue;
    if (told.deleted > 0) throw new Error(`${label}: ${name} was deleted at ${told.deleted}, and is there`);
    if (told.put !== pair[0]?.modRevision) {
      throw new Error(`${label}: ${name} was put at ${told.put}, and is of ${pair[0]?.modRevision}`);
    }
  }
  for (const [name, { put, deleted, isLeaving }] of acknowledged) {
    if (Math.max(put, deleted) > revision) throw new Error(`${label}: revision ${revision} is below that of ${name}`);
    if (!pairs.has(name) && !isLeaving) throw new Error(`${label}: ${name}, acknowledged at ${put}, is lost`);
  }
}

/**
 * kill -9 of a writer at random moments, on one and the same file.
 *
 * @param {World} world
 * @param {number} kills
 */
export async function killWriters(world, kills) {
  const file = join(world.folder, 'killed.db');
  /** @type {Acknowledged} */
  const acknowledged = new Map();
  let identity;
  // A busy machine kills some before they have written anything: others take their place.
  for (let kill = 0; kill < kills || (acknowledged.size < kills && kill < 5 * kills); kill++) {
    const killAfterMs = Math.floor(world.random() * 120);
    const { lines, errors } = await runScript(world, 'sqlite-writer.mjs', [file, world.library, String(kill)], {
      killAfterMs,
    });
    if (lines[0] !== 'open') throw new Error(`Cannot write to ${file}: ${errors}`);
    if (lines.some((line) => line.startsWith('refused'))) throw new Error(lines.join('\n'));
    note(lines, acknowledged);
    world.recover?.(file);
    const found = await read(world, file);
    check(found, acknowledged, `kill ${kill}`);
    identity ??= found.identity;
    if (found.identity !== identity) throw new Error(`kill ${kill}: the identity has changed`);
    if (kill % 20 === 19) world.say(`kill ${kill + 1} of ${kills}: ${acknowledged.size} pairs acknowledged, all there`);
  }
  if (acknowledged.size < kills) throw new Error(`only ${acknowledged.size} pairs were written between ${kills} kills`);
}

/**
 * Several processes on one file: no number is lost, and everybody sees everything once and in order.
 *
 * @param {World} world
 * @param {number} count for each process
 */
export async function shareFile(world, count) {
  const file = join(world.folder, 'shared.db');
  await read(world, file);
  const names = ['1', '2', '3'];
  const running = names.map((name) =>
    runScript(world, 'sqlite-client.mjs', [file, world.library, name, String(count)]),
  );
  // The last to be done ends all of them, by a process of its own: those who watch do not have to be those who write.
  await runScript(world, 'sqlite-closer.mjs', [file, world.library, String(names.length)]);
  const ended = await Promise.all(running);
  const seen = ended.map(({ lines, errors }, index) => {
    const line = lines.at(-1);
    if (line === undefined) throw new Error(`process ${names[index]} has ended early: ${errors}`);
    return /** @type {{ conflicts: number, seen: [number, string, string][] }} */ (JSON.parse(line));
  });
  const numbers = seen[0]?.seen.filter(([, key]) => key === 'number').map(([, , value]) => Number(value)) ?? [];
  const total = names.length * count;
  if (numbers.length !== total || numbers.some((number, index) => number !== index + 1)) {
    throw new Error(`${total} numbers were to be counted, ${numbers.length} were seen, the last ${numbers.at(-1)}`);
  }
  for (const [index, one] of seen.entries()) {
    if (JSON.stringify(one.seen) !== JSON.stringify(seen[0]?.seen)) {
      throw new Error(`processes 1 and ${names[index]} have not seen the same`);
    }
  }
  const conflicts = seen.reduce((sum, one) => sum + one.conflicts, 0);
  world.say(`${names.length} processes counted to ${total} with ${conflicts} conflicts, and saw the same`);
}

/**
 * No room any more: the error is typed, what was acknowledged is there, and with room again it goes on.
 *
 * @param {World} world
 */
export async function fillFile(world) {
  const file = join(world.folder, 'full.db');
  const env = { FILE_BYTES_MAX: String(1_048_576) };
  const { lines, errors } = await runScript(world, 'sqlite-writer.mjs', [file, world.library, 'full'], { env });
  checkRefusal(lines, errors, 'BACKEND false ', 'cannot grow');
  await checkWhole(world, file, lines, 'the full file');
}

/**
 * The same on a disk of its own, if this process may make one; then that disk as one that can only be read.
 *
 * @param {World} world
 * @returns {Promise<string | undefined>} why it could not be done
 */
export async function fillDisk(world) {
  const disk = join(world.folder, 'disk');
  await mkdir(disk);
  const mounted = await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'plimsoll', disk]);
  if (mounted !== undefined) return mounted;
  try {
    const file = join(disk, 'full.db');
    const { lines, errors } = await runScript(world, 'sqlite-writer.mjs', [file, world.library, 'disk']);
    checkRefusal(lines, errors, 'BACKEND false ', 'cannot grow');
    await runCommand('mount', ['-o', 'remount,size=16m', disk]);
    await checkWhole(world, file, lines, 'the full disk');
    const before = await readFile(file);
    await runCommand('mount', ['-o', 'remount,ro', disk]);
    const denied = await runScript(world, 'sqlite-writer.mjs', [file, world.library, 'ro']);
    if (!/BackendError|refused BACKEND true/.test(denied.lines.join('\n') + denied.errors)) {
      throw new Error(
        `a disk that can only be read: ${denied.lines.slice(0, 3).join('; ')} ${denied.errors.slice(0, 500)}`,
      );
    }
    if (!before.equals(await readFile(file))) throw new Error('a file on a disk that can only be read has changed');
    world.say('a full disk and one that can only be read: typed errors, nothing lost');
    return undefined;
  } finally {
    await runCommand('umount', [disk]);
  }
}

/**
 * Files that are none of a store: refused by the library at hand, too, and left as they are.
 *
 * @param {World} world
 */
export async function refuseForeign(world) {
  const file = join(world.folder, 'foreign.db');
  await writeFile(file, 'this is no database '.repeat(500));
  const before = await readFile(file);
  const { errors } = await runScript(world, 'sqlite-writer.mjs', [file, world.library, 'x']);
  if (!errors.includes('BackendError') || !errors.includes('is no SQLite file')) {
    throw new Error(`a foreign file: ${errors.slice(0, 500)}`);
  }
  if (!before.equals(await readFile(file))) throw new Error('a foreign file has changed');
}

/**
 * @param {readonly string[]} lines
 * @param {string} errors
 * @param {string} start
 * @param {string} reason
 */
function checkRefusal(lines, errors, start, reason) {
  const last = lines.at(-1) ?? '';
  if (last.startsWith(`refused ${start}`) && last.includes(reason)) return;
  throw new Error(`expected "${reason}", got ${JSON.stringify(last)} ${errors.slice(0, 500)}`);
}

/**
 * @param {World} world
 * @param {string} file
 * @param {readonly string[]} lines
 * @param {string} label
 */
async function checkWhole(world, file, lines, label) {
  const acknowledged = new Map();
  note(lines, acknowledged);
  if (acknowledged.size === 0) throw new Error(`${label}: nothing was written before it was full`);
  check(await read(world, file), acknowledged, label);
  world.say(`${label}: ${acknowledged.size} pairs acknowledged, all there`);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>} what it said when it failed
 */
function runCommand(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : said.trim() || `${command} ended with ${code}`));
  });
}
