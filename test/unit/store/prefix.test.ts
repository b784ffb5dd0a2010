import { describe, expect, it } from 'vitest';
import { ClosedError, InvalidKeyError, jsonCodec, openStore, textCodec, ValueError } from '../../../src/mod.ts';

const texts = (kvs: readonly { readonly key: string | Uint8Array }[]) => kvs.map(({ key }) => String(key));

describe('a prefix of a store', () => {
  it('gives and takes keys without the prefix, in every call', async () => {
    const store = await openStore<number>();
    const jobs = store.prefix('jobs/');
    await jobs.put('b', 2);
    await jobs.putAll([
      { key: 'a', value: 1 },
      { key: 'c', value: 3 },
    ]);
    await store.put('other', 9);
    expect(texts(store.range({ prefix: '' }).kvs)).toEqual(['jobs/a', 'jobs/b', 'jobs/c', 'other']);
    expect(jobs.get('a')).toMatchObject({ key: 'a', value: 1, modRevision: 3 });
    expect(jobs.get('other')).toBeUndefined();
    expect(texts(jobs.range({ prefix: '' }).kvs)).toEqual(['a', 'b', 'c']);
    expect(texts(jobs.range({ start: 'b' }).kvs)).toEqual(['b', 'c']);
    expect(texts(jobs.range({ start: '', end: 'c' }).kvs)).toEqual(['a', 'b']);
    const { responses } = await jobs.txn({
      compare: [{ prefix: '', target: 'version', result: '=', value: 1 }],
      then: [
        { type: 'put', key: 'd', value: 4, prevKv: true },
        { type: 'range', prefix: '', sortOrder: 'descend', limit: 2 },
        { type: 'txn', then: [{ type: 'delete', start: 'c', end: 'd', prevKv: true }] },
      ],
    });
    expect(responses).toMatchObject([
      { type: 'put' },
      { type: 'range', count: 4, kvs: [{ key: 'd' }, { key: 'c' }] },
      { type: 'txn', responses: [{ deleted: 1, prevKvs: [{ key: 'c' }] }] },
    ]);
    expect(await jobs.delete({ prefix: '' }, { prevKv: true })).toMatchObject({ deleted: 3 });
    expect(store.get('other')?.value).toBe(9);
  });

  it('closing it ends its watches, and no others', async () => {
    const store = await openStore<number>();
    const [jobs, others, same] = [store.prefix('jobs/'), store.prefix('other/'), store.prefix('jobs/')];
    const watches = [jobs, others, same, store].map((one) => one.watch({ prefix: '' }));
    await jobs.close();
    expect(store.stats().watchers).toEqual({ idle: 3, pending: 0 });
    await expect(watches[0]?.next()).rejects.toBeInstanceOf(ClosedError);
    await others.put('a', 1);
    await same.put('a', 1);
    expect((await watches[1]?.next())?.value?.revision).toBe(2);
    expect((await watches[2]?.next())?.value?.revision).toBe(3);
    expect((await watches[3]?.next())?.value?.revision).toBe(2);
    await store.close();
  });

  it('pages through all of it and no further', async () => {
    const store = await openStore<number>();
    const jobs = store.prefix('j/');
    for (const key of ['j/1', 'j/2', 'j/3', 'k', 'j', 'i']) await store.put(key, 0);
    const seen: string[] = [];
    let page = jobs.range({ prefix: '', limit: 1 });
    seen.push(...texts(page.kvs));
    while (page.continue !== undefined) {
      page = jobs.range({ prefix: '', limit: 1, continue: page.continue });
      seen.push(...texts(page.kvs));
    }
    expect(seen).toEqual(['1', '2', '3']);
  });

  // The end of an open range is the next code point, and U+D800 is none.
  it.each(['a', '\u{d7ff}', '\u{e000}', 'x\u{10ffff}', '\u{10ffff}', '\u{1f600}', ''])(
    'open ranges end with it: %j',
    async (base) => {
      const store = await openStore<number>();
      const view = store.prefix(base);
      const inside = [`${base}`, `${base}1`, `${base}\u{10ffff}`].filter((key) => key !== '');
      const outside = ['Z', `${base.slice(0, -1)}\u{fffd}`, 'zz', '\u{10ffff}\u{10ffff}x'].filter(
        (key) => !key.startsWith(base),
      );
      for (const key of [...inside, ...outside]) if (key.isWellFormed()) await store.put(key, 1);
      const expected = inside.map((key) => key.slice(base.length)).sort((a, b) => (a < b ? -1 : 1));
      expect(texts(view.range({ start: '' }).kvs)).toEqual(
        base === '' ? texts(store.range({ prefix: '' }).kvs) : expected,
      );
      const watch = view.watch({ start: '' }, { fromRevision: 1 });
      let count = 0;
      for (const total = view.range({ start: '', countOnly: true }).count; count < total; count++) await watch.next();
      expect(watch.progressRevision).toBe(store.revision);
    },
  );

  it('byte keys', async () => {
    const store = await openStore<string, Uint8Array>({ keys: 'bytes' });
    const view = store.prefix(Uint8Array.of(1, 255));
    await view.put(Uint8Array.of(255), 'in');
    await store.put(Uint8Array.of(2), 'out');
    expect(view.range({ start: Uint8Array.of() }).kvs).toMatchObject([{ key: Uint8Array.of(255), value: 'in' }]);
    expect(store.get(Uint8Array.of(1, 255, 255))?.value).toBe('in');
  });

  it('the key that is the prefix itself is the empty one; an empty key of the whole store is none', async () => {
    const store = await openStore<number>();
    const view = store.prefix('dir/');
    await view.put('', 1);
    expect(store.get('dir/')?.value).toBe(1);
    expect(view.get('')?.key).toBe('');
    expect(() => store.prefix('').get('')).toThrow(InvalidKeyError);
  });

  it('watches are of the part, with the codec of the part', async () => {
    const store = await openStore<unknown>();
    const view = store.prefix('v/', { codec: jsonCodec<{ n: number }>() });
    const watch = view.watch({ prefix: '' }, { prevKv: true });
    await store.put('w', 1);
    await view.put('k', { n: 1 });
    await view.put('k', { n: 2 });
    expect((await watch.next()).value).toMatchObject({ revision: 3, events: [{ kv: { key: 'k', value: { n: 1 } } }] });
    expect((await watch.next()).value).toMatchObject({ events: [{ prevKv: { key: 'k', value: { n: 1 } } }] });
    await view.close();
    await expect(watch.next()).rejects.toThrow(ClosedError);
    expect(() => view.get('k')).toThrow(ClosedError);
    expect(store.get('w')?.value).toBe(1);
  });

  it('codecs: bytes to the whole store, whatever its own codec is', async () => {
    const store = await openStore<string>({ codec: textCodec() });
    const view = store.prefix('n/', { codec: jsonCodec<number[]>() });
    await view.put('a', [1, 2]);
    expect(store.get('n/a')?.value).toBe('[1,2]');
    expect(Object.isFrozen(view.get('a')?.value)).toBe(true);
    expect(view.get('a')?.value).toBe(view.get('a')?.value);
    await store.put('n/b', 'no json');
    expect(() => view.get('b')).toThrow(ValueError);
    expect(view.range({ prefix: '', keysOnly: true }).count).toBe(2);
    const { succeeded } = await view.txn({ compare: [{ key: 'a', target: 'value', result: '=', value: [1, 2] }] });
    expect(succeeded).toBe(true);
  });

  it('M8: a codec of a part may not write to the store', async () => {
    const store = await openStore<unknown>();
    let attempt: Promise<unknown> | undefined;
    const codec = jsonCodec<number>();
    const view = store.prefix('x/', {
      codec: {
        encode: (value) => {
          attempt = store.put('y', 1);
          return codec.encode(value);
        },
        decode: codec.decode,
      },
    });
    await view.put('a', 1);
    await expect(attempt).rejects.toThrow('Cannot put a key: called from inside');
    expect(store.range({ prefix: '', countOnly: true }).count).toBe(1);
  });

  it('prefixes of prefixes', async () => {
    const store = await openStore<number>();
    const view = store.prefix('a/').prefix('b/');
    await view.put('c', 1);
    expect(store.get('a/b/c')?.value).toBe(1);
    expect(view.revision).toBe(store.revision);
  });
});
