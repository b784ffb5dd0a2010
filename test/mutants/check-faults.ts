import { BadCommand, type Flags, readFlags, readInteger } from './bad-command.ts';
import { applyFault, type Fault, testsOf } from './fault.ts';
import { FAULTS } from './list/mod.ts';
import { SourcesCopy } from './sources-copy.ts';
import { type RunOutcome, runTests } from './vitest-run.ts';

const HELP = `npm run test:mutants -- [--only ID[,ID...]] [--tests PATH[,PATH...]] [--list] [--json] [--seed N]

Puts each fault of test/mutants/list/ into a copy of the sources and runs the tests that should catch it, up to the first
that fails. Ends with "N caught, 0 survived"; exit code 1 if one survived, or if the check itself could not be made.

  --only ID     only these faults
  --tests PATH  only these tests, instead of those that should catch a fault; --tests test/unit for instance
  --list        prints the list, runs nothing
  --json        prints the results as JSON
  --seed N      the chance of the property tests, 0 to 2147483647 (default 1)
  --help        this text`;

/** How long the tests may be silent without a fault. With one, a run that is so for several times as long as those hangs. */
const SILENCE_MS_MAX = 300_000;
const SLOWER = 3;
const SLOWER_MS = 30_000;
/** Copies that work at the same time: one for each core of the machine of the gate. */
const COPIES = 2;

interface Verdict {
  readonly id: string;
  readonly status: 'caught' | 'survived' | 'broken';
  /** The test that caught it, or what went wrong. */
  readonly detail: string;
}

/** The list made by hand; resolves with the exit code. */
export async function checkFaults(args: readonly string[], root: URL): Promise<number> {
  const flags = readFlags(args, ['--only', '--tests', '--seed'], ['--list', '--json', '--help']);
  if (flags.switches.has('--help')) {
    console.log(HELP);
    return 0;
  }
  const faults = choose(flags);
  const isJson = flags.switches.has('--json');
  if (flags.switches.has('--list')) {
    if (isJson) console.log(JSON.stringify(faults, null, 2));
    else for (const { id, file, why } of faults) console.log(`${id}  (${file})\n    ${why}`);
    return 0;
  }
  const seed = readInteger(flags, '--seed', 0, 0x7fffffff) ?? 1;
  const say = isJson ? (line: string) => console.error(line) : (line: string) => console.log(line);
  const verdicts = await judgeAll(faults, root, seed, say);
  const count = (status: Verdict['status']) => verdicts.filter((one) => one.status === status).length;
  const [caught, survived, broken] = [count('caught'), count('survived'), count('broken')];
  if (isJson) console.log(JSON.stringify({ caught, survived, broken, faults: verdicts }, null, 2));
  say(`${caught} caught, ${survived} survived${broken === 0 ? '' : `, ${broken} could not be judged`}`);
  return caught === faults.length && caught > 0 ? 0 : 1;
}

function choose(flags: Flags): readonly Fault[] {
  const ids = FAULTS.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`Cannot check the faults: two have the id ${twice}`);
  const only = flags.values.get('--only')?.split(',');
  const unknown = only?.find((id) => !ids.includes(id));
  if (unknown !== undefined) throw new BadCommand(`there is no fault "${unknown}"`, '--list tells which there are');
  const tests = flags.values.get('--tests')?.split(',');
  const chosen = only === undefined ? FAULTS : FAULTS.filter(({ id }) => only.includes(id));
  return tests === undefined ? chosen : chosen.map((fault) => ({ ...fault, tests }));
}

async function judgeAll(
  faults: readonly Fault[],
  root: URL,
  seed: number,
  say: (line: string) => void,
): Promise<readonly Verdict[]> {
  const copies = Array.from({ length: Math.min(COPIES, faults.length) }, () => new SourcesCopy(root));
  try {
    const [first] = copies;
    if (first === undefined) return [];
    checkPlaces(faults, first);
    const tests = [...new Set(faults.flatMap(testsOf))];
    let silenceMs = 0;
    const onSilence = (longestMs: number) => {
      silenceMs = longestMs;
    };
    const clean = await runTests({ folder: first.folder, tests, seed, silenceMsMax: SILENCE_MS_MAX, onSilence });
    const silenceMsMax = SLOWER * silenceMs + SLOWER_MS;
    if (clean.type !== 'passed') throw new Error(`Cannot check the faults: without any, ${tell(clean)}`);
    const verdicts: Verdict[] = [];
    const left = [...faults];
    const work = async (copy: SourcesCopy) => {
      for (let fault = left.shift(); fault !== undefined; fault = left.shift()) {
        const verdict = await judge(fault, copy, seed, silenceMsMax);
        verdicts.push(verdict);
        const { status, id, detail } = verdict;
        say(status === 'caught' ? `caught    ${id}  by ${detail}` : `${status.toUpperCase()}  ${id}  ${detail}`);
      }
    };
    await Promise.all(copies.map(work));
    return verdicts;
  } finally {
    for (const copy of copies) copy.remove();
  }
}

/** Before anything runs: a list that is out of date is a failure of its own. Throws with all that is wrong. */
function checkPlaces(faults: readonly Fault[], copy: SourcesCopy): void {
  const problems = faults.flatMap((fault) => {
    try {
      applyFault(fault, copy.read(fault.file));
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  if (problems.length > 0) throw new Error(`test/mutants/list is out of date:\n${problems.join('\n')}`);
}

async function judge(fault: Fault, copy: SourcesCopy, seed: number, silenceMsMax: number): Promise<Verdict> {
  const text = copy.read(fault.file);
  copy.write(fault.file, applyFault(fault, text));
  const outcome = await runTests({ folder: copy.folder, tests: testsOf(fault), seed, silenceMsMax });
  copy.write(fault.file, text);
  const { id } = fault;
  if (outcome.type === 'failed') return { id, status: 'caught', detail: outcome.by };
  return { id, status: outcome.type === 'passed' ? 'survived' : 'broken', detail: tell(outcome) };
}

function tell(outcome: RunOutcome): string {
  if (outcome.type === 'passed') return `all ${outcome.tests} tests passed`;
  return outcome.type === 'failed' ? `this fails: ${outcome.by}` : outcome.reason;
}
