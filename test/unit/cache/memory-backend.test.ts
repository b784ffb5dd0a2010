import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { testBackend } from '../../../src/testing/backend-suite.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendWatchItem } from '../../../src/types/backend.ts';
import type { Store } from '../../../src/types/store.ts';
import { probe } from '../../support/replica-rig.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const ALL = { start: bytes(''), end: bytes('') };
const clock = createVirtualClock();
const random = createSeededRandom(1);

async function setUp(): Promise<{ data: Store<Uint8Array, Uint8Array>; backend: Backend }> {
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
  return { data, backend: createMemoryBackend(data) };
}

/** Reads a stream as far as it goes. */
function read(stream: AsyncIterable<BackendWatchItem>): { items: string[]; error: unknown } {
  const found: { items: string[]; error: unknown } = { items: [], error: undefined };
  const run = async () => {
    for await (const { type, revision } of stream) found.items.push(`${type} ${revision}`);
  };
  run().catch((error: unknown) => {
    found.error = error;
  });
  return found;
}

describe('the memory backend keeps every promise', () => {
  const stores = new WeakMap<Backend, Store<Uint8Array, Uint8Array>>();
  const cases = testBackend({
    capabilities: { progress: true, writable: true, leases: true },
    open: async () => {
      const { data, backend } = await setUp();
      stores.set(backend, data);
      return backend;
    },
    settle: () => clock.settle(),
    advance: (delayMs) => clock.advance(delayMs),
    destroyData: async (backend) => stores.get(backend)?.close(),
  });
  for (const { name, rule, run } of cases) it(`${rule}: ${name}`, run);
});

describe('the memory backend', () => {
  it('answers one question with all that is committed, behind its changes (B5)', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { data, backend } = await setUp();
      const stream = backend.watch({ ranges: [ALL], fromRevision: 2 });
      const found = read(stream);
      await clock.settle();
      // Asked for at every distance from the commit, so that the answer can neither overtake it nor stay behind it.
      void data.put(bytes('a'), bytes('1'));
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      stream.requestProgress?.();
      await clock.settle();
      expect(found.items, `after ${turns} turns`).toEqual(['open 1', 'change 2', 'progress 2']);
    }
  });

  it('joins questions for progress into one answer', async () => {
    const { data, backend } = await setUp();
    const stream = backend.watch({ ranges: [{ start: bytes('z') }], fromRevision: 2 });
    const found = read(stream);
    await data.put(bytes('a'), bytes('1'));
    for (let count = 0; count < 5; count++) stream.requestProgress?.();
    await clock.settle();
    expect(found.items).toEqual(['open 1', 'progress 2']);
  });

  it('leaves no watch behind when a stream ends', async () => {
    const { data, backend } = await setUp();
    const abort = new AbortController();
    const found = read(backend.watch({ ranges: [ALL], fromRevision: 2, signal: abort.signal }));
    await clock.settle();
    expect(data.stats().watchers).toEqual({ idle: 1, pending: 0 });
    abort.abort('enough');
    await clock.settle();
    expect([found.error, data.stats().watchers]).toEqual(['enough', { idle: 0, pending: 0 }]);
  });

  it('is named as its store, which stays the caller’s', async () => {
    const { data, backend } = await setUp();
    expect(await backend.status({})).toEqual({ identity: data.identity, revision: 1 });
    await backend[Symbol.asyncDispose]();
    expect((await data.put(bytes('a'), bytes('1'))).revision).toBe(2);
  });

  it('two replicas of it see each other', async () => {
    const { backend } = await setUp();
    const [one, two] = await Promise.all([openStore<number>({ backend }), openStore<number>({ backend })]);
    const watch = two.watch({ prefix: 'n/' });
    const { revision } = await one.put('n/x', 1);
    expect((await watch.next()).value).toMatchObject({ revision, events: [{ kv: { key: 'n/x', value: 1 } }] });
    expect(two.get('n/x')?.modRevision).toBe(revision);
    const waiting = probe(two.delete('n/none'));
    await clock.settle();
    expect(waiting.state).toBe('resolved');
    await Promise.all([one.close(), two.close()]);
  });
});

describe('what a memory backend is made of', () => {
  it.each<[unknown, string]>([
    [undefined, 'undefined is no store'],
    [null, 'null is no store'],
    [5, '5 is no store'],
    [{}, 'of type object is no store'],
  ])('not of %s', (store, reason) => {
    expect(() => createMemoryBackend(store as never)).toThrow(
      new TypeError(`Cannot create a memory backend: ${reason}`),
    );
  });

  it('not of a store whose keys are text, which would answer nothing', async () => {
    const store = await openStore();
    expect(() => createMemoryBackend(store as never)).toThrow(
      new TypeError("Cannot create a memory backend: the keys of the store are text, open it with keys: 'bytes'"),
    );
    await store.close();
  });
});
