import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BadCommand, readFlags, readInteger } from './bad-command.ts';
import { changedLines } from './changed-lines.ts';
import { type Mutant, runStryker } from './stryker.ts';
import { formatSurvivor, isSame, type ListedSurvivor, parseSurvivors, type Survivor, survivorOf } from './survivors.ts';

/** The store with its watches and its leases; locks and writer leases, in the same folder as these, have another proof. */
const FILES = [
  'src/store/**/*.ts',
  'src/watch/**/*.ts',
  'src/lease/lessor.ts',
  'src/lease/lease-walk.ts',
  'src/lease/expiry-queue.ts',
  'src/lease/due-timer.ts',
  'src/lease/keep-alive.ts',
  'src/lease/renewals.ts',
  'src/types/lease-id.ts',
];
const TESTS = [
  'test/unit/store/**/*.test.ts',
  'test/unit/watch/**/*.test.ts',
  'test/unit/lease/due-timer.test.ts',
  'test/unit/lease/expiry-queue.test.ts',
  'test/unit/lease/keep-alive.test.ts',
  'test/unit/lease/lease-id.test.ts',
  'test/unit/lease/lessor*.test.ts',
  'test/unit/lease/renewals.test.ts',
  'test/unit/lease/renewed-ttl.test.ts',
  // What a store hands on to locks and elections, and what keeps a lease alive.
  'test/unit/lock/session.test.ts',
  'test/unit/lock/mutex.test.ts',
  'test/unit/lock/election.test.ts',
  'test/unit/lock/election-resume.test.ts',
  // A replica is the only user of some parts of the store: checks of what a backend sent, for instance.
  'test/unit/cache/**/*.test.ts',
  'test/mutants/cases.test.ts',
  'test/property/store*.test.ts',
  'test/property/watch*.test.ts',
];
const KILLED_PERCENT_MIN = 95;
/** Where more than this fail outside of any test, the tests are at fault. */
const ERRORS_PERCENT_MAX = 5;

const HELP = `npm run test:mutation -- [--files GLOB[,GLOB...]] [--since COMMIT] [--tests GLOB[,GLOB...]] [--sample PERCENT]
                        [--seed N] [--listed] [--json]

Makes all mutants of ${FILES.join(', ')}: comparisons, conditions, off by one, arithmetic, removed
statements and blocks, swapped branches, constants. Runs the tests that reach each one, up to the first that fails. At
least ${KILLED_PERCENT_MIN} % have to be killed, and each that survives has to be in test/mutants/survivors.md with its reason.
Those of the list are not run again, and count as survivors: they would run all tests, which takes most of the time.
Progress is on stderr.

  --files GLOB      only these sources; the share that is killed is then told, not judged
  --since COMMIT    of these files, or of --files, only lines that differ from that commit; the same
  --tests GLOB      only these tests; the same
  --sample PERCENT  only about so many mutants in a hundred, 1 to 100; the same
  --seed N          the chance of the sample and of the property tests, 0 to 2147483647 (default 1)
  --listed          runs those of the list, too, and tells which of them are killed now
  --json            prints the result as JSON
  --help            this text`;

interface FileCounts {
  mutants: number;
  killed: number;
  timeouts: number;
  survived: number;
  /** Failed outside of any test, by an unhandled rejection for instance: neither killed nor survived. */
  errors: number;
}

/** All mutants that a machine makes; resolves with the exit code. */
export async function checkMutants(args: readonly string[], root: URL): Promise<number> {
  const flags = readFlags(
    args,
    ['--files', '--since', '--tests', '--sample', '--seed'],
    ['--listed', '--json', '--help'],
  );
  if (flags.switches.has('--help')) {
    console.log(HELP);
    return 0;
  }
  const files = flags.values.get('--files')?.split(',');
  const since = flags.values.get('--since');
  const mutated = since === undefined ? (files ?? FILES) : changedLines(root, since, files ?? FILES);
  if (mutated.length === 0) throw new BadCommand(`no line of these files has changed since ${since}`);
  const tests = flags.values.get('--tests')?.split(',');
  const percent = readInteger(flags, '--sample', 1, 100) ?? 100;
  const seed = readInteger(flags, '--seed', 0, 0x7fffffff) ?? 1;
  // Read before the run: it takes its time, and the sources may change meanwhile.
  const listed = parseSurvivors(readFileSync(new URL('test/mutants/survivors.md', root), 'utf8'));
  const texts = new Map<string, string>();
  const nameOf = (mutant: Mutant): string => relative(fileURLToPath(root), mutant.fileName);
  const inLines = (mutant: Mutant): Survivor => {
    const fileName = nameOf(mutant);
    const text = texts.get(fileName) ?? readFileSync(new URL(fileName, root), 'utf8');
    texts.set(fileName, text);
    return survivorOf({ ...mutant, fileName }, text);
  };
  const isListed = (mutant: Mutant): boolean => listed.some((one) => isSame(one, inLines(mutant)));
  const isLeftOut = flags.switches.has('--listed') ? () => false : isListed;
  const results = await runStryker({ root, files: mutated, tests: tests ?? TESTS, seed, percent, isLeftOut });
  const survivors = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage').map(inLines);
  const isWhole = files === undefined && since === undefined && tests === undefined && percent === 100;
  const judged = results.map((one) => ({ file: nameOf(one), status: one.status }));
  const report = makeReport(judged, survivors, listed, isWhole);
  if (flags.switches.has('--json')) console.log(JSON.stringify(report, null, 2));
  else printReport(report);
  return report.failures.length === 0 ? 0 : 1;
}

interface Report {
  readonly files: Readonly<Record<string, FileCounts>>;
  readonly total: FileCounts;
  readonly killedPercent: number;
  readonly unlisted: readonly Survivor[];
  /**
   * In the list, but no longer among those that survive; known after a whole run only. Without `--listed` that is those which
   * are no mutants any more.
   */
  readonly outdated: readonly Survivor[];
  readonly failures: readonly string[];
}

function makeReport(
  results: readonly { readonly file: string; readonly status: string }[],
  survivors: readonly Survivor[],
  listed: readonly ListedSurvivor[],
  isWhole: boolean,
): Report {
  const total = noCounts();
  const files: Record<string, FileCounts> = {};
  for (const { file, status } of results) {
    files[file] ??= noCounts();
    count(files[file], status);
    count(total, status);
  }
  const judged = total.mutants - total.errors;
  const killedPercent = (100 * (total.killed + total.timeouts)) / Math.max(judged, 1);
  const unlisted = survivors.filter((one) => !listed.some((other) => isSame(one, other)));
  const outdated = isWhole ? listed.filter((one) => !survivors.some((other) => isSame(one, other))) : [];
  const failures: string[] = [];
  if (total.errors > (total.mutants * ERRORS_PERCENT_MAX) / 100) {
    failures.push(`${total.errors} of ${total.mutants} could not be judged`);
  }
  if (isWhole && killedPercent < KILLED_PERCENT_MIN) failures.push(`less than ${KILLED_PERCENT_MIN} % were killed`);
  if (unlisted.length > 0) failures.push(`${unlisted.length} that survived are not in survivors.md`);
  return { files, total, killedPercent, unlisted, outdated, failures };
}

function noCounts(): FileCounts {
  return { mutants: 0, killed: 0, timeouts: 0, survived: 0, errors: 0 };
}

function count(counts: FileCounts, status: string): void {
  counts.mutants++;
  if (status === 'Killed') counts.killed++;
  else if (status === 'Timeout') counts.timeouts++;
  else if (status === 'Survived' || status === 'NoCoverage') counts.survived++;
  else counts.errors++;
}

function printReport({ files, total, killedPercent, unlisted, outdated, failures }: Report): void {
  const row = (name: string, { mutants, killed, timeouts, survived, errors }: FileCounts) =>
    `${name.padEnd(34)} ${[mutants, killed, timeouts, survived, errors].map((cell) => String(cell).padStart(9)).join('')}`;
  console.log(`${''.padEnd(34)}   mutants   killed timeouts survived   errors`);
  for (const name of Object.keys(files).sort()) console.log(row(name, files[name] ?? noCounts()));
  console.log(row('all', total));
  if (unlisted.length > 0) console.log('\nNot in test/mutants/survivors.md (the reason goes below each):');
  for (const file of new Set(unlisted.map((one) => one.file))) {
    console.log(`\n## ${file}\n`);
    for (const one of unlisted) if (one.file === file) console.log(formatSurvivor(one));
  }
  if (outdated.length > 0) console.log('\nListed, but killed now, or gone; take them out of the list:');
  for (const { file, before, after } of outdated) console.log(`  ${file}: ${before} -> ${after}`);
  const end = failures.length === 0 ? 'passed' : `failed: ${failures.join('; ')}`;
  console.log(`\n${killedPercent.toFixed(1)} % of ${total.mutants - total.errors} mutants killed: ${end}`);
}
