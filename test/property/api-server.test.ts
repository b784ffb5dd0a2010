import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/open-store.ts';
import type { ApiObject } from '../../src/server/kubernetes/stored-object.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { openTestApiServer, type TestApiServer } from '../../src/testing/test-api-server.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Store } from '../../src/types/store.ts';
import { sized } from '../support/size.ts';
import { type Lines, watch } from '../unit/server/rig.ts';

/**
 * Random programs over HTTP beside a naive model: a map of what there is, and all states that there have been by resource
 * version. Lists in pages go on while others write; watches begin anywhere, and are broken and resumed.
 */
type Step =
  | { readonly type: 'create' | 'delete' | 'unfinalize'; readonly who: number; readonly flag: boolean }
  | { readonly type: 'put' | 'merge'; readonly who: number; readonly spec: number; readonly flag: boolean }
  | { readonly type: 'deleteAll'; readonly ns: number }
  | { readonly type: 'list'; readonly limit: number; readonly ns: number }
  | { readonly type: 'page' | 'read' | 'break'; readonly which: number }
  | { readonly type: 'watch'; readonly back: number; readonly ns: number; readonly isInitial: boolean };

const who = fc.nat(7);
const flag = fc.boolean();
const ns = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constantFrom('create' as const, 'delete', 'unfinalize'), who, flag }) },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constantFrom('put' as const, 'merge'), who, spec: fc.nat(2), flag }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('deleteAll' as const), ns }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('list' as const), limit: fc.integer({ min: 1, max: 3 }), ns }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constantFrom('page' as const, 'read', 'break'), which: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('watch' as const), back: fc.nat(6), ns, isInitial: flag }) },
);

/** What the model knows of an object. */
interface Known {
  readonly uid: string;
  readonly version: number;
  readonly spec: number;
  readonly generation: number;
  readonly isHeld: boolean;
  readonly isDeleting: boolean;
}
type State = ReadonlyMap<string, Known>;

const nameOf = (index: number) => `ns${index % 2}/p${index}`;
const pathOf = (key: string) => `/api/v1/namespaces/${key.replace('/', '/configmaps/')}`;
/** 2 is across namespaces. */
const collection = (index: number) => (index === 2 ? '/api/v1/configmaps' : `/api/v1/namespaces/ns${index}/configmaps`);
const isIn = (key: string, index: number) => index === 2 || key.startsWith(`ns${index}/`);
const show = (key: string, { uid, version, spec, generation, isDeleting }: Known) =>
  `${key}=${spec}@${version} g${generation} ${uid.slice(0, 8)}${isDeleting ? ' deleting' : ''}`;

function showObject(object: ApiObject): string {
  const { name, namespace, uid = '', resourceVersion, generation = 0, deletionTimestamp } = object.metadata ?? {};
  const { spec } = object as { readonly spec?: number };
  const known = { uid, version: Number(resourceVersion), spec: Number(spec), generation, isHeld: false };
  return show(`${namespace}/${name}`, { ...known, isDeleting: deletionTimestamp !== undefined });
}

interface Reading {
  readonly ns: number;
  readonly limit: number;
  readonly version: number;
  readonly items: string[];
  token: string | undefined;
}

interface Watching {
  readonly ns: number;
  lines: Lines;
  /** The version up to which everything was seen. */
  seen: number;
  /** What the client has, applied event by event. */
  readonly state: Map<string, string>;
}

class World {
  readonly #server: TestApiServer;
  readonly #clock: VirtualClock;
  /** By resource version: the first two are the empty store. */
  readonly #states: State[] = [new Map(), new Map()];
  readonly #lists: Reading[] = [];
  readonly #watches: Watching[] = [];

  constructor(server: TestApiServer, clock: VirtualClock) {
    this.#server = server;
    this.#clock = clock;
  }

  get #now(): State {
    return this.#states.at(-1) ?? new Map();
  }

  async step(action: Step): Promise<void> {
    switch (action.type) {
      case 'create':
        return this.#create(nameOf(action.who), action.flag);
      case 'put':
      case 'merge':
        return this.#update(action.type, nameOf(action.who), action.spec, action.flag);
      case 'unfinalize':
        return this.#unfinalize(nameOf(action.who));
      case 'delete':
        return this.#delete(nameOf(action.who), action.flag);
      case 'deleteAll':
        return this.#deleteAll(action.ns);
      case 'list':
        return this.#list(action.ns, action.limit);
      case 'page':
        return this.#page(this.#lists[action.which]);
      case 'watch':
        return this.#watch(action.ns, action.back, action.isInitial);
      case 'read':
        return this.#read(this.#watches[action.which]);
      case 'break':
        return this.#break(this.#watches[action.which]);
    }
  }

  /** All lists to their end, all watches to the newest state. */
  async finish(): Promise<void> {
    for (const list of this.#lists) while (list.token !== undefined) await this.#page(list);
    for (const watching of this.#watches) {
      while (this.#isBehind(watching)) await this.#read(watching);
      const expected = [...this.#now].filter(([key]) => isIn(key, watching.ns)).map(([key, known]) => show(key, known));
      expect([...watching.state.values()].sort()).toEqual(expected.sort());
      await watching.lines.cancel();
    }
    expect(this.#server.openWatches).toEqual({});
  }

  #commit(key: string, known: Known | undefined): void {
    const next = new Map(this.#now);
    if (known === undefined) next.delete(key);
    else next.set(key, known);
    this.#states.push(next);
  }

  async #create(key: string, isHeld: boolean): Promise<void> {
    const [namespace = '', name] = key.split('/');
    const finalizers = isHeld ? { finalizers: ['test/held'] } : {};
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const { status, body } = await this.#server.call('POST', path, { metadata: { name, ...finalizers }, spec: 0 });
    expect(status).toBe(this.#now.has(key) ? 409 : 201);
    if (status === 409) return;
    const { uid = '' } = body.metadata;
    this.#commit(key, { uid, version: this.#states.length, spec: 0, generation: 1, isHeld, isDeleting: false });
    expect(showObject(body)).toBe(show(key, this.#now.get(key) as Known));
  }

  async #update(type: 'put' | 'merge', key: string, spec: number, isChecked: boolean): Promise<void> {
    const known = this.#now.get(key);
    const metadata = {
      name: key.split('/')[1],
      ...(isChecked ? { resourceVersion: String(known?.version ?? 1) } : {}),
      ...(type === 'put' && known?.isHeld ? { finalizers: ['test/held'] } : {}),
    };
    const method = type === 'put' ? 'PUT' : 'PATCH';
    const { status, body } = await this.#server.call(method, pathOf(key), { metadata, spec });
    expect(status).toBe(known === undefined ? 404 : 200);
    if (known === undefined) return;
    if (known.spec !== spec) {
      this.#commit(key, { ...known, spec, version: this.#states.length, generation: known.generation + 1 });
    }
    expect(showObject(body)).toBe(show(key, this.#now.get(key) as Known));
    // From the state before this one it is refused, and changes nothing.
    const old = { metadata: { resourceVersion: String(known.version - 1) }, spec: spec + 1 };
    expect((await this.#server.call('PATCH', pathOf(key), old)).status).toBe(409);
  }

  async #unfinalize(key: string): Promise<void> {
    const known = this.#now.get(key);
    const { status } = await this.#server.call('PATCH', pathOf(key), { metadata: { finalizers: null } });
    expect(status).toBe(known === undefined ? 404 : 200);
    if (known === undefined || !known.isHeld) return;
    this.#commit(key, known.isDeleting ? undefined : { ...known, isHeld: false, version: this.#states.length });
  }

  async #delete(key: string, isChecked: boolean): Promise<void> {
    const known = this.#now.get(key);
    if (known !== undefined) {
      const wrong = await this.#server.call('DELETE', pathOf(key), { preconditions: { uid: 'none' } });
      expect(wrong.status).toBe(409);
    }
    const options = isChecked && known !== undefined ? { preconditions: { uid: known.uid } } : {};
    const { status } = await this.#server.call('DELETE', pathOf(key), options);
    expect(status).toBe(known === undefined ? 404 : 200);
    this.#deleted(key);
  }

  #deleted(key: string): void {
    const known = this.#now.get(key);
    if (known === undefined || known.isDeleting) return;
    const { generation } = known;
    const held = { ...known, isDeleting: true, version: this.#states.length, generation: generation + 1 };
    this.#commit(key, known.isHeld ? held : undefined);
  }

  async #deleteAll(index: number): Promise<void> {
    const { status } = await this.#server.call('DELETE', collection(index));
    expect(status).toBe(index === 2 ? 405 : 200);
    if (index === 2) return;
    for (const key of [...this.#now.keys()].filter((one) => isIn(one, index)).sort()) this.#deleted(key);
  }

  async #list(index: number, limit: number): Promise<void> {
    if (this.#lists.length === 4) return;
    const list: Reading = { ns: index, limit, version: this.#states.length - 1, items: [], token: '' };
    this.#lists.push(list);
    await this.#page(list);
  }

  /** Pages together are the state that the first one was of, whatever was written since. */
  async #page(list: Reading | undefined): Promise<void> {
    if (list?.token === undefined) return;
    const more = list.token === '' ? '' : `&continue=${encodeURIComponent(list.token)}`;
    const { body } = await this.#server.call('GET', `${collection(list.ns)}?limit=${list.limit}${more}`);
    expect(body.metadata.resourceVersion).toBe(String(list.version));
    list.items.push(...(body.items ?? []).map(showObject));
    list.token = body.metadata.continue;
    const expected = [...(this.#states[list.version] ?? [])].filter(([key]) => isIn(key, list.ns)).sort();
    const left = expected.length - list.items.length;
    expect(body.metadata.remainingItemCount ?? 0).toBe(left);
    if (list.token === undefined) expect(list.items).toEqual(expected.map(([key, known]) => show(key, known)));
  }

  async #watch(index: number, back: number, isInitial: boolean): Promise<void> {
    if (this.#watches.length === 4) return;
    const newest = this.#states.length - 1;
    const seen = isInitial ? newest : Math.max(1, newest - back);
    const query = isInitial ? '' : `?resourceVersion=${seen}`;
    const lines = await watch(this.#server, `${collection(index)}${query}`);
    const known = [...(this.#states[seen] ?? [])].filter(([key]) => isIn(key, index));
    const state = new Map(known.map(([key, value]) => [key, show(key, value)]));
    this.#watches.push({ ns: index, lines, seen, state });
    if (!isInitial) return;
    const events: string[] = [];
    for (let count = 0; count < known.length; count++) {
      const line = await lines.next();
      expect(line?.type).toBe('ADDED');
      events.push(showObject(line?.object as ApiObject));
    }
    // In the order of their versions.
    expect(events).toEqual(known.sort(([, a], [, b]) => a.version - b.version).map(([key, value]) => show(key, value)));
  }

  #isBehind({ ns: index, seen }: Watching): boolean {
    return this.#next(seen, index) !== undefined;
  }

  /** The first change after a version that a watch of this collection has to tell. */
  #next(after: number, index: number): { readonly version: number; readonly key: string } | undefined {
    for (let version = after + 1; version < this.#states.length; version++) {
      const [before, now] = [this.#states[version - 1], this.#states[version]];
      const keys = [...new Set([...(before?.keys() ?? []), ...(now?.keys() ?? [])])];
      const key = keys.find((one) => before?.get(one) !== now?.get(one));
      if (key !== undefined && isIn(key, index)) return { version, key };
    }
    return undefined;
  }

  /** The next event is the next change: none is missing, none comes twice. */
  async #read(watching: Watching | undefined): Promise<void> {
    if (watching === undefined) return;
    const next = this.#next(watching.seen, watching.ns);
    if (next === undefined) return;
    const { version, key } = next;
    const line = await watching.lines.next();
    const [before, now] = [this.#states[version - 1]?.get(key), this.#states[version]?.get(key)];
    const type = now === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED';
    const object = line?.object as ApiObject;
    expect([line?.type, object.metadata?.resourceVersion]).toEqual([type, String(version)]);
    if (now === undefined) {
      watching.state.delete(key);
      expect(showObject(object)).toBe(show(key, { ...(before as Known), version }));
    } else {
      watching.state.set(key, showObject(object));
      expect(showObject(object)).toBe(show(key, now));
    }
    watching.seen = version;
  }

  /** A watch that breaks is gone on with from where it was. */
  async #break(watching: Watching | undefined): Promise<void> {
    if (watching === undefined) return;
    await watching.lines.cancel();
    await this.#clock.settle();
    watching.lines = await watch(this.#server, `${collection(watching.ns)}?resourceVersion=${watching.seen}`);
  }
}

async function run(steps: readonly Step[]): Promise<void> {
  const clock = createVirtualClock();
  const store: Store<ApiObject> = await openStore<ApiObject>({ clock });
  const server = await openTestApiServer({ clock, store, random: createSeededRandom(5) });
  const world = new World(server, clock);
  for (const action of steps) await world.step(action);
  await world.finish();
  await server.close();
  await store.close();
  expect(clock.pending).toBe(0);
}

describe('programs of requests', () => {
  it('leave what the model says, page by page and event by event', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 60 }), run);
    await fc.assert(property, { numRuns: sized({ smoke: 150, full: 5000 }) });
  });

  it('written by many at once: pages are of one state, and a watch tells each change once', async () => {
    const writers = fc.array(fc.array(fc.tuple(who, fc.nat(3)), { maxLength: 8 }), { minLength: 2, maxLength: 4 });
    const property = fc.asyncProperty(writers, fc.integer({ min: 1, max: 3 }), async (all, limit) => {
      const server = await openTestApiServer({ random: createSeededRandom(5) });
      const lines = await watch(server, '/api/v1/configmaps?resourceVersion=1');
      const truth: Map<string, string>[] = [];
      /** Each write is one request of its own; the server's answers say in which order they were. */
      const write = async (index: number, spec: number) => {
        const key = nameOf(index);
        const made = await server.call('POST', pathOf(key).replace(/\/[^/]*$/, ''), {
          metadata: { name: key.split('/')[1] },
          spec,
        });
        if (made.status === 409)
          await server.call(spec === 3 ? 'DELETE' : 'PATCH', pathOf(key), spec === 3 ? {} : { spec });
      };
      const read = async () => {
        const items: string[] = [];
        let version: string | undefined;
        for (let token: string | undefined = ''; token !== undefined; ) {
          const more: string = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
          const { body } = await server.call('GET', `/api/v1/configmaps?limit=${limit}${more}`);
          version ??= body.metadata.resourceVersion;
          expect(body.metadata.resourceVersion).toBe(version);
          items.push(...(body.items ?? []).map(showObject));
          token = body.metadata.continue;
        }
        return { version: Number(version), items };
      };
      const programs = all.map(async (program) => {
        for (const [index, spec] of program) await write(index, spec);
      });
      const lists = await Promise.all([read(), read(), ...programs]);
      const final = await read();
      // The states by version, as the watch tells them.
      truth[1] = new Map();
      for (let version = 1; version < final.version; ) {
        const line = await lines.next();
        const object = line?.object as ApiObject;
        const { namespace, name, resourceVersion } = object.metadata ?? {};
        expect(Number(resourceVersion)).toBe(version + 1);
        const state = new Map(truth[version]);
        expect(line?.type).toBe(
          line?.type === 'DELETED' ? 'DELETED' : state.has(`${namespace}/${name}`) ? 'MODIFIED' : 'ADDED',
        );
        if (line?.type === 'DELETED') expect(state.delete(`${namespace}/${name}`)).toBe(true);
        else state.set(`${namespace}/${name}`, showObject(object));
        version++;
        truth[version] = state;
      }
      for (const list of [lists[0], lists[1], final]) {
        const state = [...(truth[list?.version ?? 0] ?? [])].sort().map(([, shown]) => shown);
        expect(list?.items).toEqual(state);
      }
      await lines.cancel();
      await server.close();
    });
    await fc.assert(property, { numRuns: sized({ smoke: 60, full: 2000 }) });
  });
});
