import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/types/codec.ts';
import { ClosedError, CompactedError, IdentityChangedError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import type { WatchOptions } from '../../../src/types/watch.ts';
import { brief, open3kv, openTestStore, Parts, Reader, settle } from '../store/fixture.ts';

/**
 * Watches of an embedded store: rules R27-R29, R32, R33, R36, R38, M26, M28-M30, cases C39-C44, C46-C49, C51, C52 and
 * C54-C56. Of part 2 or of the wire, and not here: fragments and batches of many revisions (R30, R31), progress messages (R34, C50), watch ids
 * (R35, C53). Here a batch is one revision, progress is a property, and a watch is ended by its own handle.
 */
async function openPuts(count: number) {
  const { store, clock } = await openTestStore<number>();
  for (let index = 0; index < count; index++) await store.put('foo', index);
  return { store, clock };
}

describe('where a watch starts', () => {
  it('C39, R27: from now, and from a revision on', async () => {
    const { store } = await openTestStore<string>();
    const first = new Reader(store.watch({ start: 'foo', end: 'fop' }));
    await store.put('foo', 'bar');
    await store.put('foo1', 'bar1');
    expect(await first.take()).toEqual(['2: put foo(2,2,1)', '3: put foo1(3,3,1)']);
    const second = new Reader(store.watch({ start: 'foo1', end: 'foo2' }, { fromRevision: 3 }));
    expect(await second.take()).toEqual(['3: put foo1(3,3,1)']);
    await store.put('foo1', 'bar11');
    expect(await second.take()).toEqual(['4: put foo1(3,4,2)']);
  });

  it('C40, F9: the start is inclusive', async () => {
    const { store } = await openPuts(3);
    expect(await new Reader(store.watch({ key: 'foo' }, { fromRevision: 3 })).take()).toEqual([
      '3: put foo(2,3,2)',
      '4: put foo(2,4,3)',
    ]);
  });

  it('C41: events come in the order of the commits, not of the keys', async () => {
    const { store } = await openTestStore();
    for (const key of ['key1', 'key3', 'key2']) await store.put(key, 1);
    expect(await new Reader(store.watch({ start: 'key', end: 'key3' }, { fromRevision: 1 })).take()).toEqual([
      '2: put key1(2,2,1)',
      '4: put key2(4,4,1)',
    ]);
  });

  it('F10, U7: without a start nothing old is delivered, whenever it is read', async () => {
    const { store } = await openPuts(3);
    const reader = new Reader(store.watch({ key: 'foo' }));
    await store.put('foo', 9);
    expect(await reader.take()).toEqual(['5: put foo(2,5,4)']);
  });

  it('C46, U9: a start in the future waits for it', async () => {
    const { store } = await openTestStore();
    const reader = new Reader(store.watch({ prefix: '' }, { fromRevision: 10 }));
    for (let index = 0; index < 8; index++) await store.put('k', index);
    expect([await reader.take(), store.revision, reader.watch.progressRevision]).toEqual([[], 9, 9]);
    await store.put('k', 8);
    expect(await reader.take()).toEqual(['10: put k(2,10,9)']);
  });

  it('R28, C43, F7: a start below the low watermark is one CompactedError and nothing else', async () => {
    const { store } = await openPuts(10);
    await store.compact(5);
    const reader = new Reader(store.watch({ key: 'foo' }, { fromRevision: 4 }));
    expect(await reader.take()).toEqual(['CompactedError']);
    expect(reader.error).toMatchObject({ minRevision: 5, compactRevision: 5 });
    expect(await reader.watch.next()).toEqual({ value: undefined, done: true });
  });

  it('C44, F8: a start exactly at the low watermark is legal', async () => {
    const { store, clock } = await openPuts(10);
    await store.compact(5);
    while (await clock.advanceToNext());
    const reader = await new Reader(store.watch({ key: 'foo' }, { fromRevision: 5 })).drain();
    expect(reader.batches.map(({ revision }) => revision)).toEqual([5, 6, 7, 8, 9, 10, 11]);
  });

  it('C55, U10: a negative start is refused at once and touches no other watch', async () => {
    const { store } = await openTestStore();
    const reader = new Reader(store.watch({ key: 'a' }));
    expect(() => store.watch({ key: 'a' }, { fromRevision: -1 })).toThrow(RangeError);
    await store.put('a', 1);
    expect(await reader.take()).toEqual(['2: put a(2,2,1)']);
    expect(store.stats().watchers).toEqual({ idle: 1, pending: 0 });
  });

  it('C52, R36: an empty range is refused, one without end is not', async () => {
    const { store } = await openTestStore();
    for (const range of [
      { start: 'b', end: 'b' },
      { start: 'c', end: 'b' },
      { start: '', end: '' },
    ]) {
      expect(() => store.watch(range)).toThrow(RangeError);
    }
    const reader = new Reader(store.watch({ start: 'b' }));
    await store.put('a', 1);
    await store.put('z', 1);
    expect(await reader.take()).toEqual(['3: put z(3,3,1)']);
  });

  it('M24: a start is only good for the identity it belongs to', async () => {
    const { store } = await openTestStore();
    await store.put('a', 1);
    const { identity } = store;
    expect(await new Reader(store.watch({ prefix: '' }, { fromRevision: 2, identity })).take()).toEqual([
      '2: put a(2,2,1)',
    ]);
    const reader = await new Reader(store.watch({ prefix: '' }, { fromRevision: 2, identity: 'other' })).drain();
    expect(reader.error).toBeInstanceOf(IdentityChangedError);
    expect(reader.error).toMatchObject({ epoch: 1 });
  });
});

describe('what a watch delivers', () => {
  it('C42, R2: a range delete is one batch, in key order, with keys and revision only', async () => {
    const { store } = await openTestStore();
    for (let index = 0; index < 3; index++) await store.put(`foo_${index}`, index);
    const reader = new Reader(store.watch({ start: 'foo', end: 'foo_99' }));
    await store.delete({ start: 'foo', end: 'foo_99' });
    await reader.drain();
    const event = (index: number) => ({ type: 'delete', kv: { key: `foo_${index}`, modRevision: 5 } });
    expect(reader.batches).toEqual([{ revision: 5, events: [event(0), event(1), event(2)] }]);
  });

  it('C47, R29: 12 revisions of 3 events are 12 whole batches', async () => {
    const { store } = await openTestStore();
    const put = (key: string) => ({ type: 'put', key, value: 1 }) as const;
    for (let index = 0; index < 12; index++) await store.txn({ then: [put('a'), put('b'), put('c')] });
    const { batches } = await new Reader(store.watch({ prefix: '' }, { fromRevision: 1 })).drain();
    expect(batches.map(({ revision, events }) => [revision, events.length])).toEqual(
      Array.from({ length: 12 }, (_, index) => [index + 2, 3]),
    );
  });

  it('C48: 256 watches of one key, 64 puts in one turn: each sees each once, in order', async () => {
    const { store } = await openTestStore();
    const readers = Array.from({ length: 256 }, () => new Reader(store.watch({ key: 'foo' })));
    for (const reader of readers.slice(0, 128)) await reader.drain();
    await Promise.all(Array.from({ length: 64 }, (_, index) => store.put('foo', index)));
    const revisions = Array.from({ length: 64 }, (_, index) => index + 2);
    for (const reader of readers) {
      await reader.drain();
      expect(reader.batches.map(({ revision }) => revision)).toEqual(revisions);
      expect(reader.isOver).toBe(false);
    }
  });

  it('C49, M30: progress is everything that was delivered', async () => {
    const { store } = await openTestStore();
    await store.put('foo', 1);
    const starts = [0, 1, 2, 3].map((fromRevision) => new Reader(store.watch({ key: 'foo' }, { fromRevision })));
    expect(starts.map(({ watch }) => watch.progressRevision)).toEqual([2, 1, 1, 2]);
    for (const reader of starts) await reader.drain();
    expect(starts.map(({ watch }) => watch.progressRevision)).toEqual([2, 2, 2, 2]);
    await store.put('other', 1);
    expect(starts.map(({ watch }) => watch.progressRevision)).toEqual([3, 3, 3, 3]);
  });

  it('M30: progress stays readable after the end, so that a consumer can resume', async () => {
    const { store } = await openPuts(5);
    const abort = new AbortController();
    const reader = new Reader(store.watch({ key: 'foo' }, { fromRevision: 2, signal: abort.signal }));
    await reader.drain(2);
    abort.abort();
    expect(reader.watch.progressRevision).toBe(3);
    await store.put('foo', 9);
    const resumed = new Reader(store.watch({ key: 'foo' }, { fromRevision: reader.watch.progressRevision + 1 }));
    expect((await resumed.take())[0]).toBe('4: put foo(2,4,3)');
  });

  it('C51, R32: filters leave events out, and batches without an event', async () => {
    const { store } = await openTestStore();
    const noput = new Reader(store.watch({ key: 'foo' }, { filter: 'noput' }));
    const nodelete = new Reader(store.watch({ prefix: '' }, { filter: 'nodelete' }));
    await store.put('foo', 1);
    await store.delete('foo');
    await store.txn({ then: [{ type: 'put', key: 'a', value: 1 }] });
    await store.txn({
      then: [
        { type: 'delete', key: 'a' },
        { type: 'put', key: 'b', value: 1 },
      ],
    });
    expect(await noput.take()).toEqual(['3: delete foo@3']);
    expect(await nodelete.take()).toEqual(['2: put foo(2,2,1)', '4: put a(4,4,1)', '5: put b(5,5,1)']);
  });

  it('R33, M29: prevKv is the state at m-1, and absent for a create and only then', async () => {
    const { store } = await openPuts(2);
    await store.delete('foo');
    await store.put('foo', 9);
    const { batches } = await new Reader(store.watch({ key: 'foo' }, { fromRevision: 2, prevKv: true })).drain();
    const previous = batches.map(({ events }) => brief(events[0]?.prevKv as never));
    expect(previous).toEqual(['none', 'foo(2,2,1)', 'foo(2,3,2)', 'none']);
    expect('prevKv' in (batches[3]?.events[0] ?? {})).toBe(false);
    expect(batches[2]?.events[0]?.prevKv?.value).toBe(1);
  });

  it('without prevKv no event has one', async () => {
    const { store } = await openPuts(3);
    const { batches } = await new Reader(store.watch({ key: 'foo' }, { fromRevision: 2 })).drain();
    expect(batches.some(({ events }) => events.some((event) => 'prevKv' in event))).toBe(false);
  });

  it("C56, R38: events are frozen, and bytes are each consumer's own", async () => {
    const { store } = await openTestStore<unknown>();
    const readers = [new Reader(store.watch({ prefix: '' })), new Reader(store.watch({ prefix: 'b' }))];
    await store.put('b', Uint8Array.of(1, 2));
    await store.put('b', { list: [1] });
    for (const reader of readers) await reader.drain();
    const valuesOf = (reader: Reader<unknown> | undefined) =>
      (reader?.batches ?? []).map(({ events }) => (events[0]?.type === 'put' ? events[0].kv.value : undefined));
    const [first, second] = [valuesOf(readers[0]), valuesOf(readers[1])];
    (first[0] as Uint8Array).fill(99);
    expect(second[0]).toEqual(Uint8Array.of(1, 2));
    expect(store.get('b', { revision: 2 })?.value).toEqual(Uint8Array.of(1, 2));
    const batch = readers[0]?.batches[1];
    const { list } = first[1] as { list: unknown };
    for (const part of [batch, batch?.events, batch?.events[0], batch?.events[0]?.kv, first[1], list]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('watches that wait for the same commit share one batch, if it is frozen all through', async () => {
    const { store } = await openTestStore<unknown>();
    const open = (options: WatchOptions = {}) => new Reader(store.watch({ prefix: 'b' }, options));
    const readers = [open(), open(), open({ prevKv: true }), open(), open({ filter: 'noput' })];
    readers.push(
      open({ filter: 'nodelete' }),
      new Reader(store.watch({ start: 'b' })),
      new Reader(store.watch({ key: 'b' })),
    );
    const allWait = async () => {
      for (const reader of readers) await reader.drain();
    };
    await allWait();
    for (const value of [{ a: 1 }, Uint8Array.of(1), 'text', [1]]) {
      await store.put('b', value);
      await allWait();
    }
    await store.txn({
      then: [
        { type: 'delete', key: 'b' },
        { type: 'put', key: 'bb', value: 1 },
      ],
    });
    await allWait();
    const [first = [], second = [], prev = [], , noput = [], nodelete = [], interval = [], point = []] = readers.map(
      ({ batches }) => batches,
    );
    const same = (index: number) => first[index] === second[index];
    expect(first.map((_, index) => same(index))).toEqual([true, false, true, true, true]);
    for (const other of [second, interval]) expect(other).toEqual(first);
    const previous = prev.map(({ events }) => events.map(({ prevKv }) => prevKv?.modRevision));
    expect(previous).toEqual([[undefined], [2], [3], [4], [5, undefined]]);
    const types = (batches: typeof first) => batches.map(({ events }) => events.map(({ type }) => type));
    expect([types(noput), types(nodelete).at(-1), types(point).at(-1)]).toEqual([[['delete']], ['put'], ['delete']]);
  });

  it('a shared batch is of exactly that range', async () => {
    const { store } = await openTestStore<number>();
    const ranges = [
      [{ start: 'b', end: 'd' }, { start: 'b', end: 'd' }, true],
      [{ start: 'b', end: 'd' }, { start: 'b', end: 'c' }, false],
      [{ start: 'b', end: 'd' }, { start: 'b' }, false],
      [{ start: 'b', end: 'd' }, { start: 'a', end: 'd' }, false],
      [{ key: 'b' }, { key: 'b' }, true],
      [{ key: 'b' }, { prefix: 'b' }, false],
      [{ prefix: 'b' }, { prefix: '' }, false],
    ] as const;
    for (const [first, second, isShared] of ranges) {
      const readers = [new Reader(store.watch(first)), new Reader(store.watch(second))];
      for (const reader of readers) await reader.drain();
      const revision = store.revision + 1;
      await store.txn({ then: ['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: revision })) });
      for (const reader of readers) await reader.drain();
      const [one, other] = readers.map(({ batches }) => batches);
      expect([first, second, one?.length, other?.length, one?.[0] === other?.[0]]).toEqual([
        first,
        second,
        1,
        1,
        isShared,
      ]);
      const keysOf = (batches: typeof one) => batches?.[0]?.events.map(({ kv }) => kv.key);
      expect([keysOf(one), keysOf(other)]).toEqual(
        [first, second].map((range) => store.range(range).kvs.map(({ key }) => key)),
      );
      for (const reader of readers) await reader.watch.return();
    }
  });

  it("byte keys, and bytes in the state before, are each consumer's own", async () => {
    const bytes = await openTestStore<number, Uint8Array>({ keys: 'bytes' });
    const ofBytes = [0, 1].map(() => new Reader(bytes.store.watch({ prefix: new Uint8Array(0) })));
    for (const reader of ofBytes) await reader.drain();
    await bytes.store.put(Uint8Array.of(1), 1);
    for (const reader of ofBytes) await reader.drain();
    const keys = ofBytes.map(({ batches }) => batches[0]?.events[0]?.kv.key);
    expect(keys).toEqual([Uint8Array.of(1), Uint8Array.of(1)]);
    expect(keys[0]).not.toBe(keys[1]);

    // The first version of a store has the first place in it.
    const { store } = await openTestStore<unknown>();
    await store.put('a', Uint8Array.of(7));
    const readers = [0, 1].map(() => new Reader(store.watch({ key: 'a' }, { prevKv: true })));
    for (const reader of readers) await reader.drain();
    await store.put('a', 'text');
    for (const reader of readers) await reader.drain();
    const previous = readers.map(({ batches }) => batches[0]?.events[0]?.prevKv?.value);
    expect(previous).toEqual([Uint8Array.of(7), Uint8Array.of(7)]);
    expect(previous[0]).not.toBe(previous[1]);
  });

  it('M24: a batch of data that are gone is not that of the same revision of those after them', async () => {
    const parts = new Parts();
    const read = async () => {
      const reader = parts.watch({ key: 'a' }, { fromRevision: 2 });
      await reader.drain();
      return reader.batches.map(({ events }) => events.map((event) => (event.type === 'put' ? event.kv.value : '')));
    };
    parts.commit(2, ['put', 'a', 'old']);
    expect(await read()).toEqual([['old']]);
    parts.mvcc.state.clear();
    parts.commit(2, ['put', 'a', 'new']);
    expect(await read()).toEqual([['new']]);
  });

  it('a codec that reads the store while it decodes does not mix up the events of a batch', async () => {
    const holder: { store?: Store<string> } = {};
    const codec: Codec<string> = {
      encode: (value) => new TextEncoder().encode(value),
      decode(bytes) {
        holder.store?.range({ prefix: '', keysOnly: true });
        return new TextDecoder().decode(bytes);
      },
    };
    const { store } = await openTestStore<string>({ codec });
    for (const key of ['x', 'y', 'z']) await store.put(key, key);
    const readers = [{}, { initial: true }, { prevKv: true }].map(
      (one) => new Reader(store.watch({ prefix: 'b' }, one)),
    );
    const put = (value: string) => ['b1', 'b2', 'b3'].map((key) => ({ type: 'put', key, value: key + value }) as const);
    await store.txn({ then: put('old') });
    holder.store = store;
    for (const reader of readers) await reader.drain();
    await store.txn({ then: put('new') });
    for (const reader of readers) await reader.drain();
    for (const { batches } of readers) {
      const values = batches.map(({ events }) => events.map(({ kv }) => ('value' in kv ? kv.value : '')));
      expect(values).toEqual([
        ['b1old', 'b2old', 'b3old'],
        ['b1new', 'b2new', 'b3new'],
      ]);
    }
    expect(readers[2]?.batches[1]?.events.map(({ prevKv }) => prevKv?.value)).toEqual(['b1old', 'b2old', 'b3old']);
  });

  it('M29: a batch made before a compaction is not handed out after it', async () => {
    const { store } = await openPuts(2);
    const readers = [1, 2].map(() => new Reader(store.watch({ key: 'foo' }, { prevKv: true })));
    await store.put('foo', 9);
    expect(await readers[0]?.take()).toEqual(['4: put foo(2,4,3) <foo(2,3,2)']);
    await store.compact(4);
    expect(await readers[1]?.take()).toEqual(['4: put foo(2,4,3)']);
  });

  it('25, M28: initial on an empty prefix is one empty batch with the revision, then live', async () => {
    const { store } = await openPuts(1);
    const reader = new Reader(store.watch({ prefix: 'none/' }, { initial: true }));
    expect(await reader.take()).toEqual(['2 initial: ']);
    await store.put('none/a', 1);
    expect(await reader.take()).toEqual(['3: put none/a(3,3,1)']);
  });

  it('M28: initial is the state at the first next(), and nothing is missed or twice', async () => {
    const store = await open3kv();
    const reader = new Reader(store.watch({ prefix: 'foo' }, { initial: true, prevKv: true }));
    expect(reader.watch.progressRevision).toBe(0);
    await store.delete('foo1');
    await store.compact(5);
    await reader.drain(1);
    await store.put('foo', 'again');
    expect(await reader.take()).toEqual(['6: put foo(2,6,2) <foo(2,2,1)']);
    expect(reader.batches[0]?.events.map(({ kv }) => brief(kv as never))).toEqual(['foo(2,2,1)', 'foo2(4,4,1)']);
  });
});

describe('how a watch ends', () => {
  it('C54, R35: return() ends it quietly, also with a read under way, and leaves no residue', async () => {
    const { store } = await openTestStore();
    const watch = store.watch({ key: 'a' });
    const reading = watch.next();
    expect(await watch.return()).toEqual({ value: undefined, done: true });
    expect([await reading, await watch.next(), await watch.return()].map(({ done }) => done)).toEqual([
      true,
      true,
      true,
    ]);
    expect(store.stats().watchers).toEqual({ idle: 0, pending: 0 });
  });

  it('break, asyncDispose and an error in the consumer end it too', async () => {
    const { store } = await openPuts(3);
    for await (const _ of store.watch({ key: 'foo' }, { fromRevision: 2 })) break;
    await store.watch({ key: 'foo' })[Symbol.asyncDispose]();
    const consume = async () => {
      for await (const _ of store.watch({ key: 'foo' }, { fromRevision: 2 })) throw new Error('mine');
    };
    await expect(consume()).rejects.toThrow('mine');
    expect(store.stats().watchers).toEqual({ idle: 0, pending: 0 });
  });

  it('an aborted signal makes next() reject with its reason, once', async () => {
    const { store } = await openPuts(3);
    const abort = new AbortController();
    const idle = new Reader(store.watch({ key: 'foo' }, { signal: abort.signal }));
    const pending = new Reader(store.watch({ key: 'foo' }, { signal: abort.signal, fromRevision: 2 }));
    await idle.drain();
    const reason = new Error('enough');
    abort.abort(reason);
    await store.put('foo', 1);
    for (const reader of [idle, pending]) {
      await reader.drain();
      expect([reader.error, reader.batches.length]).toEqual([reason, 0]);
      expect((await reader.watch.next()).done).toBe(true);
    }
    const late = store.watch({ key: 'foo' }, { signal: abort.signal });
    await expect(late.next()).rejects.toBe(reason);
    expect(store.stats().watchers).toEqual({ idle: 0, pending: 0 });
  });

  it('a second next() while one waits is refused, and harms nothing', async () => {
    const { store } = await openTestStore();
    const watch = store.watch({ key: 'a' });
    const reading = watch.next();
    await expect(watch.next()).rejects.toThrow(/^Cannot read a watch: another next\(\) is waiting/);
    await store.put('a', 1);
    expect((await reading).value?.revision).toBe(2);
  });

  it('close() ends every watch with ClosedError', async () => {
    const { store } = await openPuts(3);
    const watches = [
      store.watch({ key: 'foo' }),
      store.watch({ key: 'foo' }, { fromRevision: 2 }),
      store.watch({ key: 'foo' }, { initial: true }),
    ];
    const reading = watches[0]?.next();
    const expectation = expect(reading).rejects.toThrow(ClosedError);
    await store.close();
    await expectation;
    await expect(watches[1]?.next()).rejects.toThrow(ClosedError);
    await expect(watches[2]?.next()).rejects.toThrow(ClosedError);
  });

  it('a value that the codec does not read ends the watch with its key, and the store goes on', async () => {
    const codec = {
      encode: (text: string) => new TextEncoder().encode(text),
      decode: (bytes: Uint8Array) => {
        const text = new TextDecoder().decode(bytes);
        if (text === 'bad') throw new SyntaxError('bad value');
        return text;
      },
    };
    const { store } = await openTestStore<string>({ codec });
    const reader = new Reader(store.watch({ prefix: '' }));
    await store.put('a', 'good');
    await store.put('a', 'bad');
    expect(await reader.take()).toEqual(['2: put a(2,2,1)', 'ValueError']);
    expect(reader.error).toMatchObject({ key: 'a', cause: { name: 'SyntaxError', message: 'bad value' } });
    await store.put('a', 'good');
    expect(store.get('a')?.value).toBe('good');
  });

  it.each(['noput', 'nodelete'] as const)(
    'initial with %s: the state first, whole; the filter is for what follows',
    async (filter) => {
      const { store } = await openTestStore<number>();
      await store.put('a', 1);
      await store.put('b', 1);
      const reader = new Reader(store.watch({ prefix: '' }, { initial: true, filter }));
      expect(await reader.take()).toEqual(['3 initial: put a(2,2,1), put b(3,3,1)']);
      await store.put('a', 2);
      await store.delete('b');
      expect(await reader.take()).toEqual([filter === 'noput' ? '5: delete b@5' : '4: put a(2,4,2)']);
    },
  );

  it('options are taken when the watch is made', async () => {
    const { store } = await openTestStore();
    const options: { filter?: 'noput' } = {};
    const reader = new Reader(store.watch({ key: 'a' }, options));
    options.filter = 'noput';
    await store.put('a', 1);
    expect(await reader.take()).toEqual(['2: put a(2,2,1)']);
  });
});

describe('user code', () => {
  it('M8: a consumer runs after the write call, and what it writes is an ordinary next revision', async () => {
    const { store } = await openTestStore<number>();
    const log: string[] = [];
    const consumer = (async () => {
      for await (const { revision } of store.watch({ key: 'a' })) {
        log.push(`saw ${revision}`);
        if (revision === 2) await store.put('b', revision);
        if (revision === 4) return;
      }
    })();
    const writing = store.put('a', 1);
    log.push('call returned');
    await writing;
    await settle();
    await store.put('a', 2);
    await consumer;
    expect([log, store.get('b')?.modRevision]).toEqual([['call returned', 'saw 2', 'saw 4'], 3]);
  });

  it('M16: compaction in any state of progress changes no batch', async () => {
    const { store, clock } = await openPuts(20);
    await store.compact(10);
    const before = await new Reader(store.watch({ key: 'foo' }, { fromRevision: 10, prevKv: true })).take();
    while (await clock.advanceToNext());
    expect(await new Reader(store.watch({ key: 'foo' }, { fromRevision: 10, prevKv: true })).take()).toEqual(before);
    expect(before.slice(0, 2)).toEqual(['10: put foo(2,10,9)', '11: put foo(2,11,10) <foo(2,10,9)']);
    expect(await new Reader(store.watch({ key: 'foo' }, { fromRevision: 9 })).take()).toEqual([CompactedError.name]);
  });
});
