import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createObjectSource, type ObjectSourceFaults } from '../../../src/testing/object-source.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { SourcePatch } from '../../../src/types/source.ts';

function setUp(faults: ObjectSourceFaults = {}) {
  const clock = createVirtualClock();
  const source = createObjectSource<unknown>({ clock, random: createSeededRandom(1), faults });
  const put = source.put('o', { n: 1, list: [1] });
  const patch = (changes: Partial<SourcePatch> = {}) => {
    const { name, uid, resourceVersion } = put;
    return source.patch({ name, uid, resourceVersion, patches: [], ...changes }, {});
  };
  return { clock, source, put, patch };
}

describe('patches of the object source', () => {
  it('changes the content, freezes it, and answers the new state, which watches see', async () => {
    const { source, patch } = setUp();
    const items = source.watch({ after: '1' })[Symbol.asyncIterator]();
    const first = items.next();
    const result = await patch({ patches: [{ n: 2 }, [{ op: 'add', path: '/list/-', value: 2 }]] });
    expect(result).toMatchObject({ type: 'patched', object: { resourceVersion: '2', object: { n: 2, list: [1, 2] } } });
    expect(source.objects).toEqual([result.type === 'patched' && result.object]);
    expect(await first).toMatchObject({ value: { type: 'modified', object: { resourceVersion: '2' } } });
    expect(Object.isFrozen(Reflect.get(Object(source.objects[0]?.object), 'list'))).toBe(true);
  });

  it('has one answer for each precondition that fails, and then writes nothing', async () => {
    const { source, patch } = setUp();
    source.put('o', { n: 5 });
    expect(await patch({ patches: [{ n: 2 }] })).toEqual({ type: 'conflict' });
    expect(await patch({ uid: 'another', resourceVersion: '2', patches: [{ n: 2 }] })).toEqual({ type: 'gone' });
    source.delete('o');
    expect(await patch({ patches: [{ n: 2 }] })).toEqual({ type: 'gone' });
    expect(source.resourceVersion).toBe('3');
  });

  it('makes no version of a patch that changes nothing', async () => {
    const { source, patch, put } = setUp();
    expect(await patch({ patches: [{ n: 1 }] })).toEqual({ type: 'patched', object: put });
    expect(await patch({ removeFinalizer: 'mine' })).toEqual({ type: 'patched', object: put });
    expect(source.resourceVersion).toBe('1');
  });

  it('refuses a patch that does not fit', async () => {
    const { source, patch } = setUp();
    await expect(patch({ patches: [[{ op: 'remove', path: '/x' }]] })).rejects.toMatchObject({ code: 'VALUE' });
    expect(source.resourceVersion).toBe('1');
  });

  it('loses answers, with the patch applied or not, at the rate that was asked for', async () => {
    let applied = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const clock = createVirtualClock();
      const source = createObjectSource({ clock, random: createSeededRandom(seed), faults: { patchErrorRate: 1 } });
      const { name, uid, resourceVersion } = source.put('o', { n: 1 });
      await expect(source.patch({ name, uid, resourceVersion, patches: [{ n: 2 }] }, {})).rejects.toThrow('a fault');
      applied += Number(source.resourceVersion) - 1;
    }
    expect(applied).toBeGreaterThan(60);
    expect(applied).toBeLessThan(140);
  });

  it('lands late: preconditions are those of the moment', async () => {
    const { clock, source, patch } = setUp({ patchDelayMsMax: 100 });
    const late = patch({ patches: [{ n: 2 }] });
    source.put('o', { n: 3 });
    await clock.advance(100);
    expect(await late).toEqual({ type: 'conflict' });
  });
});

describe('finalizers of the object source', () => {
  it('keep an object that is deleting until the last one is removed', async () => {
    const { source, patch } = setUp();
    await patch({ addFinalizer: 'mine' });
    source.setFinalizers('o', [...(source.objects[0]?.finalizers ?? []), 'other']);
    source.startDeletion('o');
    expect(source.objects).toMatchObject([{ deleting: true, finalizers: ['mine', 'other'] }]);
    const result = await patch({ resourceVersion: '4', removeFinalizer: 'mine' });
    expect(result).toMatchObject({ type: 'patched', object: { finalizers: ['other'], resourceVersion: '5' } });
    expect(source.objects).toHaveLength(1);
    source.setFinalizers('o', []);
    expect(source.objects).toHaveLength(0);
    const [last] = await collect(source.watch({ after: '5' }), 1);
    expect(last).toEqual({ type: 'deleted', name: 'o', uid: 'uid-1', resourceVersion: '6' });
  });

  it('cannot be added to an object that is deleting', async () => {
    const { source, patch } = setUp();
    source.startDeletion('o');
    await expect(patch({ resourceVersion: '2', addFinalizer: 'mine' })).rejects.toMatchObject({ permanent: true });
    expect(source.objects).toMatchObject([{ deleting: true, finalizers: [] }]);
  });

  it('stay over a put, and go with another life', () => {
    const { source } = setUp();
    source.setFinalizers('o', ['mine']);
    expect(source.put('o', { n: 2 }).finalizers).toEqual(['mine']);
    source.delete('o');
    expect(source.put('o', { n: 2 }).finalizers).toEqual([]);
  });
});

async function collect<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) if (collected.push(item) === count) break;
  return collected;
}
