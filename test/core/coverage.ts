import * as abi from '../../src/core/abi.ts';
import { FAULT_REASONS } from '../../src/core/essence-core.ts';

/**
 * How often each export of the core was called, and what it answered: counted at the boundary itself, so that an export
 * that is new in the module and that no program calls is found without a list of names.
 *
 * ```text
 *   append       positive 812   0 40   -2 3   -3 91          numbers by their sign, statuses one by one
 *   tombstoneFlag  ...          NaN, done (no answer)
 * ```
 */
export type Tally = Record<string, Record<string, number>>;

/** Makes every instance from here on count its calls. Returns the counts, which go on growing. */
export function countCalls(): Tally {
  const tally: Tally = {};
  const Plain = WebAssembly.Instance;
  WebAssembly.Instance = new Proxy(Plain, {
    construct(target, [module, imports]: [WebAssembly.Module, WebAssembly.Imports?]): object {
      return { exports: counted(new target(module, imports).exports, tally) };
    },
  });
  return tally;
}

/** `Scan.Undecided`, the lowest. */
const STATUS_MIN = -17;

type Export = (...numbers: (number | undefined)[]) => unknown;

function counted(exports: WebAssembly.Exports, tally: Tally): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(exports)) {
    if (typeof value !== 'function') {
      result[name] = value;
      continue;
    }
    const call = value as Export;
    tally[name] ??= {};
    const counts = tally[name];
    // As many parameters as any export has: collecting them in an array would cost more than most calls.
    result[name] = (a?: number, b?: number, c?: number, d?: number, e?: number, f?: number, g?: number) => {
      const answer = call(a, b, c, d, e, f, g);
      const label = answerOf(name, answer);
      counts[label] = (counts[label] ?? 0) + 1;
      return answer;
    };
  }
  return result;
}

function answerOf(name: string, answer: unknown): string {
  if (typeof answer !== 'number') return 'done';
  // The reason of a refusal is an answer that has to be covered one by one.
  if (name === 'essenceFault') return `fault ${answer}`;
  if (answer > 0) return 'positive';
  // Statuses are small; what else is negative is data.
  return answer < STATUS_MIN || !(Number.isInteger(answer) || Number.isNaN(answer)) ? 'negative' : String(answer);
}

export function addTally(sum: Tally, more: Tally): void {
  for (const [name, counts] of Object.entries(more)) {
    sum[name] ??= {};
    const own = sum[name];
    for (const [answer, count] of Object.entries(counts)) own[answer] = (own[answer] ?? 0) + count;
  }
}

/** Answers that have to have been seen, besides one of each export: the refusals that `assembly/` documents. */
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  inputRegion: ['0'],
  essenceRules: ['0', '-2'],
  essenceRuleName: ['0', '-2'],
  essenceScan: ['positive', '-2', '-16', '-17'],
  essenceDigest: ['positive', '-2', '-16', '-17'],
  reserve: ['0', '-2'],
  reserveExact: ['0', '-2'],
  internKey: ['-2'],
  findKey: ['-1'],
  insertKey: ['-2'],
  removeKey: ['0', '-3'],
  keyAtRank: ['-1'],
  keyPointer: ['0'],
  append: ['-2', '-3'],
  headSlot: ['-1', '-3'],
  slotAt: ['-1', '-3'],
  commitRevision: ['NaN'],
  modRevision: ['NaN'],
  createRevision: ['NaN'],
  versionNumber: ['NaN'],
  leaseTag: ['NaN'],
  keyOfVersion: ['-1'],
  tombstoneFlag: ['-1'],
  nextCommit: ['0'],
  commitFromEnd: ['0'],
  compactStep: ['0', '-3'],
};

/** What the run has not shown: exports not called, refusals, status codes and reasons never met. */
export function missing(tally: Tally, module: WebAssembly.Module): readonly string[] {
  const found: string[] = [];
  for (const { name, kind } of WebAssembly.Module.exports(module)) {
    if (kind === 'function' && Object.keys(tally[name] ?? {}).length === 0) found.push(`${name} was never called`);
  }
  for (const [name, answers] of Object.entries(REFUSALS)) {
    for (const answer of answers) {
      if (tally[name]?.[answer] === undefined) found.push(`${name} never answered ${answer}`);
    }
  }
  const seen = new Set(Object.values(tally).flatMap((counts) => Object.keys(counts)));
  for (const [name, status] of Object.entries(abi)) {
    if (typeof status === 'number' && name.startsWith('STATUS_') && !seen.has(String(status))) {
      found.push(`no export ever answered ${name} (${status})`);
    }
  }
  for (const [fault, reason] of Object.entries(FAULT_REASONS)) {
    if (!seen.has(`fault ${fault}`)) found.push(`no text was ever refused because "${reason}" (fault ${fault})`);
  }
  return found;
}

/** One line an export of the module; other builds have some more. */
export function describe(tally: Tally, module: WebAssembly.Module): readonly string[] {
  const names = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  return Object.entries(tally)
    .filter(([name]) => names.has(name))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, counts]) => {
      const answers = Object.entries(counts).sort(([, left], [, right]) => right - left);
      return `  ${name.padEnd(24)} ${answers.map(([answer, count]) => `${answer}: ${count}`).join('   ')}`;
    });
}
