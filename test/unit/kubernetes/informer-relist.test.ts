import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createInformerCore } from '../../../src/kubernetes/create-informer-core.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

const pod = (name: string, resourceVersion: string, uid = `uid of ${name}`) => ({
  metadata: { name, uid, resourceVersion },
});

function listed(names: readonly string[]) {
  const core = createInformerCore({ clock: createVirtualClock() });
  const list = core.beginList();
  list.add(names.map((name) => pod(name, '1')));
  list.end('5');
  return core;
}

describe('what has gone', () => {
  it('is not kept by what stood before it in a list', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const core = createInformerCore({ clock: createVirtualClock() });
    // In a function of its own: nothing of the test keeps it.
    const gone = (() => {
      const middle = pod('b', '1');
      const list = core.beginList();
      list.add([pod('a', '1'), middle, pod('c', '1')]);
      list.end('5');
      core.apply({ type: 'DELETED', object: pod('b', '6') });
      return new WeakRef(middle);
    })();
    for (let turn = 0; turn < 10 && gone.deref() !== undefined; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect([gone.deref(), core.size]).toEqual([undefined, 2]);
  });
});

describe('a list after the first', () => {
  it('IN2 what stands where another one stood, at its version, is not taken for it', () => {
    for (const other of [pod('c', '1'), pod('b', '1', 'next'), pod('c', '1', 'uid of b')]) {
      const core = createInformerCore({
        clock: createVirtualClock(),
        compare: (a, b) => (a === b ? 'same' : 'unknown'),
      });
      const first = core.beginList();
      first.add([pod('a', '1'), pod('b', '1')]);
      first.end('x');
      const list = core.beginList();
      list.add([pod('a', '1'), other]);
      list.end('y');
      const known = core.entries().map(([key, object]) => [key, (object as typeof other).metadata.uid]);
      expect(known).toEqual([
        ['a', 'uid of a'],
        [other.metadata.name, other.metadata.uid],
      ]);
    }
  });

  it('IN2 what went while it was under way does not stand for what it does not have', () => {
    const core = listed(['a', 'b', 'c']);
    const list = core.beginList();
    list.add([pod('a', '1'), pod('b', '1')]);
    core.apply({ type: 'DELETED', object: pod('a', '6') });
    expect(list.end('7').deltas.map(({ type, key }) => `${type} ${key}`)).toEqual(['deleted c']);
    expect(core.entries().map(([key]) => key)).toEqual(['b']);
  });

  it('in any order finds all of them, and tells nothing', () => {
    const core = listed(['a', 'b', 'c', 'd']);
    for (const order of ['abcd', 'dcba', 'badc', 'abcd', 'abcd']) {
      const list = core.beginList();
      expect(list.add([...order].map((name) => pod(name, '1'))).deltas).toEqual([]);
      expect(list.end('8').deltas).toEqual([]);
    }
    expect(core.stats.ignored['same-version']).toBe(20);
  });
});
