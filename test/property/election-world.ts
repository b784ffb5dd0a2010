import { createMemoryBackend } from '../../src/backends/memory-backend.ts';
import { openStore } from '../../src/open-store.ts';
import { textCodec } from '../../src/store/codecs.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createFaultyBackend, type FaultyBackend } from '../../src/testing/faulty-backend.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Clock } from '../../src/types/clock.ts';
import type { WatchBatch } from '../../src/types/event.ts';
import type { Random } from '../../src/types/random.ts';
import type { Revision } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';

export type WorldKind = 'embedded store' | 'replicas';

/** A process that can be stopped: its timers fire when it goes on, and a replica's stream stands still meanwhile. */
export interface WorldProcess {
  readonly store: Store<string>;
  readonly backend: FaultyBackend | undefined;
  readonly stop: () => void;
  readonly goOn: () => void;
}

/** Processes over one data set, on one time. */
export interface ElectionWorld {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly processes: readonly WorldProcess[];
  /** Everything that was committed, commit by commit. */
  readonly commits: WatchBatch<string>[];
  readonly sleep: (ms: number) => Promise<void>;
  /** Moves time on until the work is done. Throws if it is not within so many ms: somebody was not woken. */
  readonly drive: (work: Promise<unknown>, withinMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openWorld(kind: WorldKind, count: number, seed: number): Promise<ElectionWorld> {
  const clock = createVirtualClock();
  const random = createSeededRandom(seed);
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random, retention: { events: 1e6 } });
  const text = await openStore<string>({ backend: createMemoryBackend(data), clock, random, codec: textCodec() });
  const embedded = await openStore<string>({ clock, random, codec: textCodec(), retention: { events: 1e6 } });
  const processes: WorldProcess[] = [];
  for (let index = 0; index < count; index++) {
    processes.push(kind === 'replicas' ? await openProcess(data, clock, random) : sharedProcess(embedded));
  }
  const commits: WatchBatch<string>[] = [];
  void collect(kind === 'replicas' ? text : embedded, commits);
  const close = async () => {
    await Promise.all([...processes.map(({ store }) => store.close()), text.close(), embedded.close()]);
    await data.close();
  };
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  return { clock, random, processes, commits, sleep, drive: (work, withinMs) => drive(clock, work, withinMs), close };
}

async function openProcess(
  data: Store<Uint8Array, Uint8Array>,
  clock: VirtualClock,
  random: Random,
): Promise<WorldProcess> {
  const stoppable = stoppableClock(clock);
  const backend = createFaultyBackend(createMemoryBackend(data), { clock });
  const store = await openStore<string>({ backend, clock: stoppable, random, codec: textCodec() });
  const stop = () => {
    stoppable.stop();
    backend.holdItems();
  };
  const goOn = () => {
    stoppable.goOn();
    backend.releaseItems();
  };
  return { store, backend, stop, goOn };
}

/** Of one store, nothing stops but what its user does. */
function sharedProcess(store: Store<string>): WorldProcess {
  const nothing = () => undefined;
  return { store, backend: undefined, stop: nothing, goOn: nothing };
}

async function collect(store: Store<string>, commits: WatchBatch<string>[]): Promise<void> {
  try {
    for await (const batch of store.watch({ prefix: '' })) commits.push(batch);
  } catch (error) {
    if ((error as { code?: string }).code !== 'CLOSED') throw error;
  }
}

async function drive(clock: VirtualClock, work: Promise<unknown>, withinMs: number): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const end = clock.now() + withinMs;
  await clock.settle();
  while (!isDone && clock.now() < end) await clock.advance(10);
  if (!isDone) throw new Error(`Not done within ${withinMs} ms`);
  await done;
}

function stoppableClock(clock: Clock): Clock & { stop(): void; goOn(): void } {
  let isStopped = false;
  const late: (() => void)[] = [];
  return {
    now: () => clock.now(),
    wallTime: () => clock.wallTime(),
    after(delayMs, fn) {
      let isCancelled = false;
      const run = () => {
        if (isCancelled) return;
        if (isStopped) late.push(run);
        else fn();
      };
      const cancel = clock.after(delayMs, run);
      return () => {
        isCancelled = true;
        cancel();
      };
    },
    stop() {
      isStopped = true;
    },
    goOn() {
      isStopped = false;
      for (const run of late.splice(0)) clock.after(0, run);
    },
  };
}

/** What commits say about writes to one key whose value is the writer's fencing token. */
export interface Verdict {
  readonly accepted: number;
  /** Accepted though somebody else owned the name, or nobody. */
  readonly stale: number;
}

/** Replays the commits: who owned the name when a write was accepted? Knows nothing of the code under test. */
export function judge(commits: readonly WatchBatch<string>[], name: string, target: string): Verdict {
  const queue = new Map<string, Revision>();
  let [accepted, stale] = [0, 0];
  for (const { events } of commits) {
    const owner = Math.min(...queue.values());
    for (const { type, kv } of events) {
      if (kv.key === target && type === 'put') {
        accepted++;
        if (Number(kv.value) !== owner) stale++;
      }
      if (!kv.key.startsWith(`${name}/`)) continue;
      if (type === 'put') queue.set(kv.key, kv.createRevision);
      else queue.delete(kv.key);
    }
  }
  return { accepted, stale };
}
