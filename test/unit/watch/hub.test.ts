import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { KeySpace } from '../../../src/store/keyspace.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { KeyRange } from '../../../src/types/revision.ts';
import type { Watch } from '../../../src/types/watch.ts';
import { type WatchedState, WatchHub } from '../../../src/watch/hub.ts';
import type { HubWatcher } from '../../../src/watch/watcher.ts';
import { Parts } from '../store/fixture.ts';

/** What the hub keeps of a watcher, and for how long: watchers that only note what is done with them. */
const keys = new KeySpace<string>('utf8');
const SHAPES: KeyRange[] = [{ key: 'a' }, { prefix: 'a' }, { start: 'a', end: 'b' }, { start: 'a' }];

function openHub(revision = 1) {
  const window = { revision, compactRevision: 0, watchFloor: 0, hasSpans: false };
  const state = { window } as unknown as WatchedState;
  return { hub: new WatchHub(state, { clock: createVirtualClock(), isStarted: true, watchesMax: 10 }), window };
}

function noting(range: KeyRange, from = 0) {
  const notes: string[] = [];
  const watcher = {
    source: {},
    range: keys.resolve(range, 'test'),
    options: {},
    state: 'idle',
    position: 0,
    isIndexed: false,
    get from() {
      notes.push('from');
      return from;
    },
    start: () => notes.push('start'),
    notify: (position: number) => notes.push(`notify ${position}`),
    serve: () => notes.push('serve'),
    fail: (error: unknown) => notes.push((error as Error).name),
    failCompacted: () => notes.push('CompactedError'),
  };
  const taken = () => notes.splice(0).filter((note) => note !== 'from');
  return { watcher: watcher as typeof watcher & HubWatcher, notes, taken };
}

const put = (revision: number, after?: number) => ({
  revision,
  ...(after === undefined ? {} : { after }),
  changes: [{ text: 'a', type: 'put' as const }],
});

describe.each(SHAPES)('of a watcher of %j', (range) => {
  it('nothing is left in the index when it ends, idle or pending', () => {
    for (const state of ['idle', 'pending']) {
      const { hub } = openHub();
      const { watcher, notes, taken } = noting(range);
      hub.becameIdle(watcher, 0);
      hub.published(put(2));
      expect(taken()).toEqual(['notify 2']);
      if (state === 'pending') {
        watcher.position = 2;
        watcher.state = 'pending';
        hub.becamePending(watcher, 0);
      }
      watcher.state = 'ended';
      hub.ended(watcher);
      notes.length = 0;
      watcher.state = 'idle';
      hub.published(put(3));
      expect([state, notes, watcher.isIndexed]).toEqual([state, [], false]);
    }
  });

  it('it is notified once, however often it became idle', () => {
    const { hub } = openHub();
    const { watcher, taken } = noting(range);
    for (let round = 0; round < 3; round++) {
      hub.becameIdle(watcher, 0);
      expect(watcher.isIndexed).toBe(true);
    }
    hub.published(put(2));
    expect(taken()).toEqual(['notify 2']);
  });

  it('that starts at the newest revision or below, no span looks at it', () => {
    for (const from of [0, 4, 5]) {
      const { hub } = openHub(5);
      const { watcher, notes } = noting(range, from);
      hub.becameIdle(watcher, 0);
      notes.length = 0;
      hub.published({ revision: 20, after: 10, changes: [] });
      expect([from, notes]).toEqual([from, []]);
    }
  });

  it('that starts in the future, nothing is left for a span to look at once it has ended or the span has passed', () => {
    for (const end of ['ended', 'passed', 'still ahead']) {
      const { hub } = openHub();
      const { watcher, notes } = noting(range, 20);
      hub.becameIdle(watcher, 0);
      if (end === 'ended') {
        watcher.state = 'ended';
        hub.ended(watcher);
      } else if (end === 'passed') hub.published({ revision: 20, after: 19, changes: [] });
      else hub.published({ revision: 18, after: 10, changes: [] });
      notes.length = 0;
      hub.published({ revision: 30, after: end === 'still ahead' ? 18 : 20, changes: [] });
      hub.published({ revision: 40, after: 30, changes: [] });
      expect([end, notes.filter((note) => note !== 'from'), notes.length > 0]).toEqual([
        end,
        end === 'still ahead' ? ['CompactedError'] : [],
        end === 'still ahead',
      ]);
    }
  });
});

describe('the position of a watch', () => {
  it('is 0 until it has something to deliver', async () => {
    const parts = new Parts();
    parts.hub.reset(2);
    const { watch } = parts.watch({ prefix: '' });
    const watcher = watch as Watch<string> & HubWatcher;
    expect([watcher.state, watcher.position]).toEqual(['waiting', 0]);
    parts.hub.start({ identity: 'parts', epoch: 2 });
    expect([watcher.state, watcher.position]).toEqual(['idle', 0]);
    parts.commit(7, ['put', 'a']);
    expect([watcher.state, watcher.position]).toEqual(['pending', 7]);
    await watch.next();
    expect([watcher.state, watcher.position]).toEqual(['idle', 0]);
  });
});

describe('a watch that ends', () => {
  it('ends once: whoever waits at the same position is still there, and ended by compaction', async () => {
    const parts = new Parts();
    const [one, two] = [parts.watch({ prefix: '' }), parts.watch({ prefix: '' })];
    parts.commit(5, ['put', 'a']);
    parts.commit(6, ['put', 'a']);
    for (let round = 0; round < 3; round++) await one.watch.return?.();
    expect(parts.hub.stats).toEqual({ idle: 0, pending: 1 });
    parts.applier.compact(6, 'compact');
    expect([await two.take(), parts.hub.stats]).toEqual([['CompactedError'], { idle: 0, pending: 0 }]);
  });

  it('tells nobody why, who has left it before asking', async () => {
    const parts = new Parts();
    const { watch } = parts.watch({ prefix: '' });
    parts.hub.fail(new Error('over'));
    expect(await watch.return?.()).toEqual({ value: undefined, done: true });
    expect(await watch.next()).toEqual({ value: undefined, done: true });
  });

  it('listens to its signal no longer', async () => {
    const parts = new Parts();
    const { signal } = new AbortController();
    const reader = parts.watch({ prefix: '' }, { signal });
    expect(getEventListeners(signal, 'abort').length).toBe(1);
    await reader.watch.return?.();
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  });
});

describe('what a watch commits before it answers', () => {
  it('progressRevision and requestProgress what is due, until the watch has ended', async () => {
    const parts = new Parts();
    let calls = 0;
    const options = { clock: parts.clock, isStarted: true, watchesMax: 10, beforeRead: () => calls++ };
    const hub = new WatchHub(parts.mvcc.state, options);
    const range = parts.mvcc.resolve({ prefix: '' }, 'watch');
    const watch = hub.open(parts.mvcc, range, {}, { identity: 'parts', epoch: 1 });
    expect([watch.progressRevision, calls]).toEqual([1, 1]);
    watch.requestProgress();
    expect(calls).toBe(2);
    await watch.return?.();
    calls = 0;
    watch.requestProgress();
    expect([watch.progressRevision, calls]).toEqual([1, 0]);
  });
});

describe('data that were replaced', () => {
  it('twice before the first list: watches that wait go on waiting', async () => {
    const parts = new Parts();
    const old = parts.watch({ prefix: '' });
    parts.hub.reset(2);
    const waiting = parts.watch({ prefix: '' });
    parts.hub.reset(3);
    expect([await old.take(), await waiting.take()]).toEqual([['IdentityChangedError'], []]);
    parts.hub.start({ identity: 'new', epoch: 3 });
    parts.commit(2, ['put', 'a']);
    expect(await waiting.take()).toEqual(['2: put a(2,2,1)']);
  });

  it('state made anew at S: watches from S on or below end, also idle ones; later and initial ones go on', async () => {
    const parts = new Parts({ revision: 9 });
    const readers = [undefined, 10, 11, 12].map((fromRevision) =>
      parts.watch({ prefix: '' }, fromRevision === undefined ? {} : { fromRevision }),
    );
    const initial = parts.watch({ prefix: '' }, { initial: true });
    parts.applier.restart({ revision: 11, changes: parts.changes(11, [['put', 'a']]) }, 'test');
    parts.hub.restarted();
    parts.commit(12, ['put', 'b']);
    expect(await Promise.all(readers.map((reader) => reader.take()))).toEqual([
      ['CompactedError'],
      ['CompactedError'],
      ['CompactedError'],
      ['12: put b(12,12,1)'],
    ]);
    expect(await initial.take()).toEqual(['12 initial: put a(11,11,1), put b(12,12,1)']);
  });
});
