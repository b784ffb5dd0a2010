import { describe, expect, it } from 'vitest';
import { createStoreSource } from '../../../src/handlers/store-source.ts';
import { openStore } from '../../../src/open-store.ts';
import {
  BackendError,
  LimitExceededError,
  PermanentError,
  UnsupportedError,
  ValueError,
} from '../../../src/types/errors.ts';
import { createWorld, sleep, type Thing } from './harness.ts';
import { meddled, run, spec } from './own-write-rig.ts';

const POLICIES = ['supersede', 'complete'] as const;

describe("patches that a source refuses for good (A8')", () => {
  it.each<[string, unknown]>([
    ['permanent', new BackendError('patch an object', 'invalid', { permanent: true })],
    ['no such value', new ValueError('put a key', { path: '', reason: 'is no value' })],
    ['too large', new LimitExceededError('put a key', { limit: 'valueBytes', max: 1, actual: 2 })],
    ['not supported', new UnsupportedError('patch an object', 'such a patch')],
  ])('%s: fail the call, by its retries, and hold up nothing else', async (_name, error) => {
    const world = createWorld();
    const calls: unknown[] = [];
    world.source.put('o', { spec: { n: 'bad' }, status: { m: 1 } });
    const source = meddled(world, ({ patches }) => {
      if (JSON.stringify(patches).includes('bad')) throw error;
    });
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'h', field: 'spec.n', retries: 2 }, (ctx) => {
          calls.push(`h ${ctx.attempt}`);
          ctx.patch({ spec: { seen: ctx.new } });
        });
        controller.on('change', { id: 'other', field: 'status.m' }, (ctx) => void calls.push(`other ${ctx.new}`));
      },
      { source },
    );
    await life.settle();
    expect(calls).toEqual(['h 0', 'other 1', 'h 1', 'h 2']);
    expect(life.controller.state('o')?.handlers).toMatchObject([{ state: 'failed', attempts: 3 }, { state: 'ok' }]);
    expect(life.stats()).toMatchObject({ temporaryFailures: 2, permanentFailures: 1, successes: 1, waiting: 0 });
    world.source.put('o', { spec: { n: 'good' }, status: { m: 1 } });
    await life.settle();
    expect([calls.slice(4), spec(world).seen]).toEqual([['h 0'], 'good']);
    await life.stop();
  });

  it.each(POLICIES)('of a sub and of a parent fail them alone (%s)', async (policy) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const source = meddled(world, ({ patches }) => {
      if (JSON.stringify(patches).includes('bad')) throw new BackendError('patch', 'invalid', { permanent: true });
    });
    let isBad = true;
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
          ctx.patch({ status: { p: isBad ? 'bad' : 'good' } });
          isBad = false;
          ctx.sub('fails', { retries: 0 }, (sub) => sub.patch({ status: { s: 'bad' } }));
          ctx.sub('works', { retries: 0 }, (sub) => sub.patch({ status: { s: 'good' } }));
        }),
      { source, policy },
    );
    await life.settle();
    expect(life.controller.state('o')?.handlers.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'p ok',
      'p/fails failed',
      'p/works ok',
    ]);
    expect(world.source.objects[0]?.object.status).toEqual({ p: 'good', s: 'good' });
    expect(life.stats().calls).toBe(4);
    await life.stop();
  });

  it.each([
    [new Error('no'), 3],
    [new PermanentError('no'), 1],
  ])('of a call that has failed leave its failure as it is: %s', async (failure, calls) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const source = meddled(world, () => {
      throw new BackendError('patch', 'invalid', { permanent: true });
    });
    const keys = new Set<string>();
    const handle = (ctx: Parameters<Parameters<typeof run>[1]>[0]): never => {
      keys.add(ctx.idempotencyKey);
      ctx.patch({ spec: { error: 'no' } });
      throw failure;
    };
    const life = await run(world, handle, { source });
    await life.settle();
    expect([life.stats().calls, keys.size, spec(world)]).toEqual([calls, 1, { n: 1 }]);
    await life.stop();
  });

  it('of a store: a value above its limit', async () => {
    const world = createWorld();
    const store = await openStore<Thing>({ clock: world.clock });
    await store.put('o', { spec: { n: 1 } });
    const source = createStoreSource(store, { prefix: '' });
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', field: 'spec.n', retries: 1 }, (ctx) =>
          ctx.patch({ status: { text: 'x'.repeat(2_000_000) } }),
        ),
      { source },
    );
    await life.settle();
    expect(life.controller.state('o')?.handlers).toMatchObject([{ state: 'failed', attempts: 2 }]);
    await life.stop();
    await store.close();
  });

  it('without end, by parts that are shared: where they are asked for, and where they come out', async () => {
    const world = createWorld();
    let shared: Record<string, unknown> = {};
    for (let level = 0; level < 60; level++) shared = { a: shared, b: shared };
    const errors: unknown[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(
      world,
      (ctx) => {
        try {
          ctx.patch(shared);
        } catch (error) {
          errors.push(error);
        }
        ctx.patch(Array.from({ length: 60 }, (_, index) => ({ op: 'copy', from: '', path: `/c${index}` }) as const));
      },
      { retries: 0 },
    );
    await life.settle();
    expect(errors).toEqual([expect.any(LimitExceededError)]);
    expect(life.controller.state('o')?.handlers).toMatchObject([{ state: 'failed' }]);
    await life.stop();
  });
});

describe('ifUnchanged of a handler that is called once, whatever it sees', () => {
  it.each(['resume', 'delete', 'create'] as const)('%s: the call is made again, and nothing is lost', async (kind) => {
    const world = createWorld();
    world.source.put('o', { spec: { list: ['a'] } });
    world.source.setFinalizers('o', ['other']);
    const seen: unknown[] = [];
    const life = await world.start((controller) =>
      controller.on(kind, { id: 'h', field: 'spec.list' }, async (ctx) => {
        const list = ctx.new as string[];
        seen.push(list);
        if (seen.length === 1) world.source.put('o', { spec: { list: [...list, 'b'] } });
        await sleep(world.clock, 10);
        ctx.patch({ spec: { list: [...list, 'mine'] } }, { ifUnchanged: true });
      }),
    );
    if (kind === 'delete') {
      await life.settle();
      world.source.startDeletion('o');
    }
    await life.settle();
    expect([seen, spec(world).list]).toEqual([
      [['a'], ['a', 'b']],
      ['a', 'b', 'mine'],
    ]);
    expect(life.stats()).toMatchObject({ superseded: 1, successes: 1 });
    await life.stop();
  });
});
