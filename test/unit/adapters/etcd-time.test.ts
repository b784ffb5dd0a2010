import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import type { Backend } from '../../../src/types/backend.ts';
import type { Clock } from '../../../src/types/clock.ts';
import { A, ALL, errorOf, type Handler, lines, ok, open, PUT, read, refuse } from './etcd-members.ts';

const hang = () => new Promise<Response>(() => {});
const put = (backend: Backend) => backend.txn({ compare: [], then: [PUT], else: [] });

/** An answer whose body says no more than this. */
function silent(text = '') {
  const world = { cancels: 0 };
  const answer = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          if (text !== '') controller.enqueue(new TextEncoder().encode(text));
        },
        cancel() {
          world.cancels++;
        },
      }),
    );
  return { world, answer };
}

/** What `a` does from now on; the others are well. */
async function openWith(answer: Handler, timeoutMs = 400) {
  const world = { isWell: true };
  const opened = await open(
    (path, body, init, endpoint) =>
      endpoint === A && !world.isWell
        ? answer(path, body, init, endpoint)
        : ok({ succeeded: true, responses: [{ response_put: {} }] }),
    { timeoutMs },
  );
  world.isWell = false;
  return { ...opened, world };
}

/** What came of a call, and after how long. */
async function timed(call: Promise<unknown>, clock: Clock) {
  const startedAt = clock.now();
  const outcome = await call.catch((error: unknown) => error);
  return { outcome, afterMs: clock.now() - startedAt };
}

describe('a member that is unwell', () => {
  it.each<[string, Handler, number]>([
    ['hangs', hang, 200],
    ['has a body that hangs', () => silent('{"header"').answer(), 200],
    ['serves a page with 200', () => new Response('<html></html>'), 0],
    ['serves a page with 404', () => new Response('<html></html>', { status: 404 }), 0],
    ['serves a page with 500', () => new Response('<html></html>', { status: 500 }), 0],
    ['breaks off', () => new Response('{"header":{"clu'), 0],
    ['says nothing', () => Response.json({}), 0],
    ['is too late for itself', () => refuse('context deadline exceeded', 4), 0],
    ['lost its leader', () => refuse('etcdserver: leader changed', 14), 0],
  ])('one that %s leaves the next one time for a read, and is asked last for a while', async (_, answer, afterMs) => {
    const { backend, asked, clock } = await openWith(answer);
    const status = timed(backend.status({}), clock);
    await clock.advance(1000);
    expect(await status).toEqual({ outcome: { identity: '7', revision: 5 }, afterMs });
    expect(asked).toEqual(['a kv/range', 'b kv/range']);
    asked.length = 0;
    const next = timed(backend.status({}), clock);
    await clock.advance(1000);
    expect((await next).afterMs).toBe(0);
    expect(asked).toEqual(['b kv/range']);
    expect(clock.pending).toBe(0);
  });

  it.each<[string, Handler, number]>([
    ['hangs', hang, 400],
    ['has a body that hangs', () => silent().answer(), 400],
    ['serves a page', () => new Response('<html></html>', { status: 502 }), 0],
    ['breaks off', () => new Response('{"header":{"clu'), 0],
    ['lost its leader', () => refuse('etcdserver: leader changed', 14), 0],
  ])('a write at one that %s is not made again; the next call goes elsewhere', async (_, answer, afterMs) => {
    const { backend, asked, clock } = await openWith(answer);
    const error = errorOf(put(backend));
    await clock.advance(afterMs);
    expect(await error).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
    expect(asked).toEqual(['a kv/txn']);
    expect((await put(backend)).succeeded).toBe(true);
    expect(asked).toEqual(['a kv/txn', 'b kv/txn']);
  });

  it('a caller that leaves says nothing about the member', async () => {
    const { backend, asked, world } = await openWith(hang);
    for (const call of [(signal: AbortSignal) => backend.status({ signal })]) {
      const controller = new AbortController();
      const left = errorOf(call(controller.signal));
      controller.abort('enough');
      expect(await left).toBe('enough');
    }
    world.isWell = true;
    await backend.status({});
    expect(asked).toEqual(['a kv/range', 'a kv/range']);
  });

  it('a refusal is an answer: that member is asked first from then on', async () => {
    const { backend, asked } = await open((path, _, __, endpoint) => {
      if (endpoint === A) return refuse('etcdserver: no leader', 14);
      return path === 'kv/txn' ? refuse('etcdserver: permission denied', 7) : ok({});
    });
    await errorOf(backend.range({ ranges: [ALL] }));
    expect(asked).toEqual(['b kv/txn']);
  });
});

describe('one deadline for a call', () => {
  it('headers and body together; what is left of the body is cancelled', async () => {
    const { world, answer } = silent('{"header"');
    const { backend, clock } = await openWith(
      () => new Promise((resolve) => clock.after(300, () => resolve(answer()))),
      400,
    );
    const error = errorOf(put(backend));
    await clock.advance(399);
    expect(world.cancels).toBe(0);
    await clock.advance(1);
    expect(await error).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
    expect(((await error) as Error).message).toContain('within 400 ms');
    expect(world.cancels).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('an answer that comes after its deadline is let go', async () => {
    const { world, answer } = silent();
    const { backend, clock } = await openWith(
      () => new Promise((resolve) => clock.after(500, () => resolve(answer()))),
      400,
    );
    const error = errorOf(put(backend));
    await clock.advance(500);
    expect(await error).toMatchObject({ maybeCommitted: true });
    expect(world.cancels).toBe(1);
  });

  it('a stream whose first message does not come: of a watch, of a renewal', async () => {
    const { world, answer } = silent();
    const { backend, clock } = await open((path) => (/watch|keepalive/.test(path) ? answer() : ok({})), {
      timeoutMs: 300,
    });
    const errors = [
      read(backend.watch({ ranges: [ALL], fromRevision: 1 })).then(({ error }) => error),
      errorOf(backend.leases?.keepAlive({ id: '7' }) as Promise<unknown>),
    ];
    await clock.advance(300);
    for (const error of await Promise.all(errors)) expect((error as Error).message).toContain('within 300 ms');
    expect(world.cancels).toBe(4);
    expect(clock.pending).toBe(0);
  });

  it('a stream that one member opens and does not fill is opened at the next', async () => {
    const { answer } = silent();
    const { backend, clock, asked } = await open(
      (path, _, __, endpoint) =>
        path !== 'watch' ? ok({}) : endpoint === A ? answer() : lines([{ created: true }], { isOpen: true }),
      { timeoutMs: 300 },
    );
    const first = backend.watch({ ranges: [ALL], fromRevision: 1 })[Symbol.asyncIterator]();
    const opened = first.next();
    await clock.advance(150);
    expect((await opened).value).toMatchObject({ type: 'open' });
    // From then on it takes its time.
    await clock.advance(10_000);
    expect(asked.slice(0, 2)).toEqual(['a watch', 'b watch']);
    await backend[Symbol.asyncDispose]();
  });
});

describe('a compaction that was made already', () => {
  const compacted = 'etcdserver: mvcc: required revision has been compacted';

  it('is CompactedError, without a watch that would never be told', async () => {
    for (const revision of [0, 1, 4]) {
      const { backend, asked } = await open((path) => (path === 'kv/compaction' ? refuse(compacted) : ok({})));
      const error = await errorOf(backend.compact({ revision }));
      expect(error).toMatchObject({ code: 'COMPACTED', minRevision: revision + 1, compactRevision: revision });
      expect(asked).toEqual(['a kv/compaction', 'a kv/range']);
    }
  });

  it('tells how far it went, if that was further', async () => {
    const { backend } = await open((path, { revision }) => {
      if (path === 'watch')
        return lines([{ created: true }, { canceled: true, compact_revision: '9' }], { isOpen: true });
      return path === 'kv/compaction' || revision !== undefined ? refuse(compacted) : ok({});
    });
    expect(await errorOf(backend.compact({ revision: 4 }))).toMatchObject({ minRevision: 10, compactRevision: 9 });
  });

  it('a watch that is not ended after all holds nobody up', async () => {
    const { backend, clock } = await open(
      (path, { revision }) => {
        if (path === 'watch') return lines([{ created: true }], { isOpen: true });
        return path === 'kv/compaction' || revision !== undefined ? refuse(compacted) : ok({});
      },
      { timeoutMs: 300 },
    );
    let error: unknown;
    void errorOf(backend.compact({ revision: 4 })).then((told) => {
      error = told;
    });
    await clock.advance(300);
    expect((error as Error | undefined)?.message).toContain('within 300 ms');
    expect(clock.pending).toBe(0);
  });

  it('who may not read is told what is certain', async () => {
    const { backend } = await open((path, { revision }) => {
      if (path === 'kv/compaction') return refuse(compacted);
      return revision === undefined ? ok({}) : refuse('etcdserver: permission denied', 7);
    });
    expect(await errorOf(backend.compact({ revision: 4 }))).toMatchObject({ minRevision: 5, compactRevision: 4 });
  });
});

describe('a backend that was disposed of', () => {
  it('sends nothing, and lets go of what is under way', async () => {
    const signals: AbortSignal[] = [];
    const world = { isHanging: false };
    const { backend, asked } = await open((path, _, { signal }) => {
      if (!world.isHanging) return path === 'watch' ? lines([{ created: true }], { isOpen: true }) : ok({});
      signals.push(signal as AbortSignal);
      return hang();
    });
    const watch = backend.watch({ ranges: [ALL], fromRevision: 1 })[Symbol.asyncIterator]();
    await watch.next();
    const next = errorOf(watch.next());
    world.isHanging = true;
    const calls = [put(backend), backend.status({}), backend.leases?.keepAlive({ id: '7' }) as Promise<unknown>];
    const errors = calls.map(errorOf);
    await backend[Symbol.asyncDispose]();
    for (const error of await Promise.all([...errors, next])) expect(error).toMatchObject({ code: 'CLOSED' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    asked.length = 0;
    for (const call of [
      () => put(backend),
      () => backend.compact({ revision: 1 }),
      () => backend.leases?.grant({ ttlMs: 1 }) as Promise<unknown>,
      () => read(backend.watch({ ranges: [ALL], fromRevision: 1 })).then(({ error }) => Promise.reject(error)),
    ]) {
      expect(await errorOf(call())).toMatchObject({ code: 'CLOSED' });
    }
    expect(asked).toEqual([]);
  });

  it('gives a store that is opened on it the reason, at once', async () => {
    const { backend, clock } = await open(() => ok({}));
    await backend[Symbol.asyncDispose]();
    expect(await errorOf(openStore({ backend, keys: 'bytes', clock }))).toMatchObject({ code: 'CLOSED' });
    expect(clock.pending).toBe(0);
  });
});
