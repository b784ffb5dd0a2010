import { type OpenStoreOptions, openStore } from '../../src/open-store.ts';
import { textCodec } from '../../src/store/codecs.ts';
import {
  type CommitHistory,
  type CommitHistoryOptions,
  createCommitHistory,
} from '../../src/testing/commit-history.ts';
import { createFaultyBackend, type FaultyBackend } from '../../src/testing/faulty-backend.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Backend, BackendCapabilities } from '../../src/types/backend.ts';
import type { WatchBatch } from '../../src/types/event.ts';
import type { Store } from '../../src/types/store.ts';
import type { Watch } from '../../src/types/watch.ts';

/** A replica of a hand-fed history, with a faulty connection between the two and a clock that stands still. */
export interface ReplicaRig {
  readonly store: Store<string>;
  readonly history: CommitHistory;
  readonly backend: FaultyBackend;
  readonly clock: VirtualClock;
  /** Messages that the replica logged. */
  readonly logged: readonly string[];
}

export interface ReplicaRigOptions extends Omit<OpenStoreOptions<string>, 'backend' | 'clock'> {
  readonly history?: CommitHistory | CommitHistoryOptions;
  /** What the backend says that it can. @default that of the history: everything */
  readonly capabilities?: BackendCapabilities;
  /** Before the replica is opened. */
  readonly before?: (rig: Omit<ReplicaRig, 'store'>) => void;
}

/** Opens a replica (without waiting for it) and lets it come as far as it comes by itself. */
export async function openRig(options: ReplicaRigOptions = {}): Promise<ReplicaRig> {
  const { history: given = {}, before, capabilities, ...rest } = options;
  const history = 'commit' in given ? given : createCommitHistory(given);
  const clock = createVirtualClock();
  const backend = createFaultyBackend(capabilities === undefined ? history : limited(history, capabilities), { clock });
  const logged: string[] = [];
  const log = (message: string) => logged.push(message);
  const logger = { debug: log, info: log, warn: log, error: log };
  const parts = { history, backend, clock, logged };
  before?.(parts);
  const store = await openStore<string>({
    logger,
    random: () => 0,
    codec: textCodec(),
    ...rest,
    backend,
    clock,
    waitReady: false,
  });
  await clock.settle();
  return { store, ...parts };
}

/** The same backend, which says that it can something else. */
function limited(backend: Backend, capabilities: BackendCapabilities): Backend {
  return {
    capabilities,
    range: (request) => backend.range(request),
    status: (request) => backend.status(request),
    watch: (request) => backend.watch(request),
    txn: (request) => backend.txn(request),
    compact: (request) => backend.compact(request),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

/** Commits to one key until the history is at a revision. */
export function fillTo(history: CommitHistory, revision: number, key = 'b/fill'): void {
  while (history.revision < revision) history.commit([{ key, value: `v${history.revision + 1}` }]);
}

/** Whether a promise has settled, and how; never left unhandled. */
export interface Probe<T> {
  readonly state: 'pending' | 'resolved' | 'rejected';
  readonly value: T | undefined;
  readonly error: unknown;
}

export function probe<T>(promise: Promise<T>): Probe<T> {
  const found: { state: Probe<T>['state']; value: T | undefined; error: unknown } = {
    state: 'pending',
    value: undefined,
    error: undefined,
  };
  promise.then(
    (value) => Object.assign(found, { state: 'resolved', value }),
    (error: unknown) => Object.assign(found, { state: 'rejected', error }),
  );
  return found;
}

/** Reads a watch as far as it goes without waiting for more. */
export class Consumer {
  readonly batches: WatchBatch<string>[] = [];
  error: unknown;
  isDone = false;
  readonly #watch: Watch<string>;
  readonly #clock: VirtualClock;
  #isWaiting = false;

  constructor(watch: Watch<string>, clock: VirtualClock) {
    this.#watch = watch;
    this.#clock = clock;
  }

  /** Everything that can be had now. */
  async drain(): Promise<readonly WatchBatch<string>[]> {
    for (;;) {
      const before = this.batches.length;
      if (!this.#isWaiting && !this.isDone) void this.#read();
      await this.#clock.settle();
      if (this.batches.length === before) return this.batches;
    }
  }

  async #read(): Promise<void> {
    this.#isWaiting = true;
    try {
      const { value, done } = await this.#watch.next();
      if (done === true) this.isDone = true;
      else this.batches.push(value);
    } catch (error) {
      this.error = error;
      this.isDone = true;
    }
    this.#isWaiting = false;
  }
}

/** What a watch says about its start: the smallest legal one, or 0 if the start is. */
export async function startVerdict(rig: ReplicaRig, fromRevision: number): Promise<number> {
  const watch = rig.store.watch({ prefix: '' }, { fromRevision });
  const consumer = new Consumer(watch, rig.clock);
  await consumer.drain();
  await watch.return();
  return (consumer.error as { minRevision?: number } | undefined)?.minRevision ?? 0;
}

/** Events as short text: `put a=1`, `del a`. */
export function brief(batch: WatchBatch<string> | undefined): string {
  if (batch === undefined) return 'nothing';
  const events = batch.events.map((event) =>
    event.type === 'put' ? `put ${event.kv.key}=${event.kv.value}` : `del ${event.kv.key}`,
  );
  const head = batch.span === true ? `(${batch.after},${batch.revision}]` : `${batch.revision}`;
  return `${head} ${batch.initial === true ? 'initial ' : ''}${events.join(', ')}`.trim();
}
