import { describe, expect, it } from 'vitest';
import { createInformerCore } from '../../../src/kubernetes/create-informer-core.ts';
import type { InformerCore, InformerCoreOptions } from '../../../src/kubernetes/informer-core.ts';
import type { InformerDelta } from '../../../src/kubernetes/informer-delta.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

/** The rules of docs/spec/informers.md, and the public reports behind them that need no transport. */

interface Pod {
  readonly metadata: Record<string, unknown>;
}

const pod = (name: string, uid: string, version: number | string, more: Record<string, unknown> = {}): Pod => ({
  metadata: { namespace: 'ns', name, uid, resourceVersion: String(version), ...more },
});
const DELETING = { deletionTimestamp: '2026-01-01T00:00:00Z' };

/** A delta in one word and two versions: `updated ns/a 2<1`, `deleted ns/a 3<2 deleted`. */
function brief(delta: InformerDelta<Pod>): string {
  const version = (object: Pod | undefined) => (object === undefined ? '?' : object.metadata.resourceVersion);
  switch (delta.type) {
    case 'added':
      return `added ${delta.key} ${version(delta.object)}`;
    case 'updated':
      return `updated ${delta.key} ${version(delta.object)}<${version(delta.old)}`;
    case 'deleted':
      return `deleted ${delta.key} ${version(delta.object)}<${version(delta.old)} ${delta.reason}`;
  }
}

class Rig {
  readonly clock = createVirtualClock();
  readonly core: InformerCore<Pod>;

  constructor(options: Omit<InformerCoreOptions, 'clock'> = {}) {
    this.core = createInformerCore<Pod>({ clock: this.clock, ...options });
  }

  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: unknown): string[] | string {
    const { deltas, ignored, malformed } = this.core.apply({ type, object });
    if (malformed !== undefined) return malformed.reason;
    return ignored ?? deltas.map(brief);
  }

  list(version: number, ...pages: (readonly unknown[])[]): string[] {
    const list = this.core.beginList();
    const deltas = pages.flatMap((page) => list.add(page).deltas);
    return [...deltas, ...list.end(String(version)).deltas].map(brief);
  }
}

describe('the core', () => {
  it('IN1: asks a clock for the time, nobody for anything else, and answers at once', () => {
    const asked: PropertyKey[] = [];
    const clock = new Proxy(createVirtualClock(), {
      get: (of, name) => {
        asked.push(name);
        return Reflect.get(of, name);
      },
    });
    const core = createInformerCore<Pod>({ clock });
    const list = core.beginList();
    expect(list.add([pod('a', 'u1', 1)]).deltas.length).toBe(1);
    expect(list.end('2').deltas).toEqual([]);
    core.bookmark('3');
    expect(core.apply({ type: 'DELETED', object: pod('a', 'u1', 4) }).deltas.length).toBe(1);
    expect(core.apply({ type: 'MODIFIED', object: pod('a', 'u1', 4) }).ignored).toBe('tombstone');
    expect([[...new Set(asked)], clock.pending]).toEqual([['now'], 0]);
  });
});

describe('events', () => {
  it('IN4 (kubernetes-client/javascript#495): a list with versions that are known makes no delta', () => {
    const rig = new Rig();
    expect(rig.list(2, [pod('a', 'u1', 1), pod('b', 'u2', 2)])).toEqual(['added ns/a 1', 'added ns/b 2']);
    expect(rig.list(9, [pod('a', 'u1', 1), pod('b', 'u2', 2)])).toEqual([]);
    expect(rig.core.stats).toMatchObject({ lists: 2, missed: 0, ignored: { 'same-version': 2 } });
    expect(rig.core.resourceVersion).toBe('9');
  });

  it('IN4, IN11 (kubernetes-client/javascript#2424): what is replayed after a reconnect is dropped, and the position does not go back', () => {
    const rig = new Rig();
    rig.list(1, [pod('a', 'u1', 1)]);
    expect(rig.event('MODIFIED', pod('a', 'u1', 5))).toEqual(['updated ns/a 5<1']);
    expect(rig.event('MODIFIED', pod('a', 'u1', 5))).toBe('same-version');
    expect(rig.event('MODIFIED', pod('a', 'u1', 3))).toBe('older');
    expect(rig.core.resourceVersion).toBe('5');
    rig.core.bookmark('8');
    rig.core.bookmark('7');
    expect(rig.core.resourceVersion).toBe('8');
  });

  it('IN3 (kubernetes-client/javascript#570): one delete for a life; a late MODIFIED after it is no object', () => {
    const rig = new Rig();
    rig.list(1, [pod('a', 'u1', 1)]);
    expect(rig.event('DELETED', pod('a', 'u1', 4, DELETING))).toEqual(['deleted ns/a 4<1 deleted']);
    expect(rig.event('DELETED', pod('a', 'u1', 4, DELETING))).toBe('unknown-object');
    expect(rig.event('MODIFIED', pod('a', 'u1', 3))).toBe('tombstone');
    expect(rig.event('MODIFIED', pod('a', 'u1', 6))).toBe('tombstone');
    expect([rig.core.size, rig.core.get('ns/a')]).toEqual([0, undefined]);
  });

  it('IN3: a tombstone lasts as long as it says, and no more of them than it says', () => {
    const rig = new Rig({ tombstoneMs: 1000, tombstonesMax: 2 });
    rig.list(1, []);
    for (const uid of ['u1', 'u2', 'u3']) rig.event('DELETED', pod(uid, uid, 5));
    expect(rig.core.stats.tombstones).toBe(2);
    // The oldest one has made room.
    expect(rig.event('MODIFIED', pod('u1', 'u1', 3))).toEqual(['added ns/u1 3']);
    expect(rig.event('MODIFIED', pod('u2', 'u2', 3))).toBe('tombstone');
    expect(rig.event('MODIFIED', pod('u3', 'u3', 3))).toBe('tombstone');
  });

  it('IN3: after its time a tombstone says nothing', async () => {
    const rig = new Rig({ tombstoneMs: 1000 });
    rig.list(1, []);
    rig.event('DELETED', pod('a', 'u1', 5));
    await rig.clock.advance(999);
    expect(rig.event('MODIFIED', pod('a', 'u1', 3))).toBe('tombstone');
    await rig.clock.advance(1);
    expect(rig.event('MODIFIED', pod('a', 'u1', 3))).toEqual(['added ns/a 3']);
  });

  it('IN7: the delete of what was updated unseen has the last known state and the final one', () => {
    const rig = new Rig();
    rig.list(1, [pod('a', 'u1', 1)]);
    expect(rig.event('DELETED', pod('a', 'u1', 9, DELETING))).toEqual(['deleted ns/a 9<1 deleted']);
    rig.list(10, [pod('b', 'u2', 10)]);
    expect(rig.list(20, [])).toEqual(['deleted ns/b ?<10 deleted']);
  });

  it('IN8: a delete of an earlier life under the name is ignored, one of a later life ends this one too', () => {
    const rig = new Rig();
    rig.list(5, [pod('a', 'u2', 5)]);
    expect(rig.event('DELETED', pod('a', 'u1', 4))).toBe('unknown-object');
    expect(rig.core.get('ns/a')).toEqual(pod('a', 'u2', 5));
    expect(rig.event('DELETED', pod('a', 'u3', 9))).toEqual(['deleted ns/a ?<5 deleted']);
    expect(rig.event('ADDED', pod('a', 'u3', 8))).toBe('tombstone');
    expect(rig.event('MODIFIED', pod('a', 'u2', 5))).toBe('tombstone');
  });

  it('IN8: an event of an earlier life under the name is ignored', () => {
    const rig = new Rig();
    rig.list(5, [pod('a', 'u2', 5)]);
    expect(rig.event('MODIFIED', pod('a', 'u1', 4))).toBe('older');
    expect(rig.event('DELETED', pod('a', 'u2', 4))).toBe('older');
    expect(rig.core.size).toBe(1);
  });

  it('IN9: another life under the name is a delete and an add', () => {
    const rig = new Rig({ isSelective: true });
    rig.list(1, [pod('a', 'u1', 1)]);
    expect(rig.event('ADDED', pod('a', 'u2', 6))).toEqual(['deleted ns/a ?<1 deleted', 'added ns/a 6']);
    expect(rig.event('MODIFIED', pod('a', 'u1', 7))).toBe('tombstone');
    expect(rig.list(9, [pod('a', 'u3', 9)])).toEqual(['deleted ns/a ?<6 deleted', 'added ns/a 9']);
  });

  it('IN6 (kubernetes-client/javascript#644): of a selector nobody claims that the object is gone, and it may come back', () => {
    const rig = new Rig({ isSelective: true });
    rig.list(1, [pod('a', 'u1', 1)]);
    expect(rig.event('DELETED', pod('a', 'u1', 4))).toEqual(['deleted ns/a 4<1 left-selector-or-deleted']);
    expect(rig.event('MODIFIED', pod('a', 'u1', 3))).toBe('tombstone');
    expect(rig.event('ADDED', pod('a', 'u1', 6))).toEqual(['added ns/a 6']);
    expect(rig.event('DELETED', pod('a', 'u1', 4))).toBe('older');
    expect(rig.event('DELETED', pod('a', 'u1', 8, DELETING))).toEqual(['deleted ns/a 8<6 deleted']);
    expect(rig.event('ADDED', pod('a', 'u1', 9))).toBe('tombstone');
    rig.list(10, [pod('b', 'u2', 10)]);
    expect(rig.list(11, [])).toEqual(['deleted ns/b ?<10 left-selector-or-deleted']);
  });

  it('IN4: versions that cannot be compared are taken in the order of delivery, equal ones dropped', () => {
    const rig = new Rig();
    rig.list(1, [pod('a', 'u1', 'x')]);
    expect(rig.event('MODIFIED', pod('a', 'u1', 'c'))).toEqual(['updated ns/a c<x']);
    expect(rig.event('MODIFIED', pod('a', 'u1', 'c'))).toBe('same-version');
    expect(rig.event('DELETED', pod('a', 'u1', 'b'))).toEqual(['deleted ns/a b<c deleted']);
    expect(rig.event('MODIFIED', pod('a', 'u1', 'c'))).toBe('tombstone');
  });

  it.each([
    [undefined, 'metadata.name is not a string with a character in it'],
    ['text', 'metadata.name is not a string with a character in it'],
    [{ metadata: null }, 'metadata.name is not a string with a character in it'],
    [{ metadata: { name: 5 } }, 'metadata.name is not a string with a character in it'],
    [{ metadata: { name: 'a', namespace: 5 } }, 'metadata.namespace is not a string'],
    [{ metadata: { name: 'a', uid: '' } }, 'metadata.uid is not a string with a character in it'],
    [{ metadata: { name: 'a', uid: 'u' } }, 'metadata.resourceVersion is not a string with a character in it'],
  ])('what is no object is said, and changes nothing: %j', (object, reason) => {
    const rig = new Rig();
    rig.list(1, [pod('a', 'u1', 1)]);
    for (const type of ['ADDED', 'MODIFIED', 'DELETED'] as const) expect(rig.event(type, object)).toBe(reason);
    expect([rig.core.size, rig.core.resourceVersion, rig.core.stats.malformed]).toEqual([1, '1', 3]);
  });
});

describe('lists (IN2)', () => {
  it('take away at the end of the last page only', () => {
    const rig = new Rig();
    rig.list(3, [pod('a', 'u1', 1), pod('b', 'u2', 2), pod('c', 'u3', 3)]);
    const list = rig.core.beginList();
    expect(list.add([pod('a', 'u1', 8)]).deltas.map(brief)).toEqual(['updated ns/a 8<1']);
    expect(list.add([pod('d', 'u4', 7)]).deltas.map(brief)).toEqual(['added ns/d 7']);
    expect(rig.core.size).toBe(4);
    const { deltas, isComplete } = list.end('9');
    expect(deltas.map(brief)).toEqual(['deleted ns/b ?<2 deleted', 'deleted ns/c ?<3 deleted']);
    expect([isComplete, rig.core.stats.missed, rig.core.resourceVersion]).toEqual([true, 4, '9']);
  });

  it('that fail on the way take nothing away, and have no end', () => {
    const rig = new Rig();
    rig.list(3, [pod('a', 'u1', 1), pod('b', 'u2', 2)]);
    const failed = rig.core.beginList();
    failed.add([pod('a', 'u1', 1)]);
    const next = rig.core.beginList();
    expect(() => failed.add([])).toThrow(TypeError);
    expect(() => failed.end('9')).toThrow('Cannot go on with a list: it has ended, or another one has begun');
    next.add([pod('a', 'u1', 1), pod('b', 'u2', 2)]);
    expect(next.end('10').deltas).toEqual([]);
    expect(() => next.end('10')).toThrow(TypeError);
    expect(rig.core.size).toBe(2);
  });

  it('IN10: of a server that is behind make nothing older, and take away only what was gone by then', () => {
    const rig = new Rig();
    rig.list(5, [pod('a', 'u1', 1), pod('b', 'u2', 2)]);
    rig.event('MODIFIED', pod('a', 'u1', 8));
    rig.event('ADDED', pod('c', 'u3', 9));
    rig.event('DELETED', pod('b', 'u2', 10));
    expect(rig.list(6, [pod('a', 'u1', 1), pod('b', 'u2', 2)])).toEqual([]);
    expect(rig.core.entries().map(([key]) => key)).toEqual(['ns/a', 'ns/c']);
    expect(rig.core.stats.ignored).toMatchObject({ older: 1, tombstone: 1 });
  });

  it('IN10: keep what an event made while they were under way', () => {
    for (const [mine, theirs] of [
      ['12', '11'],
      ['y', 'x'],
    ] as const) {
      const rig = new Rig();
      rig.list(1, [pod('old', 'u0', mine === 'y' ? 'o' : '1')]);
      const list = rig.core.beginList();
      rig.event('ADDED', pod('new', 'u1', mine));
      expect(list.end(theirs).deltas.map(brief)).toEqual([`deleted ns/old ?<${mine === 'y' ? 'o' : '1'} deleted`]);
      expect(rig.core.size).toBe(1);
      // Not for ever: the next list is younger than it.
      expect(rig.list(mine === 'y' ? 1 : 13, []).length).toBe(1);
    }
  });

  it('know better than a tombstone if they are newer than it: what a wrong list took away comes back', () => {
    for (const isSelective of [false, true]) {
      const rig = new Rig({ isSelective });
      rig.list(3, [pod('a', 'u1', 1)]);
      expect(rig.list(5, [])).toHaveLength(1);
      // No news: a server that is as old as what was told of the end, or older.
      expect(rig.list(5, [pod('a', 'u1', 1)])).toEqual([]);
      expect(rig.list(4, [pod('a', 'u1', 1)])).toEqual([]);
      expect(rig.event('MODIFIED', pod('a', 'u1', 1))).toBe('tombstone');
      expect(rig.list(6, [pod('a', 'u1', 1)])).toEqual(['added ns/a 1']);
      expect(rig.event('MODIFIED', pod('a', 'u1', 7))).toEqual(['updated ns/a 7<1']);
      expect(rig.list(8, [pod('a', 'u1', 7)])).toEqual([]);
    }
  });

  it('IN10: what happened before a list and is told after it makes nothing that the list did not have', () => {
    const rig = new Rig();
    rig.list(5, [pod('a', 'u1', 2)]);
    expect(rig.event('ADDED', pod('b', 'u2', 4))).toBe('unlisted');
    expect(rig.event('ADDED', pod('b', 'u2', 5))).toBe('unlisted');
    expect(rig.event('ADDED', pod('b', 'u2', 6))).toEqual(['added ns/b 6']);
    // Nor after a list of a server that is behind.
    expect(rig.list(4, [pod('a', 'u1', 2)])).toEqual([]);
    expect(rig.event('ADDED', pod('c', 'u3', 5))).toBe('unlisted');
  });

  it('with an item that cannot be told take nothing away; one with a name is there', () => {
    const rig = new Rig();
    rig.list(3, [pod('a', 'u1', 1), pod('b', 'u2', 2)]);
    const named = rig.core.beginList();
    const page = named.add([{ metadata: { namespace: 'ns', name: 'a' } }]);
    expect(page.malformed).toEqual([{ key: 'ns/a', reason: 'metadata.uid is not a string with a character in it' }]);
    expect(named.end('4')).toMatchObject({ isComplete: true, deltas: [{ key: 'ns/b' }] });
    const unnamed = rig.core.beginList();
    expect(unnamed.add(['?']).malformed).toHaveLength(1);
    expect(unnamed.end('5')).toEqual({ isComplete: false, deltas: [], malformed: [] });
    expect(rig.core.get('ns/a')).toBeDefined();
  });

  it('IN2 (kubernetes-client/javascript#320): the first complete one is when absence means something', () => {
    const rig = new Rig();
    expect([rig.core.isSynced, rig.core.resourceVersion]).toEqual([false, '']);
    const list = rig.core.beginList();
    list.add([pod('a', 'u1', 1), 'no object']);
    list.end('3');
    expect(rig.core.isSynced).toBe(false);
    rig.list(4, [pod('a', 'u1', 1)]);
    expect([rig.core.isSynced, rig.core.stats.missed]).toEqual([true, 0]);
  });

  it('keys are those of client-go: the name alone of what is in no namespace', () => {
    const rig = new Rig();
    rig.list(2, [
      { metadata: { name: 'node', uid: 'u1', resourceVersion: '1' } },
      { metadata: { name: 'node', namespace: '', uid: 'u1', resourceVersion: '1' } },
      pod('node', 'u2', 2),
    ]);
    expect(rig.core.entries().map(([key]) => key)).toEqual(['node', 'ns/node']);
  });
});

describe('what cannot be is refused at the door', () => {
  it.each<[string, unknown, string]>([
    ['no options', null, 'the options are not an object'],
    ['an unknown option', { tombstones: 5 }, 'tombstones'],
    ['a clock without a time', { clock: {} }, 'clock has no method now'],
    ['a comparison that is none', { compare: 5 }, 'compare is not a function'],
    ['a flag that is none', { isSelective: 'yes' }, 'isSelective is yes, allowed are true and false'],
    ['a time that is none', { tombstoneMs: 0 }, 'tombstoneMs'],
    ['a bound that is none', { tombstonesMax: 1.5 }, 'tombstonesMax'],
  ])('%s', (_, options, reason) => {
    expect(() => createInformerCore(options as InformerCoreOptions)).toThrow(reason);
    expect(() => createInformerCore(options as InformerCoreOptions)).toThrow(/^Cannot create an informer core: /);
  });

  it.each<[string, (core: InformerCore<Pod>) => unknown, string]>([
    [
      'a bookmark as an event',
      (core) => core.apply({ type: 'BOOKMARK', object: pod('a', 'u', 1) } as never),
      'the type is BOOKMARK',
    ],
    ['no event at all', (core) => core.apply(undefined as never), 'the event is undefined, not an object'],
    ['an event that is null', (core) => core.apply(null as never), 'the event is null, not an object'],
    ['an event of no type', (core) => core.apply({ object: pod('a', 'u', 1) } as never), 'the type is undefined'],
    ['a version that is empty', (core) => core.bookmark(''), 'the resource version is ""'],
    ['a version that is a number', (core) => core.bookmark(5 as never), 'the resource version is 5'],
    ['a page that is no array', (core) => core.beginList().add('ab' as never), 'the items are ab, not an array'],
    [
      'a list without a version',
      (core) => core.beginList().end(undefined as never),
      'the resource version is undefined',
    ],
  ])('%s, and nothing changes', (_, call, reason) => {
    const rig = new Rig();
    rig.list(3, [pod('a', 'u1', 1)]);
    expect(() => call(rig.core)).toThrow(TypeError);
    expect(() => call(rig.core)).toThrow(reason);
    expect([rig.core.size, rig.core.resourceVersion, rig.core.stats.events]).toEqual([1, '3', 0]);
  });

  it('an object that cannot be read is malformed, and what stands beside it on the page is told', () => {
    const { core } = new Rig();
    const broken = {
      get metadata(): never {
        throw new Error('a getter of somebody’s');
      },
    };
    const { deltas, malformed } = core.beginList().add([pod('a', 'u1', 1), broken as never, pod('b', 'u2', 2)]);
    expect(deltas.map(brief)).toEqual(['added ns/a 1', 'added ns/b 2']);
    expect(malformed).toEqual([{ key: undefined, reason: 'its metadata cannot be read' }]);
  });

  it('IN7: a clock that throws takes no object away that no delta tells of', () => {
    const world = { isBroken: false };
    const now = () => {
      if (world.isBroken) throw new Error('no time');
      return 0;
    };
    const core = createInformerCore<Pod>({ clock: { now } });
    core.apply({ type: 'ADDED', object: pod('a', 'u1', 1) });
    world.isBroken = true;
    expect(() => core.apply({ type: 'DELETED', object: pod('a', 'u1', 2) })).toThrow('no time');
    expect(core.size).toBe(1);
    world.isBroken = false;
    expect(core.apply({ type: 'DELETED', object: pod('a', 'u1', 2) }).deltas.map(brief)).toEqual([
      'deleted ns/a 2<1 deleted',
    ]);
  });

  it('an item that waits for the end of its list is what it was when it came', () => {
    const { core } = new Rig();
    core.apply({ type: 'ADDED', object: pod('a', 'u1', 1) });
    core.apply({ type: 'DELETED', object: pod('a', 'u1', 2) });
    const list = core.beginList();
    const waiting: { metadata: unknown } = pod('a', 'u1', 3);
    expect(list.add([waiting as Pod]).deltas).toEqual([]);
    const { metadata } = waiting;
    waiting.metadata = null;
    const [delta] = list.end('9').deltas;
    expect(delta).toMatchObject({ type: 'added', key: 'ns/a' });
    waiting.metadata = metadata;
  });

  it('a comparison whose answer is none is refused when it answers', () => {
    for (const answer of [undefined, 1, 'junk', Promise.resolve('newer')]) {
      const core = createInformerCore<Pod>({ compare: (() => answer) as never });
      expect(() => core.apply({ type: 'ADDED', object: pod('a', 'u1', 1) })).toThrow(
        /^Cannot compare versions: what compare answered is .*, allowed are older, same, newer and unknown$/,
      );
    }
  });

  it('IN3, IN8: a second end of a life that had ended ends no other life', () => {
    const { core } = new Rig();
    core.apply({ type: 'ADDED', object: pod('a', 'u1', 11) });
    core.apply({ type: 'DELETED', object: pod('a', 'u1', 13) });
    core.apply({ type: 'ADDED', object: pod('a', 'u9', 15) });
    expect(core.apply({ type: 'DELETED', object: pod('a', 'u1', 16) })).toEqual({ deltas: [], ignored: 'tombstone' });
    expect(core.size).toBe(1);
  });

  it('nothing is needed: the clock is the platform’s, versions are integers', () => {
    const core = createInformerCore<Pod>();
    core.beginList().end('10');
    expect(core.apply({ type: 'ADDED', object: pod('a', 'u1', 9) }).ignored).toBe('unlisted');
  });
});
