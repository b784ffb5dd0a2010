import { describe, expect, it } from 'vitest';
import { createInformer } from '../../../src/kubernetes/create-informer.ts';
import type { InformerOptions } from '../../../src/kubernetes/informer-types.ts';
import type { KubernetesTransport, WatchStream } from '../../../src/kubernetes/transport.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { InformerRig } from '../../support/informer-rig.ts';
import { PODS, pod } from '../../support/scripted-api.ts';

/** Rules IN12 to IN25 of docs/spec/informers.md, as far as the reports do not show them. */

const A1 = pod('a', 'u1', 1);
const B2 = pod('b', 'u2', 2);
const C3 = pod('c', 'u3', 3);

describe('lists in pages (IN18)', () => {
  it('ask for pageLimit, go on by token, and take away at the end of the last page alone', async () => {
    const rig = new InformerRig({ pageLimit: 2 });
    await rig.follow(3, A1, B2, C3);
    expect(rig.api.requests[0]?.query).toEqual({ limit: '2' });
    rig.informer.relist();
    await rig.settle();
    expect(rig.deltas.length).toBe(3);
    rig.api.lastList.list('9', [pod('a', 'u1', 8)], { continue: 't1' });
    await rig.settle();
    expect(rig.deltas).toEqual(['updated ns/a 8<1']);
    expect(rig.api.lastList.query).toEqual({ limit: '2', continue: 't1' });
    rig.api.lastList.list('9', [pod('d', 'u4', 7)]);
    await rig.settle();
    expect(rig.deltas).toEqual(['added ns/d 7', 'deleted ns/b ?<2 deleted', 'deleted ns/c ?<3 deleted']);
    expect(rig.api.lastWatch.query.resourceVersion).toBe('9');
  });

  it('that fail half-way have taken nothing away, and begin anew', async () => {
    const rig = new InformerRig();
    await rig.follow(3, A1, B2);
    rig.informer.relist();
    await rig.settle();
    rig.api.lastList.list('9', [pod('a', 'u1', 8)], { continue: 't1' });
    await rig.settle();
    rig.api.lastList.refuse(500, 'InternalError');
    await rig.advance(2000);
    expect(rig.informer.size).toBe(2);
    expect(rig.api.lastList.query).toEqual({ limit: '500' });
    rig.api.lastList.list('10', [pod('a', 'u1', 8)]);
    await rig.settle();
    expect(rig.informer.size).toBe(1);
  });

  it('go on with the token of a 410, and are watched from the oldest version', async () => {
    const rig = new InformerRig();
    await rig.start();
    rig.api.lastList.list('9', [A1], { continue: 't1' });
    await rig.settle();
    rig.api.lastList.refuse(410, 'Expired', { continue: 't2' });
    await rig.settle();
    expect(rig.api.lastList.query).toEqual({ limit: '500', continue: 't2' });
    rig.api.lastList.list('30', [B2]);
    await rig.settle();
    expect([rig.deltas, rig.api.lastWatch.query.resourceVersion]).toEqual([['added ns/a 1', 'added ns/b 2'], '9']);
    expect([rig.failures, rig.informer.stats().expired]).toEqual([[], 1]);
  });

  it('without such a token are asked for as one page', async () => {
    const rig = new InformerRig();
    await rig.start();
    rig.api.lastList.list('9', [A1], { continue: 't1' });
    await rig.settle();
    rig.api.lastList.refuse(410, 'Expired');
    await rig.settle();
    expect(rig.api.lastList.query).toEqual({});
    rig.api.lastList.list('30', [B2]);
    await rig.settle();
    expect([rig.deltas, rig.informer.size]).toEqual([['added ns/a 1', 'added ns/b 2', 'deleted ns/a ?<1 deleted'], 1]);
  });

  it('whose token is too old ten times are asked for as one page', async () => {
    const rig = new InformerRig();
    await rig.start();
    rig.api.lastList.list('9', [A1], { continue: 't0' });
    for (let turn = 1; turn <= 10; turn++) {
      await rig.settle();
      expect(rig.api.lastList.query.continue).toBe(`t${turn - 1}`);
      rig.api.lastList.refuse(410, 'Expired', { continue: `t${turn}` });
    }
    await rig.settle();
    expect(rig.api.lastList.query).toEqual({});
  });

  it('that continue with themselves are malformed', async () => {
    const rig = new InformerRig();
    await rig.start();
    rig.api.lastList.list('9', [A1], { continue: 't1' });
    await rig.settle();
    rig.api.lastList.list('9', [A1], { continue: 't1' });
    await rig.settle();
    expect(rig.failures).toEqual(['TRANSPORT: malformed']);
  });

  it('with an item that has no name say so, take nothing away, and are made again', async () => {
    const rig = new InformerRig();
    await rig.start();
    rig.api.lastList.list('5', [A1, { metadata: {} }, { metadata: { name: 'x' } }]);
    await rig.settle();
    expect(rig.errors.map(({ about }) => about.during)).toEqual(['object', 'object']);
    expect(rig.errors.map(({ error }) => String(error))[1]).toMatch(/: Cannot take an item of pods: of x: /);
    expect(rig.informer.state()).toMatchObject({ isSynced: false, size: 1 });
    rig.api.lastWatch.open();
    await rig.advance(30_000);
    rig.api.lastList.list('8', [B2]);
    await rig.settle();
    expect(rig.informer.state()).toMatchObject({ isSynced: true, size: 1 });
  });

  it('are made every relistMs, also after a stop', async () => {
    const rig = new InformerRig({ relistMs: 60_000, inactivityMs: 600_000 });
    await rig.follow(5, A1);
    await rig.advance(60_000);
    rig.api.lastList.list('6', [A1]);
    await rig.settle();
    expect(rig.connections.length).toBe(1);
    rig.api.lastWatch.open();
    await rig.settle();
    expect(rig.connections.at(-1)).toMatchObject({ attempt: 2, reason: 'listed' });
    await rig.informer.stop();
    expect(rig.clock.pending).toBe(0);
    await rig.start();
    rig.api.lastWatch.open();
    await rig.advance(60_000);
    expect(rig.api.lists.length).toBe(3);
  });

  it('that are asked for while one is under way are made behind it', async () => {
    const rig = new InformerRig();
    await rig.start();
    rig.informer.relist();
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    rig.api.lastList.list('6', [A1, B2]);
    await rig.settle();
    expect([rig.api.lists.length, rig.api.watches.length, rig.informer.size]).toEqual([2, 1, 2]);
  });

  it('IN25 that are asked for while a watch is being opened end that, and are made at once', async () => {
    const rig = new InformerRig({ inactivityMs: 600_000 });
    await rig.start();
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    const { signal } = rig.api.lastWatch;
    rig.informer.relist();
    await rig.settle();
    expect([signal.aborted, rig.api.last.isWatch, rig.failures]).toEqual([true, false, []]);
    rig.api.lastList.list('6', [A1, B2]);
    await rig.settle();
    rig.api.lastWatch.open();
    await rig.settle();
    expect([rig.informer.size, rig.connections]).toEqual([2, [{ attempt: 1, reason: 'listed', resourceVersion: '6' }]]);
  });

  it('IN25 that are due while a watch is being opened are made at once: by relistMs, and after one that was not complete', async () => {
    const options = { connectTimeoutMs: 120_000, inactivityMs: 600_000 };
    for (const [more, items] of [
      [{ relistMs: 20_000 }, [A1]],
      [{}, [A1, { metadata: {} }]],
    ] as const) {
      const rig = new InformerRig({ ...options, ...more });
      await rig.start();
      rig.api.lastList.list('5', items);
      await rig.settle();
      expect(rig.api.last.isWatch).toBe(true);
      await rig.advance(30_000);
      expect([rig.api.lists.length, rig.api.last.isWatch, rig.api.watches[0]?.signal.aborted]).toEqual([
        2,
        false,
        true,
      ]);
    }
  });

  it('that are no lists are told, and tried again, and take nothing away', async () => {
    const rig = new InformerRig();
    await rig.follow(3, A1);
    rig.informer.relist();
    await rig.settle();
    const metadata = { resourceVersion: '7' };
    const answers = [
      '<html>',
      { metadata: {} },
      { metadata: { resourceVersion: '' }, items: [] },
      { items: 5 },
      { metadata, items: 5 },
      // Of a proxy, or of a server that was asked for something else than it answers.
      { kind: 'Table', metadata, rows: [] },
      { kind: 'Pod', metadata: { ...metadata, name: 'a' } },
      { metadata },
    ];
    for (const answer of answers) {
      rig.api.lastList.answer(answer);
      await rig.advance(30_000);
    }
    expect(rig.failures).toEqual(answers.map(() => 'TRANSPORT: malformed'));
    expect(rig.informer.size).toBe(1);
    // What Go writes for an empty list.
    rig.api.lastList.answer({ metadata: { resourceVersion: '4' }, items: null });
    await rig.settle();
    expect(rig.informer.state().isSynced).toBe(true);
  });
});

describe('lists that are streamed (IN19)', () => {
  it('are one request with the watch behind them, and count from their end mark on', async () => {
    const rig = new InformerRig({ streamingList: 'auto' });
    await rig.start();
    expect(rig.api.lastWatch.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    const stream = rig.api.lastWatch.open();
    stream.send('ADDED', A1);
    stream.send('ADDED', B2);
    stream.send('DELETED', pod('b', 'u2', 4));
    stream.send('MODIFIED', pod('a', 'u1', 5));
    stream.bookmark('3');
    await rig.settle();
    expect([rig.deltas, rig.informer.state().isSynced]).toEqual([[], false]);
    stream.bookmark('6', true);
    stream.send('MODIFIED', pod('a', 'u1', 7));
    await rig.settle();
    expect([rig.deltas, rig.informer.state().isSynced]).toEqual([['added ns/a 5', 'updated ns/a 7<5'], true]);
    expect(rig.listings).toEqual([{ resourceVersion: '6', missed: 0, isComplete: true, isStreamed: true }]);
    stream.send('ERROR', { code: 410 });
    await rig.settle();
    const again = rig.api.lastWatch.open();
    again.bookmark('9', true);
    await rig.settle();
    expect([rig.deltas, rig.api.openStreamsMax]).toEqual([['deleted ns/a ?<7 deleted'], 1]);
  });

  it('go on with what is behind the mark in one read', async () => {
    const rig = new InformerRig({ streamingList: 'auto' });
    await rig.start();
    const mark = { metadata: { resourceVersion: '6', annotations: { 'k8s.io/initial-events-end': 'true' } } };
    const lines = [
      { type: 'ADDED', object: A1 },
      { type: 'BOOKMARK', object: mark },
      { type: 'ADDED', object: pod('b', 'u2', 8) },
    ];
    rig.api.lastWatch.open().text(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await rig.settle();
    expect([rig.deltas, rig.informer.state().resourceVersion]).toEqual([['added ns/a 1', 'added ns/b 8'], '8']);
  });

  it.each([400, 405, 422])('are lists in pages from then on where the server refuses with %d', async (status) => {
    const rig = new InformerRig({ streamingList: 'auto' });
    await rig.start();
    rig.api.lastWatch.refuse(status, 'Invalid');
    await rig.settle();
    expect(rig.api.lastList.query).toEqual({ limit: '500' });
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    rig.api.lastWatch.refuse(410, 'Expired');
    await rig.settle();
    expect([rig.api.last.isWatch, rig.failures]).toEqual([false, ['API_STATUS: 410']]);
  });

  it('IN25 that are asked for while one is streamed are made behind it, and by its callback too', async () => {
    for (const relistFrom of ['before it is accepted', 'while it is streamed', 'its callback'] as const) {
      let turns = 0;
      const rig: InformerRig = new InformerRig({
        streamingList: 'auto',
        onListed: () => {
          if (relistFrom === 'its callback' && turns++ === 0) rig.informer.relist();
        },
      });
      await rig.start();
      if (relistFrom === 'before it is accepted') rig.informer.relist();
      const stream = rig.api.lastWatch.open();
      await rig.settle();
      if (relistFrom === 'while it is streamed') rig.informer.relist();
      stream.send('ADDED', A1);
      stream.bookmark('6', true);
      await rig.settle();
      expect([rig.deltas, stream.isCanceled, rig.api.watches.length]).toEqual([['added ns/a 1'], true, 2]);
      rig.api.lastWatch.open().bookmark('9', true);
      await rig.advance(10_000);
      expect([rig.deltas, rig.api.watches.length, rig.failures]).toEqual([['deleted ns/a ?<1 deleted'], 2, []]);
    }
  });

  it('that are not answered are lists in pages next, and for good only the second time in a row', async () => {
    const rig = new InformerRig({ streamingList: 'auto', connectTimeoutMs: 1000 });
    const unanswered = async () => {
      expect(rig.api.lastWatch.query.sendInitialEvents).toBe('true');
      await rig.nextRequest();
      expect(rig.api.last.isWatch).toBe(false);
      rig.api.lastList.list('5', [A1]);
      await rig.settle();
      rig.informer.relist();
      await rig.settle();
    };
    await rig.start();
    await unanswered();
    // It was a moment's outage.
    rig.api.lastWatch.open().bookmark('9', true);
    await rig.settle();
    rig.informer.relist();
    await rig.settle();
    await unanswered();
    await unanswered();
    expect(rig.api.last.isWatch).toBe(false);
    expect(new Set(rig.failures)).toEqual(new Set(['TRANSPORT: timeout']));
  });

  it('that are not found say that they are lists', async () => {
    const rig = new InformerRig({ streamingList: 'auto' });
    await rig.start();
    rig.api.lastWatch.refuse(404, 'NotFound');
    await rig.settle();
    expect(rig.errors.map(({ error, about }) => [(error as Error).message, about.during])).toEqual([
      ['Cannot list and watch pods: the server answered 404 NotFound, refused: NotFound', 'list'],
    ]);
  });

  it('are lists in pages from then on where the mark does not come', async () => {
    const ends = {
      'the server ends it': async (rig: InformerRig) => rig.api.lastWatch.open().end(),
      'nothing comes': async (rig: InformerRig) => {
        rig.api.lastWatch.open().send('ADDED', A1);
        await rig.advance(60_000);
      },
      'only events come': async (rig: InformerRig) => {
        const stream = rig.api.lastWatch.open();
        for (let turn = 0; turn < 10; turn++) {
          stream.send('ADDED', A1);
          await rig.advance(30_000);
        }
      },
    };
    for (const end of Object.values(ends)) {
      const rig = new InformerRig({ streamingList: 'auto' });
      await rig.start();
      await end(rig);
      await rig.advance(2000);
      expect([rig.api.last.isWatch, rig.informer.size, rig.errors.length]).toEqual([false, 0, 1]);
    }
  });

  it('that broke are streamed again', async () => {
    const rig = new InformerRig({ streamingList: 'auto' });
    await rig.start();
    rig.api.lastWatch.open().reset();
    await rig.advance(2000);
    expect(rig.api.lastWatch.query.sendInitialEvents).toBe('true');
    rig.api.lastWatch.fail();
    await rig.advance(4000);
    expect(rig.api.lastWatch.query.sendInitialEvents).toBe('true');
    expect([rig.informer.stats().failedLists, rig.failures]).toEqual([2, ['TRANSPORT: cut', 'TRANSPORT: unreachable']]);
  });
});

describe('pauses (IN20)', () => {
  it.each([
    ['seconds', '7', 8000],
    ['a date', new Date(1_700_000_007_000).toUTCString(), 8000],
    ['a date that is over', new Date(1_600_000_000_000).toUTCString(), 2000],
    ['more than retryAfterMaxMs', '3600', 61_000],
    ['nonsense', 'soon', 2000],
  ])('a 429 with Retry-After is kept: %s', async (_, retryAfter, delayMs) => {
    const rig = new InformerRig({ retryAfterMaxMs: 60_000 });
    await rig.start();
    rig.api.lastList.refuse(429, 'TooManyRequests', { retryAfter });
    await rig.settle();
    expect(rig.errors[0]?.about).toEqual({ during: 'list', failures: 1, retryMs: delayMs });
    expect(rig.informer.state()).toMatchObject({ phase: 'waiting', retryAtMs: delayMs, failures: 1 });
    await rig.advance(delayMs - 1);
    expect(rig.api.requests.length).toBe(1);
    await rig.advance(1);
    expect(rig.api.requests.length).toBe(2);
  });

  it.each([401, 403, 404, 500, 503])(
    'a list that is refused with %d is told with its reason, and tried for ever',
    async (status) => {
      const rig = new InformerRig();
      await rig.start();
      for (let turn = 0; turn < 20; turn++) {
        rig.api.lastList.refuse(status, 'Forbidden');
        await rig.advance(30_000);
      }
      expect([rig.api.lists.length, rig.errors.length]).toEqual([21, 20]);
      expect(rig.informer.state()).toMatchObject({ isSynced: false, failures: 20 });
      rig.api.lastList.list('5', [A1]);
      await rig.settle();
      expect(rig.informer.state()).toMatchObject({ isSynced: true, size: 1 });
    },
  );

  it('a watch that is refused for now is tried from where it was, one that is not found is listed first', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    await rig.advance(5000);
    stream.end();
    await rig.settle();
    for (const status of [401, 403, 429, 503]) {
      rig.api.lastWatch.refuse(status, 'Whatever');
      await rig.advance(30_000);
      expect(rig.api.lastWatch.query.resourceVersion).toBe('5');
    }
    rig.api.lastWatch.refuse(404, 'NotFound');
    await rig.advance(30_000);
    rig.api.lastList.refuse(404, 'NotFound');
    await rig.advance(30_000);
    // Nothing is taken as deleted because the server does not find the resource.
    expect([rig.informer.size, rig.api.last.isWatch]).toEqual([1, false]);
  });

  it('are short again when a watch has brought something new, or has lived', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.reset();
    await rig.advance(2000);
    rig.api.lastWatch.fail();
    await rig.advance(4000);
    const next = rig.api.lastWatch.open();
    next.send('MODIFIED', pod('a', 'u1', 6));
    await rig.settle();
    expect(rig.informer.state().failures).toBe(0);
    next.reset();
    await rig.settle();
    expect(rig.errors.at(-1)?.about.retryMs).toBe(2000);
  });

  it('keep a server that ends each watch behind one event from being asked in a hot loop', async () => {
    const rig = new InformerRig();
    let stream = await rig.follow(5, A1);
    for (let turn = 0; turn < 20; turn++) {
      stream.send('MODIFIED', pod('a', 'u1', 10 + turn));
      stream.end();
      await rig.settle();
      expect(rig.api.openStreams).toBe(0);
      await rig.advance(2000);
      stream = rig.api.lastWatch.open();
    }
    expect([rig.errors.length, rig.api.watches.length, rig.clock.now()]).toEqual([0, 21, 40_000]);
  });

  it('a watch that is never accepted has a deadline', async () => {
    const rig = new InformerRig({ connectTimeoutMs: 1000 });
    await rig.start();
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    const { signal } = rig.api.lastWatch;
    await rig.advance(1000);
    expect([signal.aborted, rig.failures]).toEqual([true, ['TRANSPORT: timeout']]);
    await rig.advance(2000);
    expect(rig.api.watches.length).toBe(2);
  });
});

describe('what cannot be read (IN13, IN14)', () => {
  it('an event that is no object, or of no known type, is told; what is behind it goes on', async () => {
    const rig = new InformerRig();
    const stream = await rig.follow(5, A1);
    stream.send('MODIFIED', { metadata: { name: 'x' } });
    stream.send('ROTATED', A1);
    stream.send('BOOKMARK', { metadata: {} });
    stream.send('MODIFIED', pod('a', 'u1', 6));
    await rig.settle();
    expect(rig.errors.map(({ error }) => (error as Error).message)).toEqual([
      'Cannot take an event of pods: of x: metadata.uid is not a string with a character in it',
      'Cannot take an event of pods: ROTATED is no type of an event',
      'Cannot take an event of pods: a bookmark has no resourceVersion',
    ]);
    expect([rig.deltas, rig.api.watches.length]).toEqual([['added ns/a 1', 'updated ns/a 6<1'], 1]);
  });

  it.each([
    ['no JSON', '{"type":"MODIFIED",}\n', 'malformed'],
    ['no event', '{"kind":"Status"}\n', 'malformed'],
    ['too long', `{"type":"MODIFIED","object":"${'x'.repeat(2000)}"}\n`, 'too-large'],
  ])(
    'a line that is %s ends the watch behind what was right, and after three times the state is listed',
    async (_, line, failure) => {
      const rig = new InformerRig({ lineBytesMax: 1000 });
      const stream = await rig.follow(5, A1);
      stream.text(`${JSON.stringify({ type: 'MODIFIED', object: pod('a', 'u1', 6) })}\n${line}`);
      await rig.settle();
      expect([rig.deltas, rig.failures]).toEqual([['added ns/a 1', 'updated ns/a 6<1'], [`TRANSPORT: ${failure}`]]);
      for (const delayMs of [2000, 4000]) {
        await rig.advance(delayMs);
        expect(rig.api.lastWatch.query.resourceVersion).toBe('6');
        rig.api.lastWatch.open().text(line);
      }
      await rig.advance(8000);
      expect([rig.api.last.isWatch, rig.api.lastList.query.resourceVersion]).toEqual([false, undefined]);
    },
  );

  it('an error of a callback, or of a comparison, stops nothing', async () => {
    const said: unknown[] = [];
    const logger = {
      debug: () => {},
      info: () => {},
      warn: (_: string, fields?: object) => said.push(fields),
      error: (_: string, fields?: object) => said.push(fields),
    };
    const fail = () => {
      throw new Error('callback');
    };
    const rig = new InformerRig({
      logger,
      onError: async () => fail(),
      onConnect: fail,
      onListed: fail,
      compare: (a, b) => {
        if (b === '6') throw new Error('compare');
        return a === b ? 'same' : 'newer';
      },
    });
    const stream = await rig.follow(5, A1);
    stream.send('MODIFIED', pod('a', 'u1', 6));
    stream.send('MODIFIED', pod('a', 'u1', 7));
    await rig.settle();
    expect(rig.informer.state()).toMatchObject({ phase: 'waiting', lastError: { error: new Error('compare') } });
    expect(said.length).toBe(4);
    await rig.advance(2000);
    expect(rig.api.watches.length).toBe(2);
  });
});

describe('handlers (IN24)', () => {
  it('that throw or reject are told to onError, and the informer goes on', async () => {
    let calls = 0;
    const rig = new InformerRig({
      onDeltas: () => {
        calls++;
        if (calls === 1) throw new Error('thrown');
        return Promise.reject(new Error('rejected'));
      },
    });
    const stream = await rig.follow(5, A1);
    stream.send('MODIFIED', pod('a', 'u1', 6));
    await rig.settle();
    expect(rig.errors).toEqual([
      { error: new Error('thrown'), about: { during: 'handler', failures: 0, retryMs: undefined } },
      { error: new Error('rejected'), about: { during: 'handler', failures: 0, retryMs: undefined } },
    ]);
    expect([rig.informer.stats().handlerErrors, rig.informer.state().phase]).toEqual([2, 'watching']);
  });

  it('get no more than deltasMax at a time, in their order, one call after the other', async () => {
    const calls: number[] = [];
    let running = 0;
    const rig = new InformerRig({
      deltasMax: 3,
      onDeltas: async (deltas) => {
        expect([running++, Object.isFrozen(deltas)]).toEqual([0, true]);
        calls.push(deltas.length);
        await Promise.resolve();
        running--;
      },
    });
    await rig.follow(9, ...Array.from({ length: 7 }, (_, index) => pod(`p${index}`, `u${index}`, index + 1)));
    expect(calls).toEqual([3, 3, 1]);
    rig.informer.relist();
    await rig.settle();
    rig.api.lastList.list('20', []);
    await rig.settle();
    expect(calls).toEqual([3, 3, 1, 3, 3, 1]);
  });

  it('hear of what is taken in after they have subscribed, and of nothing after they have ended it', async () => {
    const heard: string[] = [];
    const rig = new InformerRig({ deltasMax: 1, onDeltas: () => {} });
    const { informer } = rig;
    const stream = await rig.follow(5, A1, B2);
    const endLate = informer.subscribe((deltas) => {
      heard.push(`early ${deltas.length}`);
      // Comes in the middle of a delivery: what is being delivered it has seen.
      informer.subscribe((later) => heard.push(`late ${later[0]?.key}`));
      endLate();
    });
    informer.relist();
    await rig.settle();
    rig.api.lastList.list('9', []);
    await rig.settle();
    expect([heard, stream.isCanceled]).toEqual([['early 1'], true]);
    rig.api.lastWatch.open().send('ADDED', pod('c', 'u3', 10));
    await rig.settle();
    expect([heard, informer.stats().subscribers]).toEqual([['early 1', 'late ns/c'], 2]);
  });
});

describe('the end (IN23)', () => {
  const listed = async (rig: InformerRig) => {
    await rig.start();
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
  };
  it.each<[string, 'auto' | 'never', (rig: InformerRig) => Promise<unknown>]>([
    ['before it is started', 'never', async () => {}],
    ['while it lists', 'never', (rig) => rig.start()],
    ['while it connects', 'never', listed],
    ['while it watches', 'never', (rig) => rig.follow(5, A1)],
    [
      'while it waits',
      'never',
      async (rig) => {
        (await rig.follow(5, A1)).reset();
        await rig.settle();
      },
    ],
    [
      'while a list is streamed',
      'auto',
      async (rig) => {
        await rig.start();
        rig.api.lastWatch.open().send('ADDED', A1);
        await rig.settle();
      },
    ],
  ])('%s: no callback, no timer and no connection is left', async (_, streamingList, until) => {
    const rig = new InformerRig({ relistMs: 1000, streamingList });
    await until(rig);
    const said = () => [rig.errors.length, rig.connections.length, rig.listings.length, rig.api.requests.length];
    const before = said();
    await rig.informer.stop();
    expect([rig.clock.pending, rig.api.openStreams, rig.informer.stats().openWatches]).toEqual([0, 0, 0]);
    expect(rig.api.unanswered).toBe(0);
    await rig.advance(1_000_000);
    expect(said()).toEqual(before);
  });

  it('does not wait for a handler, whose answer nobody hears then; a handler may await it', async () => {
    let fail = (_: Error): void => {};
    const rig = new InformerRig({
      onDeltas: () =>
        new Promise<void>((_, reject) => {
          fail = reject;
        }),
    });
    await rig.start();
    rig.api.lastList.list('5', [A1]);
    await rig.settle();
    expect(rig.informer.state().phase).toBe('delivering');
    await rig.informer.stop();
    fail(new Error('late'));
    await rig.settle();
    expect([rig.errors, rig.informer.state().phase, rig.informer.size]).toEqual([[], 'stopped', 1]);

    const other: InformerRig = new InformerRig({ onDeltas: () => other.informer.stop() });
    await other.start();
    other.api.lastList.list('5', [A1]);
    await other.settle();
    expect([other.informer.state().phase, other.clock.pending]).toEqual(['stopped', 0]);
  });

  it('and a new start: goes on with what is known, from where it was', async () => {
    const rig = new InformerRig();
    await rig.follow(5, A1);
    const stopped = rig.informer.stop();
    rig.informer.start();
    await stopped;
    await rig.settle();
    expect(rig.api.lastWatch.query.resourceVersion).toBe('5');
    rig.api.lastWatch.open().send('MODIFIED', pod('a', 'u1', 6));
    await rig.settle();
    expect([rig.deltas, rig.api.openStreamsMax, rig.api.lists.length]).toEqual([
      ['added ns/a 1', 'updated ns/a 6<1'],
      1,
      1,
    ]);
  });

  it('in the middle of a delivery: the rest comes after the next start, when the handler has returned', async () => {
    const calls: string[] = [];
    let fail = (_: Error): void => {};
    const rig = new InformerRig({
      deltasMax: 1,
      onDeltas: ([delta]) => {
        calls.push(`${delta?.key}`);
        if (calls.length > 1) return;
        return new Promise<void>((_, reject) => {
          fail = reject;
        });
      },
    });
    await rig.start();
    rig.api.lastList.list('5', [A1, B2, C3]);
    await rig.settle();
    await rig.informer.stop();
    await rig.start();
    expect([calls, rig.informer.state().phase, rig.api.requests.length]).toEqual([['ns/a'], 'delivering', 1]);
    fail(new Error('late'));
    await rig.settle();
    expect([calls, rig.errors.map(({ error }) => error)]).toEqual([['ns/a', 'ns/b', 'ns/c'], [new Error('late')]]);
    // The list had not come to its end.
    rig.api.lastList.list('5', [A1, B2, C3]);
    await rig.settle();
    expect([calls.length, rig.informer.state().isSynced]).toEqual([3, true]);
  });

  it('rejects who waits for a list that does not come; the next start may bring one', async () => {
    const rig = new InformerRig();
    await rig.start();
    const synced = rig.informer.synced();
    const controller = new AbortController();
    const aborted = rig.informer.synced({ signal: controller.signal });
    controller.abort(new Error('mine'));
    await expect(aborted).rejects.toThrow('mine');
    await rig.informer[Symbol.asyncDispose]();
    const message = 'Cannot follow a resource: the informer was stopped';
    await expect(synced).rejects.toMatchObject({ code: 'CLOSED', message });
    await expect(rig.informer.synced()).rejects.toMatchObject({ code: 'CLOSED' });
    rig.informer.start();
    const again = rig.informer.synced();
    await rig.settle();
    rig.api.lastList.list('5', []);
    await again;
    await rig.informer.stop();
    await rig.informer.synced();
  });

  it('of a transport that hears nothing is waited for 5 s, and what it brings then is given back', async () => {
    const clock = createVirtualClock();
    const returned: string[] = [];
    let accept = (): void => {};
    const deaf: WatchStream = {
      [Symbol.asyncIterator]: () => deaf,
      next: () => new Promise(() => {}),
      return: async () => {
        returned.push('returned');
        return { done: true, value: undefined };
      },
    };
    const transport: KubernetesTransport = {
      list: async () => ({ resourceVersion: '5', items: [] }),
      watch: () =>
        new Promise((resolve) => {
          accept = () => resolve(deaf);
        }),
    };
    const informer = createInformer({ transport, resource: PODS, clock, streamingList: 'never' });
    informer.start();
    await clock.settle();
    let isStopped = false;
    void informer.stop().then(() => {
      isStopped = true;
    });
    await clock.advance(4999);
    expect(isStopped).toBe(false);
    await clock.advance(1);
    expect([isStopped, clock.pending]).toEqual([true, 0]);
    accept();
    await clock.settle();
    expect(returned).toEqual(['returned']);
  });
});

describe('options', () => {
  const transport: KubernetesTransport = { list: () => new Promise(() => {}), watch: () => new Promise(() => {}) };
  it.each<[string, Partial<Record<keyof InformerOptions, unknown>>]>([
    ['unknown option onDelta', { onDelta: () => {} } as object],
    ['transport has no method list', { transport: {} }],
    ['transport has no method watch', { transport: { list: () => {} } }],
    ['clock has no method after', { clock: { now: () => 0 } }],
    ['resource is not an object', { resource: 'pods' }],
    ['resource.kind is unknown', { resource: { ...PODS, kind: 'Pod' } }],
    ['resource.version is missing', { resource: { resource: 'pods' } }],
    ['resource.resource is "", not a text', { resource: { version: 'v1', resource: '' } }],
    ['selectors.labelSelector is of type object', { selectors: { labelSelector: { app: 'web' } } }],
    ['selectors.label is unknown', { selectors: { label: 'a=b' } }],
    ['onDeltas is not a function', { onDeltas: 'log' }],
    ['onError is not a function', { onError: true }],
    ['random is not a function', { random: 4 }],
    ['pageLimit is 0', { pageLimit: 0 }],
    ['deltasMax is 0', { deltasMax: 0 }],
    ['listTimeoutMs is 0', { listTimeoutMs: 0 }],
    ['inactivityMs is of type string', { inactivityMs: '5' }],
    ['watchTimeoutSeconds is 0', { watchTimeoutSeconds: 0 }],
    ['relistMs is 999', { relistMs: 999 }],
    ['retryAfterMaxMs is -1', { retryAfterMaxMs: -1 }],
    ['streamingList is true, allowed are auto and never', { streamingList: true }],
    ['resource.namespace is Shop, no name of a namespace', { resource: { ...PODS, namespace: 'Shop' } }],
    ['resource.namespace is ../b, no name of a namespace', { resource: { ...PODS, namespace: '../b' } }],
    ['resource.namespace is a.b, no name of a namespace', { resource: { ...PODS, namespace: 'a.b' } }],
    ['no name of a namespace', { resource: { ...PODS, namespace: 'a'.repeat(64) } }],
    ['Cannot create an informer: backoff is not an object', { backoff: 5 }],
    ['Cannot create an informer: backoff.baseMs must be at least 1', { backoff: { baseMs: 0 } }],
    ['Cannot create an informer: backoff.base is unknown', { backoff: { base: 5 } }],
    ['Cannot create an informer: backoff.factor is of type string, not a number', { backoff: { factor: '2' } }],
    ['Cannot create an informer: logger is not an object', { logger: 5 }],
    ['Cannot create an informer: logger has no method debug', { logger: { warn: () => {}, error: () => {} } }],
    ['tombstonesMax is -1', { tombstonesMax: -1 }],
  ])('that cannot be are refused: %s', (why, options) => {
    expect(() => createInformer({ transport, resource: PODS, ...options } as InformerOptions)).toThrow(why);
  });
});
