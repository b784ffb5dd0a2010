import { describe, expect, it } from 'vitest';
import { createInformerCore } from '../../src/kubernetes/create-informer-core.ts';
import type { InformerCore } from '../../src/kubernetes/informer-core.ts';
import { createResourceStore } from '../../src/resource-cache/create-resource-store.ts';
import type { HierarchyResult } from '../../src/resource-cache/hierarchy.ts';
import { type ResourceKey, resourceKeyText } from '../../src/resource-cache/resource-key.ts';
import type { ResourceStore } from '../../src/resource-cache/resource-store.ts';
import type { HandlerOptions, ResourceUpdate } from '../../src/resource-cache/subscription.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Random } from '../../src/types/random.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { type KindWorld, ResourceWorld, reachable, TIERS, type WorldObject, worldKey } from './resource-world.ts';

/**
 * A resource store behind the cores of informers, beside servers that change at random. Events are lost, late, repeated; lists come in
 * pages, in any order, of servers that are behind, and fail half-way; objects go and come again, owners form rings; handlers
 * are quick, slow, merging, leave and come; walks take many turns.
 *
 * After every step all indexes are compared with the objects. Where nothing waits, the store has what the cores have. Every call
 * fits to the one before it, and what handlers were told adds up to what is there.
 */

const PROGRAMS = sized({ smoke: 120, full: 6000 });
const STEPS = 80;
type Store = ResourceStore<WorldObject>;
type Located = { readonly key: ResourceKey; readonly object: WorldObject };

/** Follows the calls as a consumer would, who knows nothing else: RC1, RC2, RC3, RC5, RC7, RC11. */
class Consumer {
  readonly known = new Map<string, WorldObject>();
  readonly #options: HandlerOptions;
  readonly #isAsync: boolean;
  readonly #clock: VirtualClock;
  #seqs = new Map<string, number>();
  #running = 0;
  #last = 0;

  constructor(clock: VirtualClock, options: HandlerOptions, isAsync: boolean) {
    this.#clock = clock;
    this.#options = options;
    this.#isAsync = isAsync;
  }

  /** Takes what is there at the subscription as told. */
  subscribe(store: Store): () => void {
    for (const { key, object } of located(store).values()) this.known.set(resourceKeyText(key), object);
    return store.onResourceUpdated((update) => this.#take(update), this.#options);
  }

  #take(update: ResourceUpdate<WorldObject, undefined>): Promise<void> | undefined {
    const { seq, key, new: now, old, view } = update;
    const text = resourceKeyText(key);
    expect(++this.#running).toBe(1);
    expect(seq).toBeGreaterThan(this.#seqs.get(text) ?? 0);
    this.#seqs.set(text, seq);
    const isMerging = this.#options.coalesce === true || this.#options.queueMax !== undefined;
    if (!isMerging && this.#last > 0) expect(seq).toBe(this.#last + 1);
    this.#last = seq;
    expect(old?.object).toBe(this.known.get(text));
    if (old !== undefined && now !== undefined) expect(now.uid).toBe(old.uid);
    if (now === undefined) this.known.delete(text);
    else this.known.set(text, now.object as WorldObject);
    this.#look(update, isMerging);
    expect(view.seq).toBeGreaterThanOrEqual(seq);
    if (!this.#isAsync) {
      this.#running--;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#clock.after(3, () => {
        if (this.#options.snapshotView === true) this.#look(update, isMerging);
        this.#running--;
        resolve();
      });
    });
  }

  /** An exact view has what the calls up to it have told, and nothing else. */
  #look({ seq, key, view }: ResourceUpdate<WorldObject, undefined>, isMerging: boolean): void {
    if (this.#options.snapshotView !== true) return;
    expect(view.seq).toBe(seq);
    if (isMerging) return;
    const told = [...this.known].filter(([text]) => text.split('/')[2] === key.namespace).map(([text]) => text);
    const seen = view.list().map((resource) => resourceKeyText(resource.key));
    expect(seen.sort()).toEqual(told.sort());
    for (const { key: other, object } of view.list()) {
      expect(object).toBe(this.known.get(resourceKeyText(other)));
      expect(view.get(other)?.object).toBe(object);
    }
  }
}

function located(store: Store): ReadonlyMap<string, Located> {
  return new Map(store.list().map(({ key, object }) => [resourceKeyText(key), { key, object: object as WorldObject }]));
}

/** One kind between its server and the store. */
class Connection {
  readonly core: InformerCore<WorldObject>;
  readonly #world: KindWorld;
  readonly #random: Random;
  readonly #store: Store;
  #delivered = -1;
  /** Events were lost, so only a list helps. */
  #isBroken = true;

  constructor(world: KindWorld, { clock, store, random }: { clock: VirtualClock; store: Store; random: Random }) {
    this.#world = world;
    this.#store = store;
    this.#random = random;
    this.core = createInformerCore<WorldObject>({ clock });
  }

  #feed(deltas: Parameters<ReturnType<Store['feed']>['apply']>[0]): void {
    const { group, kind } = this.#world.groupKind;
    this.#store.feed({ group, kind }).apply(deltas);
  }

  list(version: number, fails = false): void {
    const items = [...this.#world.at(version).values()].sort(() => this.#random() - 0.5);
    const list = this.core.beginList();
    while (items.length > 0) this.#feed(list.add(items.splice(0, 1 + Math.floor(this.#random() * 3))).deltas);
    if (fails) return;
    this.#feed(list.end(String(version)).deltas);
    const { group, kind } = this.#world.groupKind;
    this.#store.feed({ group, kind }).markSynced();
    this.#delivered = Math.max(this.#delivered, version);
    this.#isBroken = version < this.#delivered;
  }

  watch(count: number): void {
    if (this.#isBroken) return;
    for (const { version, event } of this.#world.sent
      .filter((sent) => sent.version > this.#delivered)
      .slice(0, count)) {
      this.#feed(this.core.apply(event).deltas);
      this.#delivered = version;
    }
  }

  lose(): void {
    this.#isBroken = true;
  }

  replay(): void {
    const old = this.#world.sent.filter(({ version }) => version <= this.#delivered);
    for (const { event } of old.slice(Math.floor(this.#random() * old.length)))
      this.#feed(this.core.apply(event).deltas);
  }
}

class Program {
  readonly met = { walks: 0, cycles: 0, merged: 0, coalesced: 0, retained: 0, failed: 0, lost: 0, stale: 0 };
  readonly #random: Random;
  readonly #clock = createVirtualClock();
  readonly #world: ResourceWorld;
  readonly #store: Store;
  readonly #connections: readonly Connection[];
  readonly #consumers: { consumer: Consumer; stop: () => void }[] = [];
  readonly #walks: Promise<void>[] = [];

  constructor(random: Random) {
    this.#random = random;
    this.#world = new ResourceWorld(random);
    let looks = 0;
    this.#store = createResourceStore<WorldObject>({
      // Each look at the time is a quarter of a millisecond later, so that slices have an end.
      clock: { now: () => this.#clock.now() + looks++ / 4, wallTime: this.#clock.wallTime, after: this.#clock.after },
      latencyMs: 2,
      pendingMax: 1 + this.#upTo(30),
      coalesce: random() < 0.7,
      sliceMs: 1,
      indexes: {
        tier: ({ object }) => object?.tiers ?? [],
        owners: ({ ownerReferences }) => ownerReferences.map(({ name }) => name),
      },
    });
    const parts = { clock: this.#clock, store: this.#store, random };
    this.#connections = this.#world.kinds.map((world) => new Connection(world, parts));
    this.#subscribe({});
    this.#subscribe({ snapshotView: true });
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      this.#store.checkInvariants();
      this.met.retained += this.#store.stats.retained;
    }
    for (const connection of this.#connections) connection.list(this.#world.version);
    await this.#settle();
    const truth = this.#world.kinds.flatMap(({ groupKind, objects }) =>
      [...objects.values()].map((object) => [resourceKeyText(worldKey(groupKind, object)), object] as const),
    );
    expect(new Map([...located(this.#store)].map(([text, { object }]) => [text, object]))).toEqual(new Map(truth));
    expect(this.#store.isSynced()).toBe(true);
    expect(this.#store.stats).toMatchObject({ pins: 0, retained: 0, pending: 0 });
    this.met.coalesced += this.#store.stats.coalesced;
    this.#store.close();
    expect(this.#clock.pending).toBe(0);
  }

  async #step(): Promise<void> {
    const luck = this.#random();
    const connection = this.#connections[this.#upTo(this.#connections.length - 1)] as Connection;
    if (luck < 0.4) this.#world.change();
    else if (luck < 0.48) this.#list(connection);
    else if (luck < 0.7) connection.watch(1 + this.#upTo(4));
    else if (luck < 0.74) connection.replay();
    else if (luck < 0.76) this.#lose(connection);
    else if (luck < 0.82) await this.#clock.advance(this.#upTo(4));
    else if (luck < 0.88) this.#compare();
    else if (luck < 0.93) this.#walk();
    else if (luck < 0.96) await this.#settle();
    else this.#turnOver();
  }

  #list(connection: Connection): void {
    const isStale = this.#random() < 0.2;
    const fails = this.#random() < 0.2;
    if (isStale) this.met.stale++;
    if (fails) this.met.failed++;
    connection.list(isStale ? 1 + this.#upTo(this.#world.version - 1) : this.#world.version, fails);
  }

  /** Applied, the store has what the cores have, by key, in lists, in indexes and in walks: RC9, RC13, RH1 to RH6. */
  #compare(): void {
    this.#store.flush();
    const expected = new Map<string, WorldObject>();
    for (const [place, { core }] of this.#connections.entries()) {
      const groupKind = this.#world.kinds[place]?.groupKind;
      if (groupKind === undefined) continue;
      for (const [, object] of core.entries()) expected.set(resourceKeyText(worldKey(groupKind, object)), object);
    }
    const objects = located(this.#store);
    expect(new Map([...objects].map(([text, { object }]) => [text, object]))).toEqual(expected);
    for (const tier of TIERS) {
      const found = this.#store.byIndex('tier', tier).map(({ key }) => resourceKeyText(key));
      expect(found.sort()).toEqual(
        [...objects]
          .filter(([, { object }]) => object.tiers.includes(tier))
          .map(([text]) => text)
          .sort(),
      );
    }
    for (const [text, { key, object }] of objects) {
      expect(this.#store.get(key)?.object).toBe(object);
      expect(this.#store.byUid(object.metadata.uid)?.key).toEqual(key);
      const visited: string[] = [];
      const { cycleCount } = this.#store.iterateHierarchy(
        [key],
        (resource) => void visited.push(resourceKeyText(resource.key)),
      );
      expect(visited.sort()).toEqual([...reachable(objects, [text])].sort());
      this.met.cycles += cycleCount;
    }
  }

  /** A walk that goes on while things change is of the moment at which it began: RC9. */
  #walk(): void {
    const objects = located(this.#store);
    const starts = [...objects.values()].map(({ key }) => key).filter(() => this.#random() < 0.3);
    const visited = new Map<string, unknown>();
    const check = ({ seq, visited: count }: HierarchyResult): void => {
      expect(seq).toBe(begun);
      expect(count).toBe(visited.size);
      const expected = reachable(objects, starts.map(resourceKeyText));
      expect(visited).toEqual(new Map([...expected].map((text) => [text, objects.get(text)?.object])));
    };
    const begun = this.#store.seq;
    const walk = this.#store.iterateHierarchyInSlices(starts, ({ key, object }) => {
      visited.set(resourceKeyText(key), object);
      // In the middle of the walk, as between two slices.
      if (this.#random() < 0.3) {
        for (const connection of this.#connections) connection.watch(2);
        this.#store.flush();
      }
    });
    this.met.walks++;
    this.#walks.push(walk.then(check));
  }

  async #settle(): Promise<void> {
    for (let turn = 0; this.#clock.pending > 0 && turn < 2000; turn++) await this.#clock.advanceToNext();
    await this.#store.idle();
    await Promise.all(this.#walks.splice(0));
    this.#compare();
    for (let turn = 0; this.#clock.pending > 0 && turn < 2000; turn++) await this.#clock.advanceToNext();
    await this.#store.idle();
    const known = new Map([...located(this.#store)].map(([text, { object }]) => [text, object]));
    for (const { consumer } of this.#consumers) expect(consumer.known).toEqual(known);
    expect(this.#store.stats.handlers.every(({ failures, depth }) => failures === 0 && depth === 0)).toBe(true);
    for (const { merged } of this.#store.stats.handlers) this.met.merged += merged;
  }

  /** Handlers leave and come: RC8. */
  #turnOver(): void {
    if (this.#consumers.length > 4) this.#consumers.splice(2, 1)[0]?.stop();
    const kinds: HandlerOptions[] = [{}, { coalesce: true }, { queueMax: 2 }, { snapshotView: true, coalesce: true }];
    this.#subscribe(kinds[this.#upTo(kinds.length - 1)] ?? {});
  }

  #subscribe(options: HandlerOptions): void {
    // What waits to be applied is told to it, and what was applied is not.
    const consumer = new Consumer(this.#clock, options, this.#random() < 0.5);
    this.#consumers.push({ consumer, stop: consumer.subscribe(this.#store) });
  }

  #lose(connection: Connection): void {
    connection.lose();
    this.met.lost++;
  }

  #upTo(max: number): number {
    return Math.floor(this.#random() * (max + 1));
  }
}

describe('the resource store', () => {
  it('follows servers over any connections, and tells everybody: RC1 to RC14, RH1 to RH7', async () => {
    const random = createSeededRandom(testSeed());
    const met: Record<string, number> = {};
    for (let index = 0; index < PROGRAMS; index++) {
      const program = new Program(random);
      try {
        await program.run();
      } catch (error) {
        throw new Error(`program ${index}: ${reproduce('test/property/resource-cache')}`, { cause: error });
      }
      for (const [what, count] of Object.entries(program.met)) met[what] = (met[what] ?? 0) + count;
    }
    // Nothing that is claimed was left out of the programs.
    for (const [what, count] of Object.entries(met)) expect([what, count > 0]).toEqual([what, true]);
  });
});
