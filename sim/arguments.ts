import { PARTS } from './suite.ts';

export interface Options {
  readonly isHelp: boolean;
  readonly isJson: boolean;
  readonly isSmoke: boolean;
  readonly seeds: number | undefined;
  readonly cells: readonly string[];
}

export const HELP = `Usage: npm run sim -- writer-lease [options]

Simulates many replicas that write the same keys, in virtual time: without a lease (naive), with the classic lease, and
with the default one by its watch alone (plimsoll) or with a read hook (plimsoll+read). Prints a table for each group,
p50 / p90 / max over the seeds, and each target with what came out. The same seeds give the same figures.

  --json          one JSON document on standard output instead of tables
  --cells WORDS   only cells whose names have these words, separated by commas:
                  a part (${PARTS.join(', ')}), a number (G9), a world (N=5, M=100, slow, shuffled), a strategy
  --seeds N       seeds of each cell, 1 to 10000 (30; regressions up to 90)
  --smoke         a minute instead of half an hour: one seed, no large cells
  --help          this

Progress goes to standard error. Exit code: 0 all targets met; 1 one of the default strategy missed, or stopped by
Ctrl-C after printing what there was; 2 wrong use.
`;

/** Throws TypeError and RangeError with what is wrong. */
export function parseArguments(args: readonly string[]): Options {
  let [isHelp, isJson, isSmoke] = [false, false, false];
  let seeds: number | undefined;
  let subject: string | undefined;
  const cells: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const [name = '', inline] = splitArgument(args[index] ?? '');
    if (name === '--help') isHelp = true;
    else if (name === '--json') isJson = true;
    else if (name === '--smoke') isSmoke = true;
    else if (name === '--seeds') seeds = parseSeeds(inline ?? args[++index]);
    else if (name === '--cells') cells.push(...parseCells(inline ?? args[++index]));
    else if (subject === undefined && !name.startsWith('-')) subject = name;
    else throw new TypeError(`Cannot run the simulation: unknown argument "${args[index]}"`);
  }
  if (!isHelp && subject !== 'writer-lease') {
    throw new TypeError(`Cannot run the simulation: what to simulate is "${subject ?? ''}", allowed is writer-lease`);
  }
  return { isHelp, isJson, isSmoke, seeds, cells };
}

/** `--name=value`; a word of a cell has an equals sign of its own. */
function splitArgument(text: string): readonly [string, string | undefined] {
  const place = text.startsWith('--') ? text.indexOf('=') : -1;
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)];
}

function parseSeeds(text: string | undefined): number {
  const seeds = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && seeds >= 1 && seeds <= 10_000) return seeds;
  throw new RangeError(`Cannot run the simulation: --seeds is "${text}", not an integer from 1 to 10000`);
}

function parseCells(text: string | undefined): readonly string[] {
  const words = (text ?? '').split(',').filter((word) => word !== '');
  if (words.length > 0) return words;
  throw new TypeError('Cannot run the simulation: --cells needs words, separated by commas');
}
