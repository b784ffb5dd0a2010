import { createSeededRandom } from '../system/seeded-random.ts';
import { checkInteger } from '../types/check-integer.ts';
import type { Random } from '../types/random.ts';
import { LeaderCount, newCounts } from './simulator-counts.ts';
import { SimulatorLoop } from './simulator-loop.ts';
import { checkMs, resolveSimulatorOptions } from './simulator-options.ts';
import { SimulatorProcess } from './simulator-process.ts';
import { SimulatorReplica } from './simulator-replica.ts';
import { type CutOutcome, SimulatorRequests } from './simulator-requests.ts';
import { type LogEntry, OTHERS, SimulatorStore } from './simulator-store.ts';
import type {
  CutWatchOptions,
  CutWritesOptions,
  SimulatedCommit,
  SimulatedWriter,
  Simulator,
  SimulatorOptions,
  SimulatorStats,
} from './simulator-types.ts';
import { SimulatorWatch } from './simulator-watch.ts';

/** Wall clocks begin here, in ms since the epoch. */
const WALL_TIME_MS = 1_700_000_000_000;
const CUT_OUTCOMES: readonly CutOutcome[] = ['lost', 'committed', 'either'];

/** One life of a replica. */
interface Life {
  readonly process: SimulatorProcess;
  readonly requests: SimulatorRequests;
  readonly watch: SimulatorWatch;
  readonly replica: SimulatorReplica;
}

/** A place in which replicas live one after the other. */
interface Place {
  readonly random: Random;
  readonly rate: number;
  configuration: number;
  life: Life | undefined;
  lives: number;
}

/**
 * Simulates replicas that all want to write the same keys of a store with compare-and-set writes and watches: minutes of
 * virtual time in milliseconds, with latencies, deaths, pauses, cut networks, drifting clocks, lost and repeated events.
 * The same options and seed give the same run, as long as the writers take their time and chance from what they are given.
 *
 * Each key has a spec, which others may edit, and a value, which replicas write: what the spec asks for, as the
 * configuration of the replica reads it. A replica tells its writer of everything it sees and asks for writes of what is
 * not right; when to write is the writer's, and is what is under test.
 *
 * Not modelled: keys that come and go, requests of one replica that overtake each other. The log of commits is kept whole,
 * about 100 bytes for each. Promise chains of a writer get 32 microtask steps after each timer and answer before time moves
 * on, and 12 after each watch event; what is longer goes on at the next instant.
 *
 * @throws TypeError for unknown options and wrong types, RangeError for impossible numbers
 * @example
 * ```ts
 * import { createWriterLease } from 'plimsoll';
 * import { createSimulator } from 'plimsoll/testing';
 *
 * const simulator = createSimulator({
 *   replicas: 5,
 *   keys: 100,
 *   seed: 42,
 *   writer: ({ clock, random, read }) => createWriterLease<number>({ clock, random, read }),
 * });
 * await simulator.run(1000);
 * for (const leader of simulator.leaders()) simulator.kill(leader);
 * const isDone = await simulator.runUntilConverged(60_000);
 * const { attempts, conflicts, takeovers } = simulator.stats();
 * console.log(isDone, attempts, conflicts, takeovers);
 * ```
 */
export function createSimulator(options: SimulatorOptions): Simulator {
  return new ReplicaSimulator(resolveSimulatorOptions(options));
}

class ReplicaSimulator implements Simulator {
  readonly #options: Required<SimulatorOptions>;
  readonly #loop = new SimulatorLoop();
  readonly #random: Random;
  readonly #store: SimulatorStore;
  readonly #counts = newCounts();
  readonly #leaders = new LeaderCount(this.#counts);
  readonly #places: readonly Place[];
  readonly #broken = new Set<number>();

  constructor(options: Required<SimulatorOptions>) {
    this.#options = options;
    this.#random = createSeededRandom(options.seed);
    this.#store = new SimulatorStore(options.keys, options.configurations, options.contestedKeys);
    this.#places = Array.from({ length: options.replicas }, (_, index) => {
      const random = createSeededRandom(Math.floor(this.#random() * 2 ** 32));
      const rate = 1 + (2 * this.#random() - 1) * options.drift;
      const place: Place = { random, rate, configuration: index % options.configurations, life: undefined, lives: 0 };
      this.#loop.at(this.#random() * options.startSpreadMs, () => {
        if (place.lives === 0) this.#start(place, index);
      });
      return place;
    });
  }

  get nowMs(): number {
    return this.#loop.now;
  }

  get unsatisfied(): number {
    return this.#store.unsatisfied;
  }

  get keys(): readonly string[] {
    return this.#store.keys;
  }

  get pending(): number {
    return this.#loop.pending;
  }

  async run(forMs: number): Promise<void> {
    await this.#loop.run(this.#loop.now + checkMs('forMs', forMs, 'run the simulation'));
    this.#noteRoles();
  }

  runUntilConverged(maxMs: number): Promise<boolean> {
    return this.runUntil(() => this.#store.unsatisfied === 0, maxMs);
  }

  async runUntil(isDone: () => boolean, maxMs: number): Promise<boolean> {
    await this.#loop.run(this.#loop.now + checkMs('maxMs', maxMs, 'run the simulation'), isDone);
    this.#noteRoles();
    return isDone();
  }

  after(delayMs: number, fn: () => void): void {
    checkFunction(fn);
    this.#loop.at(this.#loop.now + checkMs('delayMs', delayMs, 'set a timer'), fn);
  }

  every(intervalMs: number, fn: () => void): () => void {
    checkFunction(fn);
    checkMs('intervalMs', intervalMs, 'set a timer');
    if (intervalMs === 0) throw new RangeError('Cannot set a timer: intervalMs is 0, so time would stand still');
    let isEnded = false;
    const again = (): void => {
      if (isEnded) return;
      fn();
      this.#loop.at(this.#loop.now + intervalMs, again);
    };
    this.#loop.at(this.#loop.now + intervalMs, again);
    return () => {
      isEnded = true;
    };
  }

  edit(key: string): void {
    this.#store.edit(this.#store.indexOf(key), this.#loop.now);
    this.#wakeWatches();
  }

  touch(key: string): void {
    this.#store.touch(this.#store.indexOf(key), this.#loop.now);
    this.#wakeWatches();
  }

  breakKey(key: string, isBroken = true): void {
    const index = this.#store.indexOf(key);
    if (isBroken) this.#broken.add(index);
    else this.#broken.delete(index);
  }

  kill(replica: number): void {
    const place = this.#place(replica);
    place.lives++;
    place.life?.process.kill();
    place.life?.replica.noteRole();
  }

  restart(replica: number): void {
    this.kill(replica);
    this.#start(this.#place(replica), replica);
  }

  stop(replica: number): void {
    const life = this.#life(replica, 'stop');
    life.process.run(() => life.replica.stop());
  }

  pause(replica: number, forMs: number): void {
    this.#life(replica, 'pause').process.pause(checkMs('forMs', forMs, 'pause a replica'));
  }

  cutWrites(replica: number, forMs: number, { outcome = 'lost' }: CutWritesOptions = {}): void {
    checkMs('forMs', forMs, 'cut writes');
    if (!CUT_OUTCOMES.includes(outcome)) {
      throw new TypeError(`Cannot cut writes: outcome is ${String(outcome)}, allowed are ${CUT_OUTCOMES.join(', ')}`);
    }
    this.#life(replica, 'cut off').requests.cut(forMs, outcome);
  }

  cutWatch(replica: number, forMs: number, { relist = false }: CutWatchOptions = {}): void {
    this.#life(replica, 'cut off').watch.cut(checkMs('forMs', forMs, 'cut a watch'), relist);
  }

  loseEvents(replica: number, count: number): void {
    checkInteger('count', count, 'lose events', 0);
    this.#life(replica, 'blind').watch.lose(count);
  }

  hideKey(replica: number, key: string, forMs: number): void {
    const index = this.#store.indexOf(key);
    this.#life(replica, 'blind').watch.blind(index, checkMs('forMs', forMs, 'hide a key'));
  }

  relist(replica: number): void {
    this.#life(replica, 'relist').watch.relist();
  }

  jumpWallTime(replica: number, deltaMs: number): void {
    if (!Number.isFinite(deltaMs)) {
      throw new RangeError(`Cannot jump in wall time: deltaMs is ${deltaMs}, allowed are finite numbers of ms`);
    }
    this.#life(replica, 'set the clock of').process.jumpWallTime(deltaMs);
  }

  configure(replica: number, configuration: number): void {
    checkInteger('configuration', configuration, 'configure a replica', 0, this.#options.configurations - 1);
    this.#place(replica).configuration = configuration;
  }

  leaders(): readonly number[] {
    this.#noteRoles();
    return this.#leaders.all;
  }

  writer(replica: number): SimulatedWriter | undefined {
    return this.#place(replica).life?.replica.writer;
  }

  stats(): SimulatorStats {
    this.#noteRoles();
    const { unsatisfied, convergedAt, worstWaits, writes, log } = this.#store;
    const nowMs = this.#loop.now;
    return {
      nowMs,
      ...this.#counts,
      leadersMax: this.#leaders.max,
      unsatisfied,
      convergedAtMs: Number.isNaN(convergedAt) ? undefined : convergedAt,
      worstWaitMs: worstWaits.reduce((worst, wait) => Math.max(worst, wait), this.#store.longestWait(nowMs)),
      writesPerKeyMax: writes.reduce((most, count) => Math.max(most, count), 0),
      lastWriteAtMs: log.findLast(({ author }) => author !== OTHERS)?.at,
    };
  }

  worstWaitMs(key: string): number {
    return this.#store.worstWaits[this.#store.indexOf(key)] ?? 0;
  }

  writesOf(key: string): number {
    return this.#store.writes[this.#store.indexOf(key)] ?? 0;
  }

  configurationOf(key: string): number | undefined {
    return this.#store.configurationOf(this.#store.indexOf(key));
  }

  commits(fromMs = 0): readonly SimulatedCommit[] {
    const { log, keys } = this.#store;
    const first = log.findIndex(({ at }) => at >= fromMs);
    if (first < 0) return [];
    return log.slice(first).map(({ key, revision, author, at }) => ({
      atMs: at,
      revision,
      key: keys[key] ?? '',
      replica: author === OTHERS ? undefined : author,
    }));
  }

  #place(replica: number): Place {
    checkInteger('replica', replica, 'find a replica', 0, this.#places.length - 1);
    const place = this.#places[replica];
    if (place === undefined) throw new RangeError(`Cannot find a replica: there is none with number ${replica}`);
    return place;
  }

  #life(replica: number, action: string): Life {
    const { life } = this.#place(replica);
    if (life === undefined) {
      throw new RangeError(`Cannot ${action} a replica: number ${replica} has not started at ${this.#loop.now} ms`);
    }
    return life;
  }

  #start(place: Place, index: number): void {
    place.lives++;
    const life = this.#makeLife(place, index);
    place.life = life;
    const entries = this.#store.list();
    life.process.run(() => life.replica.list(this.#listed(entries, place.random)));
    life.watch.wake();
  }

  #makeLife(place: Place, index: number): Life {
    const { random, rate, configuration } = place;
    const { watchLatencyMs, writeLatencyMs, requestTimeoutMs, repeatedEvents, observations, writer } = this.#options;
    const loop = this.#loop;
    const store = this.#store;
    const process: SimulatorProcess = new SimulatorProcess(loop, {
      rate,
      wallTimeMs: WALL_TIME_MS,
      beforeWork: () => replica.noteRole(),
    });
    const requests = new SimulatorRequests(loop, store, process, {
      latencyMs: writeLatencyMs,
      timeoutMs: requestTimeoutMs,
      random,
      isBroken: (key) => this.#broken.has(key),
      onCommit: () => this.#wakeWatches(),
    });
    const watch: SimulatorWatch = new SimulatorWatch(loop, store, process, {
      latencyMs: watchLatencyMs,
      repeated: repeatedEvents,
      random,
      onEvent: (entry, isRepeat) => replica.onEvent(entry, isRepeat),
    });
    const replica: SimulatorReplica = new SimulatorReplica({
      index,
      configuration,
      store,
      process,
      requests,
      random,
      counts: this.#counts,
      leaders: this.#leaders,
      withValues: observations === 'values',
      relist: () => watch.relist(),
      writer,
    });
    return { process, requests, watch, replica };
  }

  /** Fisher and Yates' shuffle of what a replica lists, if it is to be shuffled. */
  #listed(entries: readonly LogEntry[], random: Random): readonly LogEntry[] {
    if (this.#options.listOrder === 'fixed') return entries;
    const shuffled = [...entries];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = Math.floor(random() * (last + 1));
      const [a, b] = [shuffled[last], shuffled[other]];
      if (a !== undefined && b !== undefined) [shuffled[last], shuffled[other]] = [b, a];
    }
    return shuffled;
  }

  #wakeWatches(): void {
    for (const { life } of this.#places) life?.watch.wake();
  }

  #noteRoles(): void {
    for (const { life } of this.#places) life?.replica.noteRole();
  }
}

/** Said when it is given, not when its time has come. */
function checkFunction(fn: () => void): void {
  if (typeof fn !== 'function') throw new TypeError(`Cannot set a timer: fn is of type ${typeof fn}, not a function`);
}
