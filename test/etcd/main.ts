import { readFile } from 'node:fs/promises';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { backendCases, TRANSPORTS } from './backend-cases.ts';
import { cleanUpAtExit } from './cleanup.ts';
import { checkPage, DIFFERENCES, type DifferenceId } from './differences.ts';
import { TooLateError } from './etcd-leases.ts';
import { EtcdSubject } from './etcd-subject.ts';
import { STREAM_BROKE } from './etcd-watch.ts';
import { createExpiryProgram, createProgram } from './generator.ts';
import { findOrInstallEtcd } from './install.ts';
import { EXPIRY_MARKS_NEEDED, MARKS_NEEDED } from './marks.ts';
import { MemorySubject } from './memory-subject.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { PROBES } from './probes.ts';
import { type Program, printProgram } from './program.ts';
import { runProgram, type Subjects } from './runner.ts';
import { type EtcdServer, startEtcd } from './server.ts';
import { shrink } from './shrink.ts';
import { Mismatch } from './stores.ts';

/** Failing programs that are cut down and printed; a run with more says nothing new. */
const FAILURES_MAX = 3;
const PROGRESS_MS = 5_000;
const DEATH_MS = 200;
/** Below, a rare thing may not happen by chance. */
const COVERAGE_PROGRAMS_MIN = 500;
const COVERAGE_EXPIRY_MIN = 40;
/** Runs of a program with expiry until the machine was quick enough for it. */
const EXPIRY_TRIES = 6;

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
    `seed ${options.seed} (repeat with: npm run test:etcd -- --programs ${options.programs} --expiry-programs ${options.expiryPrograms} --seed ${options.seed})`,
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
  readonly #stores: Subjects;
  readonly #marks = new Map<string, number>();
  readonly #seen = new Map<DifferenceId, number>();
  #passed = 0;
  #tooLate = 0;
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
    await this.#backend();
    try {
      await this.#programs();
      await this.#expiryPrograms();
    } catch (error) {
      this.#failed++;
      console.log(`FAILED the run: ${explain(error)}`);
    }
    this.#report();
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    return this.#failed === 0 ? 0 : 1;
  }

  /** What a replica relies on, of the backend that has this etcd behind it. */
  async #backend(): Promise<void> {
    const { program, expiryProgram } = this.#options;
    if (program !== undefined || expiryProgram !== undefined) return;
    for (const transport of TRANSPORTS) {
      for (const { rule, name, run } of backendCases({ ...this.#server, transport })) {
        await this.#check(`backend by ${transport}, ${rule} ${name}`, run);
      }
    }
  }

  async #programs(): Promise<void> {
    const { programs, program: only, expiryProgram, seed } = this.#options;
    if (only === undefined && expiryProgram !== undefined) return;
    await this.#several('program', only, programs, (number) => {
      return createProgram(createSeededRandom(programSeed(seed, number)));
    });
    if (only === undefined && programs >= COVERAGE_PROGRAMS_MIN) await this.#covers(MARKS_NEEDED);
  }

  /** Programs in real time. Chance of their own: a program stays the same however many of the others there are. */
  async #expiryPrograms(): Promise<void> {
    const { expiryPrograms, program, expiryProgram: only, seed } = this.#options;
    if ((only === undefined && program !== undefined) || this.#failed >= FAILURES_MAX) return;
    await this.#several('expiry-program', only, expiryPrograms, (number) => {
      return createExpiryProgram(createSeededRandom(programSeed(seed ^ EXPIRY_SEED, number)));
    });
    if (only === undefined && expiryPrograms >= COVERAGE_EXPIRY_MIN) await this.#covers(EXPIRY_MARKS_NEEDED);
  }

  async #several(
    kind: string,
    only: number | undefined,
    count: number,
    create: (number: number) => Program,
  ): Promise<void> {
    const start = performance.now();
    let shown = start;
    for (let number = only ?? 1; number <= (only ?? count); number++) {
      await this.#program(kind, number, create(number));
      if (this.#failed >= FAILURES_MAX) {
        console.log(`${FAILURES_MAX} failures: the programs after ${kind} ${number} were not run`);
        return;
      }
      if (performance.now() - shown < PROGRESS_MS) continue;
      shown = performance.now();
      console.error(`${kind} ${number} of ${count}, ${((shown - start) / 1000).toFixed(0)} s`);
    }
  }

  #covers(needed: readonly string[]): Promise<void> {
    return this.#check('coverage', async () => {
      const missing = needed.filter((mark) => !this.#marks.has(mark));
      if (missing.length > 0)
        throw new Error(`Cannot say that all was compared, never happened: ${missing.join(', ')}`);
    });
  }

  async #program(kind: string, number: number, program: Program): Promise<void> {
    const failure = await this.#patient(program);
    if (failure === undefined) {
      this.#passed++;
      return;
    }
    this.#failed++;
    if (failure instanceof TooLateError) {
      console.log(`FAILED ${kind} ${number}: not compared in ${EXPIRY_TRIES} runs. ${failure.message}`);
      return;
    }
    console.log(`\nFAILED ${kind} ${number}: cutting it down from ${program.steps.length} steps`);
    const least = await shrink(program, failure, async (candidate) => {
      const again = await this.#failure(candidate, false);
      return again instanceof TooLateError ? undefined : again;
    });
    console.log(`${printProgram(least.program)}\n  ${least.failure.message}`);
    console.log(`  repeat with: npm run test:etcd -- --seed ${this.#options.seed} --${kind} ${number}\n`);
  }

  /** How a program fails, after some runs if the first ones were too slow to say. */
  async #patient(program: Program): Promise<Error | undefined> {
    for (let tries = 1; ; tries++) {
      const failure = await this.#failure(program, true);
      if (!(failure instanceof TooLateError) || tries === EXPIRY_TRIES) return failure;
      this.#tooLate++;
    }
  }

  /** How a program fails. What is no difference (etcd died, an error in this harness) ends the run. */
  async #failure(program: Program, isCounted: boolean): Promise<Error | undefined> {
    const mark = (name: string) => isCounted && this.#count(this.#marks, name);
    const seen = (id: DifferenceId) => isCounted && this.#count(this.#seen, id);
    try {
      await runProgram(program, this.#stores, mark, seen);
      return undefined;
    } catch (error) {
      if (error instanceof TooLateError) return error;
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
    console.log('what happened, and how often:');
    const marks = [...this.#marks].sort(([left], [right]) => (left < right ? -1 : 1));
    for (const [mark, count] of marks) console.log(`${String(count).padStart(9)}  ${mark}`);
    if (this.#tooLate > 0) console.log(`programs with expiry run again, the machine was too slow: ${this.#tooLate}`);
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

/** Tells the chance of programs with expiry from that of the others. */
const EXPIRY_SEED = 0x5bd1e995;

/** A seed of its own for each program, so that one can be run alone. */
function programSeed(seed: number, number: number): number {
  return (Math.imul(seed, 0x01000193) ^ Math.imul(number, 0x85ebca6b)) >>> 0;
}
