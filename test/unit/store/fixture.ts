import { coreModule } from '../../../src/core/module.ts';
import { type OpenStoreOptions, openStore } from '../../../src/open-store.ts';
import { Applier } from '../../../src/store/applier.ts';
import type { Change } from '../../../src/store/commit.ts';
import { KeySpace } from '../../../src/store/keyspace.ts';
import { Mvcc } from '../../../src/store/mvcc.ts';
import type { Retention } from '../../../src/store/retention.ts';
import { VersionedState } from '../../../src/store/state.ts';
import { PlainValues } from '../../../src/store/values.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { WatchBatch } from '../../../src/types/event.ts';
import type { Key, KeyRange, KeyValue, Revision } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import type { Watch, WatchOptions } from '../../../src/types/watch.ts';
import { WatchHub } from '../../../src/watch/hub.ts';

/** An embedded store on a clock that stands still. */
export async function openTestStore<V = unknown, K extends Key = string>(
  options: OpenStoreOptions<V, K> = {},
): Promise<{ store: Store<V, K>; clock: VirtualClock }> {
  const clock = createVirtualClock();
  // Tests that want keys of bytes say so in their options, which a generic type cannot tell.
  const open = openStore as (options: OpenStoreOptions<V, K>) => Promise<Store<V, K>>;
  return { store: await open({ clock, random: createSeededRandom(1), ...options }), clock };
}

/** "3KV" of the specification: foo, foo1 and foo2 at the revisions 2, 3 and 4. */
export async function open3kv(): Promise<Store<string>> {
  const { store } = await openTestStore<string>();
  await store.put('foo', 'bar');
  await store.put('foo1', 'bar1');
  await store.put('foo2', 'bar2');
  return store;
}

/** A key with its three numbers, as the specification writes it: `foo(2,3,2)`. */
export function brief<V>(kv: KeyValue<V> | undefined): string {
  return kv === undefined ? 'none' : `${kv.key}(${kv.createRevision},${kv.modRevision},${kv.version})`;
}

/** A batch in one line: `7: put a(2,7,3) <a(2,5,2), delete b@7`. */
export function briefBatch<V>(batch: WatchBatch<V>): string {
  const events = batch.events.map((event) => {
    const previous = event.prevKv === undefined ? '' : ` <${brief(event.prevKv)}`;
    if (event.type === 'put') return `put ${brief(event.kv)}${previous}`;
    return `delete ${event.kv.key}@${event.kv.modRevision}${previous}`;
  });
  const span = batch.span === true ? `(${batch.after},${batch.revision}]` : String(batch.revision);
  return `${span}${batch.initial === true ? ' initial' : ''}: ${events.join(', ')}`;
}

/** Long enough for every promise chain of the store. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await undefined;
}

/** Reads what a watch has to give now: batches in brief, and the name of the error or `end` that stopped it. */
export class Reader<V, K extends Key = string> {
  readonly watch: Watch<V, K>;
  readonly batches: WatchBatch<V, K>[] = [];
  error: unknown;
  isOver = false;
  #isReading = false;
  #taken = 0;

  constructor(watch: Watch<V, K>) {
    this.watch = watch;
  }

  /** Takes everything there is (or at most so many batches), then returns with a read still waiting. */
  async drain(max: number = Number.POSITIVE_INFINITY): Promise<this> {
    await this.#drain(max);
    this.#taken = this.batches.length;
    return this;
  }

  async #drain(max: number): Promise<void> {
    for (let count = 0; count < max; ) {
      const before = this.batches.length;
      if (!this.#isReading && !this.isOver) this.#read();
      await settle();
      if (this.#isReading || this.isOver) break;
      count += this.batches.length - before;
    }
  }

  /** As `drain`, and returns in brief what came since the last call of either. */
  async take(): Promise<string[]> {
    await this.#drain(Number.POSITIVE_INFINITY);
    const from = this.#taken;
    this.#taken = this.batches.length;
    const seen = this.batches.slice(from).map((batch) => briefBatch(batch as unknown as WatchBatch<V>));
    return this.error === undefined ? seen : [...seen, (this.error as Error).name];
  }

  #read(): void {
    this.#isReading = true;
    this.watch.next().then(
      ({ value, done }) => {
        this.#isReading = false;
        if (done === true) this.isOver = true;
        else if (value !== undefined) this.batches.push(value);
      },
      (error: unknown) => {
        this.#isReading = false;
        this.isOver = true;
        this.error = error;
      },
    );
  }
}

export type Sketch = readonly ['put' | 'delete', string] | readonly ['put' | 'delete', string, string];

/** State, hub and applier without a store around them, so that commits can have any number and spans can be published. */
export class Parts {
  readonly clock: VirtualClock = createVirtualClock();
  readonly mvcc: Mvcc<string, string>;
  readonly hub: WatchHub;
  readonly applier: Applier<string, string>;

  constructor(options: { retention?: Retention; revision?: Revision } = {}) {
    const values = new PlainValues<string>();
    const { revision = 1, retention = {} } = options;
    const keys = new KeySpace<string>('utf8');
    this.mvcc = new Mvcc(new VersionedState({ module: coreModule(), keys, revision }), keys, values, undefined);
    this.hub = new WatchHub(this.mvcc.state, { clock: this.clock, isStarted: true, watchesMax: 1000 });
    this.applier = new Applier({ mvcc: this.mvcc, listener: this.hub, clock: this.clock, retention, pinsMax: 1000 });
  }

  /** One commit; keys get their numbers from the state, in the order of the sketch. */
  commit(revision: Revision, ...sketches: Sketch[]): void {
    this.applier.commit({ revision, changes: this.changes(revision, sketches) }, 'commit');
  }

  /** A span from the present state; puts carry `mod` of its end, as if they had happened there. */
  span(revision: Revision, ...sketches: Sketch[]): void {
    const after = this.mvcc.window.revision;
    this.applier.commit({ revision, after, changes: this.changes(revision, sketches) }, 'apply a list');
  }

  repair(revision: Revision, ...sketches: Sketch[]): void {
    const after = this.mvcc.window.revision;
    this.applier.repair({ revision, after, changes: this.changes(revision, sketches) }, 'apply a list');
  }

  changes(revision: Revision, sketches: readonly Sketch[]): Change[] {
    const made = new Map<string, Change>();
    return sketches.map(([type, text, cell = `${text}@${revision}`]) => {
      const slot = this.mvcc.state.slotOf(text, this.mvcc.window.revision);
      const { core } = this.mvcc;
      const stored = slot < 0 ? undefined : { create: core.createRevision(slot), version: core.version(slot) };
      const own = made.get(text);
      const before = own === undefined ? stored : { create: own.createRevision, version: own.version };
      const isLive = before !== undefined && before.version > 0;
      const change: Change = {
        text,
        type,
        cell: type === 'put' ? cell : undefined,
        createRevision: type === 'delete' ? 0 : isLive ? before.create : revision,
        modRevision: revision,
        version: type === 'delete' ? 0 : isLive ? before.version + 1 : 1,
        lease: '0',
      };
      made.set(text, change);
      return change;
    });
  }

  watch(range: KeyRange, options: WatchOptions = {}): Reader<string> {
    return new Reader(
      this.hub.open(this.mvcc, this.mvcc.resolve(range, 'watch'), options, { identity: 'parts', epoch: 1 }),
    );
  }

  /** The key at a revision as `foo(2,3,2)`, or the error's name and smallest legal revision. */
  at(key: string, revision: Revision): string {
    try {
      const slot = this.mvcc.state.slotOf(key, this.mvcc.window.readable(revision, 'get a key'));
      return slot < 0 ? 'none' : brief(this.mvcc.kv(slot));
    } catch (error) {
      return `${(error as Error).name} ${(error as { minRevision?: number }).minRevision ?? ''}`.trim();
    }
  }

  /** All of the physical compaction that is due. */
  async compactFully(): Promise<void> {
    while (await this.clock.advanceToNext());
    this.mvcc.core.verify();
  }
}
