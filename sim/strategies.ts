import { createContentionTracker } from '../src/lease/contention-tracker.ts';
import { createWriterLease } from '../src/lease/writer-lease.ts';
import { createSimulator } from '../src/testing/simulator.ts';
import type {
  SimulatedEnvironment,
  SimulatedWriter,
  Simulator,
  SimulatorOptions,
} from '../src/testing/simulator-types.ts';
import type { ContentionTracker, WriterLease, WriterLeaseOptions } from '../src/types/writer-lease.ts';
import { createClassicWriter } from './classic-writer.ts';
import { createNaiveWriter } from './naive-writer.ts';

/** Everybody writes; the baseline; the default strategy, which sees by its watch alone, or may read as well. */
export type StrategyName = 'naive' | 'classic' | 'plimsoll' | 'plimsoll+read';
export const STRATEGIES: readonly StrategyName[] = ['naive', 'classic', 'plimsoll', 'plimsoll+read'];
export const DEFAULT_STRATEGIES: readonly StrategyName[] = ['plimsoll', 'plimsoll+read'];

export const CAP_MS = 15_000;
/** Mean write latency: what a key costs a leader that drains its queue. */
export const WRITE_MS = 12.5;
/** How long the marks of both trackers count. */
export const CONTENTION_MS = 180_000;

export type Watch = 'fast' | 'slow';
export const WATCHES: readonly Watch[] = ['fast', 'slow'];
const WATCH_LATENCY_MS = { fast: [5, 50], slow: [1000, 3000] } as const;

export interface World extends Partial<Omit<SimulatorOptions, 'writer' | 'seed'>> {
  readonly watch?: Watch;
  /** Writers may disagree: each has a contention tracker. */
  readonly tracked?: boolean;
  readonly lease?: Partial<WriterLeaseOptions<number>>;
}

export interface Run {
  readonly simulator: Simulator;
  /** The leases and trackers of all lives of the default strategy. */
  readonly leases: readonly WriterLease<number>[];
  readonly trackers: readonly ContentionTracker<number>[];
}

/** A simulation of one strategy: 5 replicas, 100 keys, fast watches and drifting clocks where nothing else is said. */
export function simulate(strategy: StrategyName, seed: number, world: World = {}): Run {
  const { watch = 'fast', tracked = false, lease: leaseOptions = {}, ...options } = world;
  const leases: WriterLease<number>[] = [];
  const trackers: ContentionTracker<number>[] = [];

  const createDefault = (environment: SimulatedEnvironment): SimulatedWriter => {
    const { clock, random, read, relist } = environment;
    const hook = strategy === 'plimsoll+read' ? { read } : {};
    const tracker = tracked ? createContentionTracker<number>({ clock, intervalMs: CONTENTION_MS }) : undefined;
    if (tracker !== undefined) trackers.push(tracker);
    const withTracker = tracker === undefined ? {} : { tracker };
    const lease = createWriterLease<number>({ clock, random, relist, ...hook, ...withTracker, ...leaseOptions });
    leases.push(lease);
    return lease;
  };
  const writers: Readonly<Record<StrategyName, SimulatorOptions['writer']>> = {
    naive: createNaiveWriter,
    classic: (environment) => createClassicWriter(environment, tracked ? { contentionMs: CONTENTION_MS } : {}),
    plimsoll: createDefault,
    'plimsoll+read': createDefault,
  };

  const simulator = createSimulator({
    replicas: 5,
    keys: 100,
    watchLatencyMs: WATCH_LATENCY_MS[watch],
    drift: 0.05,
    observations: tracked ? 'values' : 'flags',
    ...options,
    seed,
    writer: writers[strategy],
  });
  return { simulator, leases, trackers };
}

/** One of the replicas that lead; the one that wrote last if none says so. */
export function leaderOf({ simulator }: Run): number {
  const last = simulator.commits().findLast(({ replica }) => replica !== undefined)?.replica ?? 0;
  const leaders = simulator.leaders();
  return leaders.includes(last) ? last : (leaders[0] ?? last);
}

/** Others edit each key once in so long, the keys one after the other. */
export function editAll(simulator: Simulator, eachMs: number, keys: readonly string[] = simulator.keys): () => void {
  let next = 0;
  return simulator.every(eachMs / keys.length, () => {
    const key = keys[next++ % keys.length];
    if (key !== undefined) simulator.edit(key);
  });
}
