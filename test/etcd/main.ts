import { readFile } from 'node:fs/promises';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { cleanUpAtExit } from './cleanup.ts';
import { checkPage, DIFFERENCES, type DifferenceId } from './differences.ts';
import { EtcdSubject } from './etcd-subject.ts';
import { STREAM_BROKE } from './etcd-watch.ts';
import { createProgram } from './generator.ts';
import { findOrInstallEtcd } from './install.ts';
import { MemorySubject } from './memory-subject.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { PROBES } from './probes.ts';
import { type Program, printProgram } from './program.ts';
import { Mismatch, runProgram, type Stores } from './runner.ts';
import { type EtcdServer, startEtcd } from './server.ts';
import { shrink } from './shrink.ts';

/** Failing programs that are cut down and printed; a run with more says nothing new. */
const FAILURES_MAX = 3;
const PROGRESS_MS = 5_000;
const DEATH_MS = 200;
/** What every run of some size has to have met: a generator that stopped making it would go unnoticed otherwise. */
const MARKS_NEEDED = [
  ...['put: ok', 'put: conflict', 'put: empty key', 'delete: ok', 'delete: conflict', 'delete: empty key'],
  ...['txn: ok', 'txn: else', 'txn: duplicate key', 'txn: too many operations', 'txn: empty key'],
  ...['get: ok', 'get: compacted', 'get: future revision', 'get: empty key'],
  ...['range: ok', 'range: compacted', 'range: future revision', 'range: more', 'page: ok', 'page: compacted'],
  ...['compact: ok', 'compact: compacted', 'compact: future revision'],
  ...[
    'watch: now',
    'watch: past',
    'watch: future',
    'watch: initial',
    'watch: compacted',
    'watch: empty range',
    'cancel',
  ],
  ...['event: put', 'event: put with prevKv', 'event: delete', 'event: delete with prevKv'],
];
/** Below, a rare thing may not happen by chance. */
const COVERAGE_PROGRAMS_MIN = 500;

/**
 * Runs the comparison; resolves with the exit code, and rejects for wrong arguments only. `root` is the folder of the
 * repository.
 */
export async function main(args: readonly string[], root: URL): Promise<number> {
  const options = parseOptions(args);
  if (options.isHelp) {
    console.log(USAGE);
    return 0;
  }
  cleanUpAtExit();
  try {
    return await compare(options, root);
  } catch (error) {
    console.error(explain(error));
    console.log('0 passed, 1 failed');
    return 1;
  }
}

async function compare(options: Options, root: URL): Promise<number> {
  console.log(
    `seed ${options.seed} (repeat with: npm run test:etcd -- --programs ${options.programs} --seed ${options.seed})`,
  );
  const command = options.etcd ?? (await findOrInstallEtcd());
  const server = await startEtcd(command);
  try {
    console.log(`etcd ${server.version}, one server, one program at a time`);
    return await new Comparison(options, server).run(root);
  } finally {
    server.stop();
  }
}

class Comparison {
  readonly #options: Options;
  readonly #server: EtcdServer;
  readonly #stores: Stores;
  readonly #marks = new Map<string, number>();
  readonly #seen = new Map<DifferenceId, number>();
  #passed = 0;
  #failed = 0;

  constructor(options: Options, server: EtcdServer) {
    this.#options = options;
    this.#server = server;
    this.#stores = { memory: new MemorySubject(), etcd: new EtcdSubject(server.gateway) };
  }

  async run(root: URL): Promise<number> {
    await this.#check('docs/etcd-differences.md', async () => {
      const problems = checkPage(await readFile(new URL('docs/etcd-differences.md', root), 'utf8'));
      if (problems.length > 0) throw new Error(problems.join('; '));
    });
    for (const { name, run } of PROBES) {
      await this.#check(name, () => run(this.#server.gateway, (id) => this.#count(this.#seen, id)));
    }
    try {
      await this.#programs();
    } catch (error) {
      this.#failed++;
      console.log(`FAILED the run: ${explain(error)}`);
    }
    this.#report();
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    return this.#failed === 0 ? 0 : 1;
  }

  async #programs(): Promise<void> {
    const { programs, program: only, seed } = this.#options;
    const start = performance.now();
    let shown = start;
    for (let number = only ?? 1; number <= (only ?? programs); number++) {
      await this.#program(number, createProgram(createSeededRandom(programSeed(seed, number))));
      if (this.#failed >= FAILURES_MAX) {
        console.log(`${FAILURES_MAX} failures: the programs after ${number} were not run`);
        return;
      }
      if (performance.now() - shown < PROGRESS_MS) continue;
      shown = performance.now();
      console.error(`${number} of ${programs} programs, ${((shown - start) / 1000).toFixed(0)} s`);
    }
    if (only === undefined && programs >= COVERAGE_PROGRAMS_MIN) {
      await this.#check('coverage', async () => {
        const missing = MARKS_NEEDED.filter((mark) => !this.#marks.has(mark));
        if (missing.length > 0) throw new Error(`never happened: ${missing.join(', ')}`);
      });
    }
  }

  async #program(number: number, program: Program): Promise<void> {
    const failure = await this.#failure(program, true);
    if (failure === undefined) {
      this.#passed++;
      return;
    }
    this.#failed++;
    console.log(`\nFAILED program ${number}: cutting it down from ${program.steps.length} steps`);
    const least = await shrink(program, failure, (candidate) => this.#failure(candidate, false));
    console.log(`${printProgram(least.program)}\n  ${least.failure.message}`);
    console.log(`  repeat with: npm run test:etcd -- --seed ${this.#options.seed} --program ${number}\n`);
  }

  /** How a program fails. What is no difference (etcd died, an error in this harness) ends the run. */
  async #failure(program: Program, isCounted: boolean): Promise<Mismatch | undefined> {
    const mark = (name: string) => isCounted && this.#count(this.#marks, name);
    const seen = (id: DifferenceId) => isCounted && this.#count(this.#seen, id);
    try {
      await runProgram(program, this.#stores, mark, seen);
      return undefined;
    } catch (error) {
      if (error instanceof Mismatch && !error.message.includes(STREAM_BROKE)) return error;
      // The end of a process may be told after that of its connections.
      await new Promise((resolve) => setTimeout(resolve, DEATH_MS));
      const death = this.#server.death();
      if (death !== undefined) throw new Error(`Cannot go on: ${death}`);
      if (error instanceof Mismatch) return error;
      throw error;
    }
  }

  async #check(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#passed++;
    } catch (error) {
      this.#failed++;
      console.log(`FAILED ${name}: ${explain(error)}`);
    }
  }

  #count<K>(counts: Map<K, number>, name: K): void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  #report(): void {
    const marks = [...this.#marks].sort(([left], [right]) => (left < right ? -1 : 1));
    console.log(`what happened: ${marks.map(([mark, count]) => `${mark} ${count}`).join(', ')}`);
    for (const [id, what] of Object.entries(DIFFERENCES)) {
      const times = this.#seen.get(id as DifferenceId) ?? 0;
      console.log(
        `listed difference ${id}, ${what}: ${times === 0 ? 'not shown by this etcd' : `seen ${times} times`}`,
      );
    }
  }
}

/** An error with its causes; the stack only where it is a fault of this harness. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = /^Cannot |answered "/.test(error.message) ? error.message : String(error.stack);
  return error.cause === undefined ? text : `${text}\n  because of ${explain(error.cause)}`;
}

/** A seed of its own for each program, so that one can be run alone. */
function programSeed(seed: number, number: number): number {
  return (Math.imul(seed, 0x01000193) ^ Math.imul(number, 0x85ebca6b)) >>> 0;
}
