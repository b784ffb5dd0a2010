import { createContentionTracker } from '../../src/lease/contention-tracker.ts';
import { createWriterLease } from '../../src/lease/writer-lease.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import type { WriteContext, WriteOutcome, WriterLease } from '../../src/types/writer-lease.ts';

export type LeaseStep =
  | { readonly type: 'edit' | 'touch'; readonly key: number }
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'repeat'; readonly replica: number; readonly back: number }
  | { readonly type: 'fail'; readonly replica: number; readonly key: number; readonly count: number }
  | { readonly type: 'hang'; readonly replica: number; readonly isCommitted: boolean }
  | { readonly type: 'blind'; readonly replica: number; readonly ms: number }
  | { readonly type: 'restart'; readonly replica: number }
  | { readonly type: 'remove'; readonly replica: number; readonly key: number };

export interface LeaseProgram {
  readonly seed: number;
  readonly replicas: number;
  readonly isSlow: boolean;
  readonly hasRead: boolean;
  readonly hasValues: boolean;
  readonly hasTracker: boolean;
  readonly steps: readonly LeaseStep[];
}

const KEYS = 5;
const CAP_MS = 15_000;
const TIMEOUT_MS = 5000;

/** A key as the store has it: what is wanted follows from `spec`, and `value` is what replicas write. */
interface Row {
  readonly key: number;
  readonly revision: number;
  readonly spec: number;
  readonly value: number;
}

/** Several leases on one store. Time moves by steps; the run is the same for the same program. */
class World {
  readonly clock = createVirtualClock();
  readonly faults: string[] = [];
  readonly log: Row[] = [];
  readonly rows: Row[] = [];
  readonly replicas: Replica[] = [];
  readonly random: () => number;
  readonly program: LeaseProgram;
  #revision = 0;

  constructor(program: LeaseProgram) {
    this.program = program;
    this.random = createSeededRandom(program.seed);
    for (let key = 0; key < KEYS; key++) this.rows.push(this.#row(key, 0, -1));
    for (let index = 0; index < program.replicas; index++) this.replicas.push(new Replica(this, index));
  }

  check(isKept: boolean, fault: string): void {
    if (!isKept) this.faults.push(`${fault} at ${this.clock.now()} ms`);
  }

  between(min: number, max: number): number {
    return min + this.random() * (max - min);
  }

  row(key: number): Row {
    const row = this.rows[key];
    if (row === undefined) throw new RangeError(`there is no key ${key}`);
    return row;
  }

  /** Compare and set; the new revision, or `undefined` for a conflict. */
  write(key: number, value: number, expected: number): number | undefined {
    const row = this.row(key);
    if (row.revision !== expected) return undefined;
    return this.commit(key, row.spec, value);
  }

  commit(key: number, spec: number, value: number): number {
    const row = this.#row(key, spec, value);
    this.rows[key] = row;
    this.log.push(row);
    for (const replica of this.replicas) replica.send(row);
    return row.revision;
  }

  #row(key: number, spec: number, value: number): Row {
    return { key, revision: ++this.#revision, spec, value };
  }
}

class Replica {
  readonly #world: World;
  readonly #index: number;
  readonly #views: Row[];
  readonly #failing = new Map<number, number>();
  readonly #hanging: boolean[] = [];
  lease: WriterLease<number>;
  #writing: AbortSignal | undefined;
  #life = 0;
  #lastDelivery = 0;
  #blindUntil = 0;
  #hasWritten = false;

  constructor(world: World, index: number) {
    this.#world = world;
    this.#index = index;
    this.#views = [...world.rows];
    this.lease = this.#start();
  }

  /** A change, delivered in order after the latency of this replica's watch. */
  send(row: Row): void {
    const { clock, program } = this.#world;
    const latency = program.isSlow ? this.#world.between(1000, 2500) : this.#world.between(5, 50);
    const at = Math.max(clock.now() + latency, this.#lastDelivery, this.#blindUntil);
    this.#lastDelivery = at;
    const life = this.#life;
    clock.after(at - clock.now(), () => {
      if (life === this.#life) this.see(row);
    });
  }

  see(row: Row, isList = false): void {
    const before = this.#views[row.key] ?? row;
    if (row.revision >= before.revision) this.#views[row.key] = row;
    const satisfied = row.value === row.spec;
    const changed = !isList && row.value !== before.value;
    const name = `k${row.key}`;
    if (this.#world.program.hasValues) {
      this.lease.observe(name, { revision: row.revision, value: row.value, wanted: row.spec });
    } else {
      const satisfiedBefore = row.value === before.spec;
      this.lease.observe(name, { revision: row.revision, satisfied, changed, satisfiedBefore });
    }
    if (!satisfied && row.revision >= before.revision) this.ask(row.key);
  }

  ask(key: number): void {
    const view = this.#views[key];
    if (view === undefined || view.spec === view.value) return;
    const work = (context: WriteContext) => this.#work(key, context);
    this.lease.try(`k${key}`, { revision: view.revision, work, wanted: view.spec });
  }

  fail(key: number, count: number): void {
    this.#failing.set(key, count);
  }

  hang(isCommitted: boolean): void {
    this.#hanging.push(isCommitted);
  }

  blind(ms: number): void {
    this.#blindUntil = Math.max(this.#blindUntil, this.#world.clock.now() + ms);
  }

  /** Nothing fails any more. */
  heal(): void {
    this.#failing.clear();
    this.#hanging.length = 0;
  }

  async restart(): Promise<void> {
    await this.lease.close();
    this.#life++;
    this.#writing = undefined;
    this.#hasWritten = false;
    this.lease = this.#start();
  }

  check(): void {
    const { role, windowMs, blocked, pending, parked, keys } = this.lease.stats();
    const { check } = { check: this.#world.check.bind(this.#world) };
    check(role === 'follower' || this.#hasWritten, `replica ${this.#index} leads without a write`);
    check(windowMs >= 0 && windowMs <= CAP_MS, `replica ${this.#index} has a window of ${windowMs} ms`);
    check(blocked + pending + parked <= keys, `replica ${this.#index} has keys in two places`);
    check((role === 'leader') === (this.lease.fencingToken !== undefined), `replica ${this.#index} has a wrong token`);
  }

  #start(): WriterLease<number> {
    const { clock, random, program } = this.#world;
    const read = async (name: string) => {
      await this.#delay();
      const row = this.#world.row(Number(name.slice(1)));
      const view = this.#views[row.key];
      if (program.hasValues) return { revision: row.revision, value: row.value };
      return { revision: row.revision, satisfied: row.value === row.spec, changed: row.value !== view?.value };
    };
    const relist = () => this.#list();
    const lease = createWriterLease<number>({
      clock,
      random,
      writeTimeoutMs: TIMEOUT_MS,
      relist,
      ...(program.hasRead ? { read } : {}),
      ...(program.hasTracker ? { tracker: createContentionTracker<number>({ clock }) } : {}),
    });
    this.lease = lease;
    this.#list();
    return lease;
  }

  #list(): void {
    for (const row of this.#world.rows) this.see(row, true);
  }

  async #work(key: number, { revision, signal }: WriteContext): Promise<WriteOutcome> {
    const view = this.#views[key];
    this.#world.check(this.#writing === undefined, `replica ${this.#index} makes two writes at a time`);
    this.#writing = signal;
    // A write whose signal has aborted is over for the lease, whatever it still does.
    signal.addEventListener('abort', () => this.#done(signal), { once: true });
    try {
      if (view === undefined || view.spec === view.value) return 'unchanged';
      const failures = this.#failing.get(key) ?? 0;
      if (failures > 0) {
        this.#failing.set(key, failures - 1);
        throw new Error('refused');
      }
      await this.#delay();
      const isHanging = this.#hanging.shift();
      if (isHanging === false) return await never(signal);
      const written =
        revision === view.revision ? this.#world.write(key, view.spec, revision) : this.#ahead(key, revision);
      if (isHanging === true) return await never(signal);
      await this.#delay();
      if (written === undefined) return 'conflict';
      this.#hasWritten = true;
      return { revision: written };
    } finally {
      this.#done(signal);
    }
  }

  #done(signal: AbortSignal): void {
    if (this.#writing === signal) this.#writing = undefined;
  }

  /** The lease knows of something newer than the view: its own write, or what it read. */
  #ahead(key: number, revision: number): number | undefined {
    const row = this.#world.row(key);
    return row.revision === revision ? this.#world.write(key, row.spec, revision) : undefined;
  }

  #delay(): Promise<void> {
    return new Promise((resolve) => void this.#world.clock.after(this.#world.between(2, 10), resolve));
  }
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** Runs a program; answers what was broken. */
export async function runLeaseProgram(program: LeaseProgram): Promise<readonly string[]> {
  const world = new World(program);
  for (const step of program.steps) {
    await take(world, step);
    for (const replica of world.replicas) replica.check();
  }
  for (const replica of world.replicas) replica.heal();
  // Holds of the tracker, and whatever is parked, end within this.
  await settle(world, 2_000_000);
  for (const row of world.rows) world.check(row.value === row.spec, `key ${row.key} is not right`);
  const [row] = world.rows;
  if (row !== undefined) world.commit(0, row.spec + 1000, row.value);
  await settle(world, 200_000);
  const leaders = world.replicas.filter(({ lease }) => lease.role === 'leader');
  world.check(leaders.length === 1, `${leaders.length} replicas lead`);
  for (const replica of world.replicas) {
    replica.check();
    const { pending, parked, blocked } = replica.lease.stats();
    world.check(pending + parked + blocked === 0, `work is left: ${pending}, ${parked}, ${blocked}`);
    await replica.lease.close();
  }
  world.check(world.clock.pending === 0, `${world.clock.pending} timers are left`);
  return world.faults;
}

async function settle({ clock }: World, forMs: number): Promise<void> {
  const end = clock.now() + forMs;
  while (clock.pending > 0 && clock.now() < end) await clock.advanceToNext();
}

async function take(world: World, step: LeaseStep): Promise<void> {
  const replica = 'replica' in step ? world.replicas[step.replica % world.replicas.length] : undefined;
  switch (step.type) {
    case 'edit':
    case 'touch': {
      const { spec, value } = world.row(step.key);
      world.commit(step.key, step.type === 'edit' ? spec + 1 : spec, value);
      return;
    }
    case 'advance':
      return world.clock.advance(step.ms);
    case 'repeat': {
      const row = world.log[world.log.length - 1 - step.back];
      if (row !== undefined && replica !== undefined) replica.see(row);
      return;
    }
    case 'fail':
      return replica?.fail(step.key, step.count);
    case 'hang':
      return replica?.hang(step.isCommitted);
    case 'blind':
      return replica?.blind(step.ms);
    case 'restart':
      return replica?.restart();
    case 'remove':
      replica?.lease.remove(`k${step.key}`);
      replica?.ask(step.key);
  }
}
