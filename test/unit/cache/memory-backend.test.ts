import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendWatchItem } from '../../../src/types/backend.ts';
import type { Store } from '../../../src/types/store.ts';
import { probe } from '../../support/replica-rig.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (key: Uint8Array) => new TextDecoder().decode(key);
const ALL = [{ start: bytes(''), end: bytes('') }];
const clock = createVirtualClock();

async function setUp(): Promise<{ data: Store<Uint8Array, Uint8Array>; backend: Backend }> {
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random: createSeededRandom(1) });
  return { data, backend: createMemoryBackend(data) };
}

function brief(item: BackendWatchItem | undefined): string {
  if (item?.type !== 'change') return `${item?.type} ${item?.revision}`;
  const events = item.events.map((event) => (event.type === 'put' ? `+${text(event.kv.key)}` : `-${text(event.key)}`));
  return `change ${item.revision} ${events.join(' ')}`;
}

/** Reads a stream as far as it goes. */
function read(stream: AsyncIterable<BackendWatchItem>): { items: string[]; error: unknown; done: boolean } {
  const found: { items: string[]; error: unknown; done: boolean } = { items: [], error: undefined, done: false };
  const run = async () => {
    for await (const item of stream) found.items.push(brief(item));
    found.done = true;
  };
  run().catch((error: unknown) => {
    found.error = error;
  });
  return found;
}

describe('the memory backend', () => {
  it('opens a stream with the present position, also for a start in the future (B4)', async () => {
    const { data, backend } = await setUp();
    await data.put(bytes('a'), bytes('1'));
    const found = read(backend.watch({ ranges: ALL, fromRevision: 4 }));
    await clock.settle();
    expect(found.items).toEqual(['open 2']);
    await data.put(bytes('b'), bytes('1'));
    await data.put(bytes('c'), bytes('1'));
    await clock.settle();
    expect(found.items).toEqual(['open 2', 'change 4 +c']);
  });

  it('makes one stream of several ranges, a transaction in one item (B9)', async () => {
    const { data, backend } = await setUp();
    const ranges = [{ start: bytes('a'), end: bytes('b') }, { start: bytes('c') }];
    const found = read(backend.watch({ ranges, fromRevision: 2 }));
    const put = (key: string) => ({ type: 'put', key: bytes(key), value: bytes('1') }) as const;
    await data.txn({ then: [put('c'), put('a1'), put('b'), put('cc')] });
    await data.put(bytes('b'), bytes('2'));
    await data.delete({ prefix: bytes('') });
    await clock.settle();
    expect(found.items).toEqual(['open 1', 'change 2 +c +a1', 'change 4 -a1 -c']);
    const { count, kvs, revision } = await backend.range({ ranges, revision: 2 });
    expect([count, kvs.map(({ key }) => text(key)), revision]).toEqual([2, ['a1', 'c'], 2]);
  });

  it('sends progress behind everything it proves (B5)', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { data, backend } = await setUp();
      const stream = backend.watch({ ranges: ALL, fromRevision: 2 });
      const found = read(stream);
      await clock.settle();
      // Asked for at every distance from the commit, so that the answer cannot overtake it.
      void data.put(bytes('a'), bytes('1'));
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      stream.requestProgress?.();
      await clock.settle();
      expect(found.items, `after ${turns} turns`).toEqual(['open 1', 'change 2 +a', 'progress 2']);
    }
  });

  it('answers progress on a quiet prefix, and joins questions', async () => {
    const { data, backend } = await setUp();
    const stream = backend.watch({ ranges: [{ start: bytes('z') }], fromRevision: 2 });
    const found = read(stream);
    await data.put(bytes('a'), bytes('1'));
    for (let count = 0; count < 5; count++) stream.requestProgress?.();
    await clock.settle();
    expect(found.items).toEqual(['open 1', 'progress 2']);
  });

  it('ends a stream with CompactedError at the open or later (B6), and with the store (B7)', async () => {
    const { data, backend } = await setUp();
    for (let count = 0; count < 5; count++) await data.put(bytes('a'), bytes(`${count}`));
    await data.compact(4);
    const late = read(backend.watch({ ranges: ALL, fromRevision: 3 }));
    const legal = read(backend.watch({ ranges: ALL, fromRevision: 4 }));
    await clock.settle();
    expect([late.items, (late.error as Error).name]).toEqual([['open 6'], 'CompactedError']);
    expect(legal.items.length).toBe(4);
    await data.close();
    await clock.settle();
    expect((legal.error as Error).name).toBe('ClosedError');
  });

  it('ends a stream with its signal', async () => {
    const { data, backend } = await setUp();
    const abort = new AbortController();
    const found = read(backend.watch({ ranges: ALL, fromRevision: 2, signal: abort.signal }));
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    expect([found.error, data.stats().watchers]).toEqual(['enough', { idle: 0, pending: 0 }]);
  });

  it('names its data, and carries create, mod and version (B8)', async () => {
    const { data, backend } = await setUp();
    await data.put(bytes('a'), bytes('1'));
    await data.put(bytes('a'), bytes('2'));
    const { identity } = await backend.status({});
    expect([identity, (await backend.range({ ranges: ALL })).identity]).toEqual([data.identity, data.identity]);
    const { kvs } = await backend.range({ ranges: ALL });
    expect(kvs[0]).toMatchObject({ createRevision: 2, modRevision: 3, version: 2, lease: '0' });
    expect(await backend.range({ ranges: ALL, countOnly: true })).toMatchObject({ count: 1, kvs: [] });
    expect((await backend.range({ ranges: ALL, minModRevision: 4 })).kvs).toEqual([]);
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
