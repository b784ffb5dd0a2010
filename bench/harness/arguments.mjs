// @ts-check
import { parseArgs } from 'node:util';

/**
 * @typedef {object} Options
 * @property {string} suite '' with `help` and `list`
 * @property {boolean} help
 * @property {boolean} list
 * @property {boolean} json
 * @property {boolean} quick
 * @property {number} rounds
 * @property {number} processes
 * @property {string[]} cases Beginnings of case names; empty for all.
 * @property {string} runtime What the processes run in.
 */

/** Wrong use of the command: exit code 2. */
export class UsageError extends Error {}

const ROUNDS_MAX = 99;
const PROCESSES_MAX = 20;

/**
 * Throws `UsageError` for what the command does not know.
 *
 * @param {readonly string[]} args
 * @param {readonly string[]} suites
 * @param {readonly [string, ...string[]]} [runtimes] the first is the default
 * @returns {Options}
 */
export function parseOptions(args, suites, runtimes = ['node']) {
  const { values, positionals } = parse(args);
  const { help = false, list = false, json = false, quick = false, case: cases = [] } = values;
  const rounds = parseCount('--rounds', values.rounds, quick ? 3 : 7, ROUNDS_MAX);
  const processes = parseCount('--processes', values.processes, quick ? 1 : 3, PROCESSES_MAX);
  const runtime = parseRuntime(values.runtime, runtimes);
  const [suite = '', ...more] = positionals;
  const known = `there are ${suites.join(', ')}`;
  if (more.length > 0)
    throw new UsageError(`Cannot run the benchmarks: one suite at a time (${positionals.join(' ')})`);
  if (suite !== '' && !suites.includes(suite)) {
    throw new UsageError(`Cannot run the benchmarks: there is no suite "${suite}"; ${known}`);
  }
  if (suite === '' && !help && !list) throw new UsageError(`Cannot run the benchmarks: which suite? ${known}`);
  return { suite, help, list, json, quick, rounds, processes, cases, runtime };
}

/** @param {readonly string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        list: { type: 'boolean' },
        json: { type: 'boolean' },
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        processes: { type: 'string' },
        case: { type: 'string', multiple: true },
        runtime: { type: 'string', multiple: true },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Cannot run the benchmarks: ${reason}`);
  }
}

/**
 * @param {string} flag
 * @param {string | undefined} text
 * @param {number} fallback
 * @param {number} max
 */
function parseCount(flag, text, fallback, max) {
  if (text === undefined) return fallback;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
  throw new UsageError(`Cannot run the benchmarks: ${flag} is "${text}", allowed is 1 to ${max}`);
}

/**
 * One at a time: the document of a run is about one runtime. The last of several would win silently otherwise.
 *
 * @param {readonly string[] | undefined} names
 * @param {readonly [string, ...string[]]} runtimes
 */
function parseRuntime(names, runtimes) {
  const [name = runtimes[0], ...more] = names ?? [];
  if (more.length > 0) {
    throw new UsageError(`Cannot run the benchmarks: one runtime at a time (${[name, ...more].join(' ')})`);
  }
  if (runtimes.includes(name)) return name;
  throw new UsageError(`Cannot run the benchmarks: --runtime is "${name}", there are ${runtimes.join(', ')}`);
}

/**
 * The cases whose names start with one of the beginnings. Throws `UsageError` for a beginning that no name has.
 *
 * @param {readonly string[]} names
 * @param {readonly string[]} beginnings
 * @returns {string[]}
 */
export function chooseCases(names, beginnings) {
  const unknown = beginnings.find((beginning) => !names.some((name) => name.startsWith(beginning)));
  if (unknown !== undefined) {
    throw new UsageError(`Cannot run the benchmarks: no case starts with "${unknown}"; see --list`);
  }
  if (beginnings.length === 0) return [...names];
  return names.filter((name) => beginnings.some((beginning) => name.startsWith(beginning)));
}
