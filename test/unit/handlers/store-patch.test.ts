import { describe, expect, it } from 'vitest';
import { createStoreSource } from '../../../src/handlers/store-source.ts';
import { openStore } from '../../../src/open-store.ts';

async function setUp() {
  const store = await openStore<{ n: number }>();
  const source = createStoreSource(store, { prefix: 'a/' });
  await store.put('a/o', { n: 1 });
  const object = await source.get('a/o', {});
  if (object === undefined || source.patch === undefined) throw new Error('there is nothing to patch');
  const { name, uid, resourceVersion } = object;
  return { store, source, base: { name, uid, resourceVersion, patches: [{ n: 2 }] } };
}

describe('patches of a store source', () => {
  it('puts the patched value and answers the new state, as the store has it', async () => {
    const { store, source, base } = await setUp();
    const result = await source.patch?.(base, {});
    expect(result).toMatchObject({
      type: 'patched',
      object: { uid: base.uid, resourceVersion: '3', object: { n: 2 } },
    });
    expect(result).toEqual({ type: 'patched', object: await source.get('a/o', {}) });
    await store.close();
  });

  it('keeps the lease of the key', async () => {
    const { store, source } = await setUp();
    await store.put('a/o', { n: 1 }, { ttlMs: 60_000 });
    const before = store.get('a/o');
    const object = await source.get('a/o', {});
    const { name = '', uid = '', resourceVersion = '' } = object ?? {};
    await source.patch?.({ name, uid, resourceVersion, patches: [{ n: 2 }] }, {});
    expect(store.get('a/o')).toMatchObject({ value: { n: 2 }, lease: before?.lease });
    expect(before?.lease).not.toBe('0');
    await store.close();
  });

  it('refuses another version, also one that comes while it is written, and another life', async () => {
    const { store, source, base } = await setUp();
    const [, result] = await Promise.all([store.put('a/o', { n: 5 }), source.patch?.(base, {})]);
    expect(result).toEqual({ type: 'conflict' });
    expect(await source.patch?.(base, {})).toEqual({ type: 'conflict' });
    await store.delete('a/o');
    expect(await source.patch?.(base, {})).toEqual({ type: 'gone' });
    await store.put('a/o', { n: 1 });
    expect(await source.patch?.(base, {})).toEqual({ type: 'gone' });
    expect(store.get('a/o')?.value).toEqual({ n: 1 });
    await store.close();
  });

  it('writes nothing where a patch changes nothing', async () => {
    const { store, source, base } = await setUp();
    const result = await source.patch?.({ ...base, patches: [{ n: 1 }] }, {});
    expect(result).toMatchObject({ type: 'patched', object: { resourceVersion: base.resourceVersion } });
    expect(store.revision).toBe(2);
    await store.close();
  });
});
