import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObjectList } from '../../src/storage/types.ts';
import { sized } from '../support/size.ts';
import { openRig, PREFIX, Reader, type Rig, type Thing, thing } from '../unit/storage/rig.ts';

/** Random programs of writes, compactions, lists in pages and watches, against all states that there have been. */
type Step =
  | { readonly type: 'write'; readonly name: number; readonly spec: number }
  | { readonly type: 'outside'; readonly name: number; readonly spec: number }
  | { readonly type: 'delete'; readonly name: number }
  | { readonly type: 'compact'; readonly back: number }
  | { readonly type: 'list'; readonly limit: number; readonly isOdd: boolean; readonly isWatched: boolean }
  | { readonly type: 'page'; readonly which: number }
  | { readonly type: 'read'; readonly which: number };

const name = fc.nat(7);
const spec = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('write' as const), name, spec }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('outside' as const), name, spec }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('delete' as const), name }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('compact' as const), back: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('list' as const),
      limit: fc.integer({ min: 1, max: 3 }),
      isOdd: fc.boolean(),
      isWatched: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('page' as const), which: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('read' as const), which: fc.nat(3) }) },
);

type State = ReadonlyMap<string, { readonly spec: number; readonly revision: number }>;

const isOdd = ({ spec: value }: Thing) => Number(value) % 2 === 1;
const nameOf = (index: number) => `ns${index % 2}/p${index}`;
const show = (key: string, value: number, revision: number) => `${key}=${value}@${revision}`;
const showThing = ({ metadata, spec: value }: Thing) =>
  show(String(metadata?.name), Number(value), Number(metadata?.resourceVersion));

/** A list in pages, as far as it has come. */
interface Reading {
  readonly limit: number;
  readonly isOdd: boolean;
  /** Of the pages since the list began, or since it had to go on at another state. */
  revision: string;
  from: string;
  items: string[];
  token: string | undefined;
}

interface Watching {
  readonly reader: Reader;
  readonly isOdd: boolean;
  readonly from: number;
}

class World {
  readonly #rig: Rig;
  /** By revision. */
  readonly #states: State[] = [new Map(), new Map()];
  readonly #lists: Reading[] = [];
  readonly #watches: Watching[] = [];

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async step(action: Step): Promise<void> {
    const { storage, run, truth } = this.#rig;
    switch (action.type) {
      case 'write': {
        const key = nameOf(action.name);
        const written = await run(
          storage.guaranteedUpdate(`/pods/${key}`, () => thing(key, action.spec), { ignoreNotFound: true }),
        );
        const before = this.#now.get(key);
        if (before?.spec === action.spec) expect(showThing(written)).toBe(show(key, before.spec, before.revision));
        else this.#commit(Number(written.metadata?.resourceVersion), key, action.spec);
        return;
      }
      case 'outside': {
        const key = nameOf(action.name);
        this.#commit(await truth.put(`${PREFIX}/pods/${key}`, thing(key, action.spec)), key, action.spec);
        return;
      }
      case 'delete': {
        const key = nameOf(action.name);
        if (!this.#now.has(key)) return;
        const deleted = await run(storage.delete(`/pods/${key}`));
        this.#commit(Number(deleted.metadata?.resourceVersion), key, undefined);
        return;
      }
      case 'compact': {
        await run(storage.getCurrentResourceVersion());
        const revision = this.#states.length - 1 - action.back;
        if (revision > storage.compactRevision) await run(this.#rig.store.compact(revision));
        return;
      }
      case 'list':
        return this.#list(action);
      case 'page':
        return this.#page(this.#lists[action.which % Math.max(1, this.#lists.length)]);
      case 'read':
        await this.#watches[action.which % Math.max(1, this.#watches.length)]?.reader.more();
    }
  }

  /** Every list comes to its end, every watch to now. */
  async end(): Promise<void> {
    for (const list of [...this.#lists]) while (this.#lists.includes(list)) await this.#page(list);
    await this.#rig.run(this.#rig.storage.getCurrentResourceVersion());
    for (const watch of this.#watches) await this.#checkWatch(watch);
  }

  get #now(): State {
    return this.#states.at(-1) as State;
  }

  #commit(revision: number, key: string, value: number | undefined): void {
    expect(revision).toBe(this.#states.length);
    const next = new Map(this.#now);
    if (value === undefined) next.delete(key);
    else next.set(key, { spec: value, revision });
    this.#states.push(next);
  }

  async #list({ limit, isOdd: odd, isWatched }: Extract<Step, { type: 'list' }>): Promise<void> {
    const { storage, run, clock } = this.#rig;
    const options = { recursive: true, ...(odd ? { predicate: isOdd } : {}) };
    const page = await run(storage.list('/pods', { ...options, limit }));
    expect(page.metadata.resourceVersion).toBe(String(this.#states.length - 1));
    const reading = { limit, isOdd: odd, revision: '', from: '', items: [], token: undefined };
    this.#lists.push(reading);
    this.#take(reading, page);
    if (!isWatched) return;
    const { resourceVersion } = page.metadata;
    const watch = storage.watch('/pods', { ...options, resourceVersion });
    this.#watches.push({ reader: new Reader(watch, clock), isOdd: odd, from: Number(resourceVersion) });
  }

  async #page(reading: Reading | undefined): Promise<void> {
    if (reading === undefined) return;
    const { storage, run } = this.#rig;
    const { limit, token } = reading;
    const options = { recursive: true, limit, ...(reading.isOdd ? { predicate: isOdd } : {}) };
    try {
      this.#take(reading, await run(storage.list('/pods', { ...options, continue: token as string })));
    } catch (error) {
      const { code, continue: rest } = error as { code?: string; continue?: string };
      if (code !== 'EXPIRED' || rest === undefined) throw error;
      expect(storage.compactRevision).toBeGreaterThan(Number(reading.revision));
      // What there is of it is right as far as it goes; the rest is of another state.
      this.#check(reading, this.#startOf(token));
      Object.assign(reading, { token: rest, revision: '', from: this.#startOf(rest), items: [] });
    }
  }

  #startOf(token: string | undefined): string {
    return JSON.parse(Buffer.from(String(token), 'base64url').toString()).start;
  }

  #take(reading: Reading, page: ObjectList<Thing>): void {
    const { metadata, items } = page;
    if (reading.revision === '') reading.revision = metadata.resourceVersion;
    expect(metadata.resourceVersion).toBe(reading.revision);
    reading.items.push(...items.map(showThing));
    reading.token = metadata.continue;
    if (metadata.continue !== undefined) {
      expect(items.length).toBe(reading.limit);
      const left = this.#rows(reading.revision, false, this.#startOf(metadata.continue), '~').length;
      if (reading.isOdd) expect(metadata.remainingItemCount).toBeUndefined();
      else expect(metadata.remainingItemCount).toBe(left);
      return;
    }
    this.#check(reading, '~');
    this.#lists.splice(this.#lists.indexOf(reading), 1);
  }

  #check(reading: Reading, until: string): void {
    if (reading.revision === '') return;
    expect(reading.items).toEqual(this.#rows(reading.revision, reading.isOdd, reading.from, until));
  }

  #rows(revision: string, odd: boolean, from: string, until: string): string[] {
    return [...(this.#states[Number(revision)] as State)]
      .filter(([key, { spec: value }]) => key >= from && key < until && (!odd || value % 2 === 1))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, row]) => show(key, row.spec, row.revision));
  }

  /** What came after the list, all of it, once and in order; or, if compaction took it, the beginning of that. */
  async #checkWatch({ reader, isOdd: odd, from }: Watching): Promise<void> {
    await reader.more();
    const expected: string[] = [];
    for (let revision = from + 1; revision < this.#states.length; revision++) {
      expected.push(...this.#events(revision, odd));
    }
    if (reader.error === undefined) expect(reader.events).toEqual(expected);
    else {
      expect(reader.error).toMatchObject({ code: 'EXPIRED' });
      expect(reader.events).toEqual(expected.slice(0, reader.events.length));
      expect(this.#rig.storage.compactRevision).toBeGreaterThan(from);
    }
  }

  #events(revision: number, odd: boolean): string[] {
    const [before, after] = [this.#states[revision - 1] as State, this.#states[revision] as State];
    const key = [...new Set([...before.keys(), ...after.keys()])].find((each) => before.get(each) !== after.get(each));
    const counts = (row: { spec: number } | undefined) =>
      row !== undefined && (!odd || row.spec % 2 === 1) ? row : undefined;
    const [was, is] = [counts(before.get(String(key))), counts(after.get(String(key)))];
    if (is !== undefined)
      return [`${was === undefined ? 'ADDED' : 'MODIFIED'} ${show(String(key), is.spec, revision)}`];
    return was === undefined ? [] : [`DELETED ${show(String(key), was.spec, revision)}`];
  }
}

describe.each(['embedded', 'replica'] as const)('random programs of a storage, %s', (kind) => {
  it.each([0, 2])(
    'K05, K09, K17: pages are of one state, and watches from a list have no gap (%i pins)',
    async (pinsMax) => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const rig = await openRig(kind, { storage: { pinsMax } });
        const world = new World(rig);
        for (const action of steps) await world.step(action);
        await world.end();
        await rig.storage.close();
        await rig.store.close();
      });
      await fc.assert(property, { numRuns: sized({ smoke: 60, full: 3000 }) });
    },
  );
});
