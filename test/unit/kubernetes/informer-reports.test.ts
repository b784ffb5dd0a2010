import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../src/kubernetes/errors.ts';
import { InformerRig } from '../../support/informer-rig.ts';
import { type Pod, pod } from '../../support/scripted-api.ts';

/**
 * Public reports about informers, by their number in docs/spec/informers.md: the smallest scenario, and what is right. Pauses of
 * the rig are 2 s, 4 s, 8 s, 16 s, 30 s.
 */

const A1 = pod('a', 'u1', 1);
const DELETING = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('a watch that says nothing', () => {
  it.each([
    ['report 1', 'kubernetes-client/javascript#596'],
    ['report 2', 'kubernetes-client/javascript#364'],
  ])('%s (%s), IN21: is given up after inactivityMs, and another one goes on from the newest version', async () => {
    const rig = new InformerRig({ inactivityMs: 60_000 });
    const stream = await rig.follow(5, A1);
    stream.send('MODIFIED', pod('a', 'u1', 7));
    await rig.advance(59_999);
    expect([stream.isCanceled, rig.informer.state().phase]).toEqual([false, 'watching']);
    await rig.advance(1);
    expect([stream.isCanceled, rig.informer.stats().inactiveWatches]).toEqual([true, 1]);
    expect(rig.failures).toEqual(['TRANSPORT: timeout']);
    await rig.advance(2000);
    expect(rig.api.lastWatch.query).toMatchObject({ resourceVersion: '7', allowWatchBookmarks: 'true' });
    expect(rig.api.lists.length).toBe(1);
  });

  it('report 3 (kubernetes-client/javascript#958), report 23 (#609): onConnect says that there is one again, which, and why', async () => {
    const rig = new InformerRig({ inactivityMs: 60_000 });
    await rig.follow(5, A1);
    await rig.advance(62_000);
    const second = rig.api.lastWatch.open();
    await rig.advance(3000);
    second.end();
    await rig.advance(0);
    rig.api.lastWatch.open();
    await rig.settle();
    expect(rig.connections).toEqual([
      { attempt: 1, reason: 'start', resourceVersion: '5' },
      { attempt: 2, reason: 'inactive', resourceVersion: '5' },
      { attempt: 3, reason: 'ended', resourceVersion: '5' },
    ]);
  });

  it('report 1, IN21: a bookmark is a word, and so is half a line', async () => {
    const rig = new InformerRig({ inactivityMs: 60_000 });
    const stream = await rig.follow(5, A1);
    await rig.advance(50_000);
    stream.bookmark('9');
    await rig.advance(50_000);
    stream.text('{"type":"MOD');
    await rig.advance(59_999);
    expect([stream.isCanceled, rig.informer.state().resourceVersion, rig.informer.stats().bookmarks]).toEqual([
      false,
      '9',
      1,
    ]);
    await rig.advance(1);
    expect(stream.isCanceled).toBe(true);
  });

  it('report 26 (kubernetes-fluent-client#1014): silent again and again, the state is listed, and the watch behind it is another one', async () => {
    const rig = new InformerRig({ inactivityMs: 60_000 });
    await rig.follow(5, A1);
    await rig.advance(62_000);
    rig.api.lastWatch.open();
    await rig.advance(66_000);
    expect(rig.api.lastList.query).toMatchObject({ resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' });
    rig.api.lastList.list('9', [pod('a', 'u1', 8)]);
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'updated ns/a 8<1']);
    expect(rig.listings.at(-1)).toMatchObject({ missed: 1, isComplete: true });
    expect(rig.api.lastWatch.query.resourceVersion).toBe('9');
    expect([rig.informer.stats().relists, rig.api.openStreamsMax]).toEqual([1, 1]);
  });

  it('report 28 (uds-core#839): deleted and made anew while the watch is dead is seen after inactivityMs and a pause', async () => {
    const rig = new InformerRig({ inactivityMs: 60_000 });
    await rig.follow(5, A1);
    await rig.advance(62_000);
    const stream = rig.api.lastWatch.open();
    stream.send('DELETED', pod('a', 'u1', 6, DELETING));
    stream.send('ADDED', pod('a', 'u2', 7));
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'deleted ns/a 6<1 deleted', 'added ns/a 7']);
    expect(rig.clock.now()).toBe(62_000);
  });
});

describe('lists that fail', () => {
  it('report 4 (kubernetes-client/javascript#2432), IN18: a list that never answers has a deadline, and is tried again', async () => {
    const rig = new InformerRig({ listTimeoutMs: 10_000 });
    await rig.start();
    const { signal } = rig.api.lastList;
    await rig.advance(10_000);
    expect([signal.aborted, rig.failures, rig.informer.state().phase]).toEqual([
      true,
      ['TRANSPORT: timeout'],
      'waiting',
    ]);
    await rig.advance(2000);
    expect(rig.api.lists.length).toBe(2);
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    expect(rig.informer.state()).toMatchObject({ isSynced: true, size: 1 });
  });

  it('report 16 (kubernetes-client/javascript#320): synced tells when it is seeded, after the deltas were taken', async () => {
    const rig = new InformerRig();
    let isSynced = false;
    void rig.informer.synced().then(() => {
      isSynced = true;
    });
    await rig.start();
    expect([isSynced, rig.informer.state().isSynced, rig.informer.size]).toEqual([false, false, 0]);
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    expect([isSynced, rig.informer.get('ns/a'), rig.deltas]).toEqual([
      true,
      { apiVersion: 'v1', kind: 'Pod', ...A1 },
      ['added ns/a 1'],
    ]);
    await rig.informer.synced();
  });

  it('report 35 (kubernetes/kubernetes#94315): a version that is too large is asked for again, then no version', async () => {
    const rig = new InformerRig();
    await rig.follow(50, A1);
    rig.informer.relist();
    await rig.settle();
    expect(rig.api.lastList.query.resourceVersion).toBe('50');
    rig.api.lastList.refuse(504, 'Timeout', { causes: ['ResourceVersionTooLarge'] });
    await rig.advance(2000);
    expect(rig.api.lastList.query.resourceVersion).toBeUndefined();
    rig.api.lastList.list('20', [A1]);
    await rig.settle();
    expect(rig.api.lastWatch.query.resourceVersion).toBe('20');
  });

  it('report 35: also of a watch, whose second refusal is a new list', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(50, A1);
    await rig.advance(5000);
    stream.end();
    await rig.settle();
    rig.api.lastWatch.refuse(504, 'Timeout', { causes: ['ResourceVersionTooLarge'] });
    await rig.advance(2000);
    rig.api.lastWatch.refuse(504, 'Timeout', { causes: ['ResourceVersionTooLarge'] });
    await rig.advance(4000);
    expect(rig.api.lastList.query.resourceVersion).toBeUndefined();
  });

  it('report 36 (kubernetes/kubernetes#102718): lists that are too slow to be watched from are paced, and of the newest state', async () => {
    const rig = new InformerRig();
    await rig.start();
    const pauses: number[] = [];
    for (let turn = 0; turn < 5; turn++) {
      rig.api.lastList.list(String(10 + turn), [A1]);
      await rig.settle();
      const since = rig.clock.now();
      rig.api.lastWatch.refuse(410, 'Expired');
      await rig.nextRequest();
      pauses.push(rig.clock.now() - since);
      expect(rig.api.lastList.query.resourceVersion).toBeUndefined();
    }
    expect(pauses).toEqual([0, 2000, 4000, 8000, 16_000]);
    expect([rig.informer.stats().expired, rig.deltas]).toEqual([5, ['added ns/a 1']]);
  });

  it('report 34 (kubernetes/kubernetes#59848): a server that is behind takes nothing back, and is asked for what is not older', async () => {
    const rig = new InformerRig();
    await rig.follow(50, pod('a', 'u1', 40));
    expect(rig.deltas).toEqual(['added ns/a 40']);
    rig.informer.relist();
    await rig.settle();
    expect(rig.api.lastList.query).toMatchObject({ resourceVersion: '50', resourceVersionMatch: 'NotOlderThan' });
    rig.api.lastList.list('20', [pod('a', 'u1', 12), pod('b', 'u2', 15)]);
    await rig.settle();
    expect(rig.deltas).toEqual([]);
  });
});

describe('versions that are too old', () => {
  it('report 6 (kubernetes-client/javascript#1933), IN16: 410 as an event, then the end: one list, one watch', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.send('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' });
    stream.end();
    await rig.advance(0);
    expect([rig.api.lists.length, rig.api.watches.length]).toEqual([2, 1]);
    rig.api.lastList.list('30', [A1]);
    await rig.settle();
    expect(rig.api.lastWatch.query.resourceVersion).toBe('30');
    rig.api.lastWatch.open();
    await rig.advance(60_000);
    expect([rig.api.lists.length, rig.api.watches.length, rig.api.openStreamsMax]).toEqual([2, 2, 1]);
    expect(rig.deltas).toEqual(['added ns/a 1']);
  });

  it('report 24 (snyk/kubernetes-monitor#1506): again and again, no version is given, and a list says what that could not', async () => {
    const rig = new InformerRig();
    await rig.start();
    for (let turn = 0; turn < 3; turn++) {
      rig.api.lastList.list(String(10 + turn), [A1]);
      await rig.settle();
      expect(rig.api.lastWatch.query.resourceVersion).toBe(String(10 + turn));
      rig.api.lastWatch.refuse(410, 'Gone');
      await rig.advance(turn < 2 ? 2000 * turn : 4000);
    }
    rig.api.lastList.list('20', [A1, pod('b', 'u2', 2)]);
    await rig.settle();
    expect(rig.api.lastWatch.query.resourceVersion).toBeUndefined();
    const stream = rig.api.lastWatch.open();
    // What is there is told as ADDED; that b was deleted before, nobody says.
    stream.send('ADDED', A1);
    await rig.advance(30_000);
    rig.api.lastList.list('40', [A1]);
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'added ns/b 2', 'deleted ns/b ?<2 deleted']);
    expect([rig.api.lists.length, rig.api.watches.length]).toEqual([5, 5]);
  });
});

describe('connections that end', () => {
  it('report 7 (kubernetes-client/javascript#379), IN20: a watch that ends at once is an error, and is tried ever later', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.end();
    const at: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      await rig.nextRequest();
      at.push(rig.clock.now());
      rig.api.lastWatch.open().end();
    }
    await rig.settle();
    expect(at.map((one, index) => one - (at[index - 1] ?? 0))).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(rig.failures).toEqual(Array.from({ length: 7 }, () => 'TRANSPORT: cut'));
    expect([rig.api.lists.length, rig.deltas]).toEqual([1, ['added ns/a 1']]);
  });

  it('report 8 (kubernetes-client/javascript#495): a list of the same versions makes nothing', async () => {
    const rig = new InformerRig();
    await rig.follow(5, A1, pod('b', 'u2', 2));
    rig.informer.relist();
    await rig.settle();
    rig.api.lastList.list('9', [A1, pod('b', 'u2', 2)]);
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'added ns/b 2']);
  });

  it.each([
    ['report 9', 'kubernetes-client/javascript#2424'],
    ['report 29', 'pepr#295'],
  ])('%s (%s): what comes again after a reconnect makes nothing', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.send('MODIFIED', pod('a', 'u1', 6));
    await rig.advance(5000);
    stream.end();
    await rig.settle();
    const next = rig.api.lastWatch.open();
    next.send('MODIFIED', pod('a', 'u1', 6));
    next.send('ADDED', pod('a', 'u1', 1));
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'updated ns/a 6<1']);
  });

  it('report 10 (kubernetes-client/javascript#301), IN15: a server that ends watches every few minutes is no failure', async () => {
    const rig = new InformerRig({ inactivityMs: 600_000 });
    let stream = await rig.follow(5, A1);
    for (let turn = 0; turn < 10; turn++) {
      await rig.advance(300_000);
      stream.end();
      await rig.settle();
      expect(rig.api.lastWatch.query.resourceVersion).toBe('5');
      stream = rig.api.lastWatch.open();
      await rig.settle();
    }
    expect([rig.failures, rig.deltas, rig.api.lists.length]).toEqual([[], ['added ns/a 1'], 1]);
  });

  it('report 14 (kubernetes-client/javascript#494), IN12: one watch at a time, however often it is opened anew', async () => {
    const rig = new InformerRig({ inactivityMs: 5000 });
    let stream = await rig.follow(5, A1);
    for (let turn = 0; turn < 300; turn++) {
      // The server ends it, it breaks, or it says nothing.
      if (turn % 3 === 0) stream.end();
      else if (turn % 3 === 1) stream.reset();
      await rig.nextRequest();
      expect([rig.api.openStreams, rig.informer.stats().openWatches]).toEqual([0, 0]);
      if (!rig.api.last.isWatch) {
        rig.api.lastList.list('5', [A1]);
        await rig.settle();
      }
      stream = rig.api.lastWatch.open();
      await rig.settle();
    }
    expect([rig.api.openStreamsMax, rig.clock.pending]).toEqual([1, 1]);
    await rig.informer.stop();
    expect([rig.api.openStreams, rig.clock.pending]).toEqual([0, 0]);
  });

  it('report 19 (kubernetes-client/javascript#249, #146), IN13: half a line is told, never read, and asked for again', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.send('MODIFIED', pod('a', 'u1', 6));
    // It would be whole JSON without its last character, too.
    stream.text(JSON.stringify({ type: 'MODIFIED', object: pod('a', 'u1', 7) }));
    stream.end();
    await rig.settle();
    expect([rig.deltas, rig.failures]).toEqual([['added ns/a 1', 'updated ns/a 6<1'], ['TRANSPORT: truncated']]);
    await rig.advance(2000);
    expect(rig.api.lastWatch.query.resourceVersion).toBe('6');
  });

  it('report 22 (kubernetes-client/javascript#1496): a reset in mid-stream is an end like any other', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.send('MODIFIED', pod('a', 'u1', 6));
    await rig.settle();
    stream.reset();
    await rig.advance(2000);
    expect([rig.failures, rig.api.lastWatch.query.resourceVersion]).toEqual([['TRANSPORT: cut'], '6']);
  });

  it('report 12 (kubernetes-client/javascript#795): after an outage what was missed comes as the difference', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1, pod('b', 'u2', 2));
    stream.reset();
    for (let turn = 0; turn < 4; turn++) {
      await rig.advance(30_000);
      rig.api.last.fail();
    }
    await rig.advance(30_000);
    expect(rig.informer.size).toBe(2);
    rig.api.lastWatch.refuse(410, 'Expired');
    await rig.settle();
    rig.api.lastList.list('90', [pod('a', 'u1', 80)]);
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'added ns/b 2', 'updated ns/a 80<1', 'deleted ns/b ?<2 deleted']);
  });

  it('report 20 (kubernetes-client/javascript#608): timeoutSeconds is passed on; by default 5 to 10 minutes', async () => {
    const rig = new InformerRig({ watchTimeoutSeconds: 30 });
    await rig.follow(5);
    expect(rig.api.lastWatch.query.timeoutSeconds).toBe('30');
    for (const [luck, seconds] of [
      [0, '300'],
      [0.999, '600'],
    ] as const) {
      const other = new InformerRig({ random: () => luck });
      await other.follow(5);
      expect(other.api.lastWatch.query.timeoutSeconds).toBe(seconds);
    }
  });
});

describe('what users do', () => {
  it('report 11 (kubernetes-client/javascript#1598): a second start is none', async () => {
    const rig = new InformerRig();
    await rig.follow(5, A1);
    rig.informer.start();
    await rig.settle();
    expect([rig.api.requests.length, rig.deltas]).toEqual([2, ['added ns/a 1']]);
  });

  it('report 15 (kubernetes-client/javascript#322), IN24: subscribed and ended 100,000 times, nothing is left', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    const { subscribers } = rig.informer.stats();
    const heard: number[] = [];
    for (let turn = 0; turn < 100_000; turn++) rig.informer.subscribe(() => heard.push(turn))();
    expect(rig.informer.stats().subscribers).toBe(subscribers);
    stream.send('MODIFIED', pod('a', 'u1', 6));
    await rig.settle();
    expect([heard, rig.deltas]).toEqual([[], ['added ns/a 1', 'updated ns/a 6<1']]);
  });

  it('report 17 (kubernetes-client/javascript#644), IN17: one selector for list and watch; what leaves it is not said to be gone', async () => {
    const selectors = { labelSelector: 'app in (web, db),!old', fieldSelector: 'status.phase=Running' };
    const rig = new InformerRig({ selectors });
    const stream = await rig.follow(5, A1);
    for (const { query } of rig.api.requests) expect(query).toMatchObject(selectors);
    stream.send('DELETED', pod('a', 'u1', 6));
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'deleted ns/a 6<1 left-selector-or-deleted']);
  });

  it('report 21 (kubernetes-client/javascript#570): one delete for one life', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.send('DELETED', pod('a', 'u1', 6, DELETING));
    stream.send('DELETED', pod('a', 'u1', 6, DELETING));
    stream.send('MODIFIED', pod('a', 'u1', 4));
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/a 1', 'deleted ns/a 6<1 deleted']);
  });

  it('report 33 (kubernetes/kubernetes#22878): old is what was delivered last, also where an update was missed', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1, pod('b', 'u2', 2));
    stream.send('DELETED', pod('a', 'u1', 9, DELETING));
    await rig.settle();
    stream.send('ERROR', { code: 410 });
    await rig.settle();
    rig.api.lastList.list('20', []);
    await rig.settle();
    expect(rig.deltas).toEqual([
      'added ns/a 1',
      'added ns/b 2',
      'deleted ns/a 9<1 deleted',
      'deleted ns/b ?<2 deleted',
    ]);
  });

  it('report 27 (pepr#745), IN5: a slow handler holds the connection back, and the state says for how long', async () => {
    let release = (): void => {};
    const taken: number[] = [];
    const rig = new InformerRig({
      onDeltas: async (deltas) => {
        taken.push(deltas.length);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    });
    await rig.start();
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    release();
    await rig.settle();
    const stream = rig.api.lastWatch.open();
    for (let version = 10; version < 1010; version++) stream.send('MODIFIED', pod('a', 'u1', version));
    await rig.advance(600_000);
    // One is with the handler; nobody has read on, and nobody takes the server for silent.
    expect([taken, stream.waiting, stream.isCanceled]).toEqual([[1, 1], 999, false]);
    expect(rig.informer.state()).toMatchObject({ phase: 'delivering', deliveringSinceMs: 0 });
    release();
    await rig.settle();
    expect([taken.length, stream.waiting]).toEqual([3, 998]);
  });

  it('report 30 (pepr#930, #977): what was tried, missed and heard last can be read', async () => {
    const rig = new InformerRig({ inactivityMs: 60_000 });
    const stream = await rig.follow(5, A1);
    await rig.advance(10_000);
    stream.send('MODIFIED', pod('a', 'u1', 6));
    await rig.settle();
    stream.send('ERROR', { code: 410, reason: 'Expired' });
    await rig.settle();
    rig.api.lastList.list('20', [pod('a', 'u1', 15), pod('b', 'u2', 16)]);
    await rig.settle();
    rig.api.lastWatch.open();
    await rig.settle();
    expect(rig.informer.stats()).toMatchObject({
      lists: 2,
      relists: 1,
      watches: 2,
      openWatches: 1,
      failedWatches: 1,
      expired: 1,
      core: { missed: 2, events: 1 },
    });
    expect(rig.informer.state()).toMatchObject({ heardAtMs: 10_000, failures: 0, size: 2, resourceVersion: '20' });
    const { error, atMs } = rig.informer.state().lastError ?? {};
    expect([error, atMs]).toEqual([expect.any(ApiStatusError), 10_000]);
    const object: Pod | undefined = rig.informer.get('ns/b');
    expect(object?.metadata.name).toBe('b');
  });
});
