import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { BackendError, ClosedError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { errorOf } from '../../support/error-of.ts';
import { openLeaseRig } from '../cache/lease-rig.ts';
import { openTestStore, settle } from './fixture.ts';

// `close()` ends every wait with ClosedError, that of an update too, whether its function ever settles or not (R71). A
// rejection that nobody handles fails the run of the tests by itself.

/** How an update ended, and `waits` while it has not. */
function outcomeOf(update: Promise<unknown>): { now: unknown } {
  const outcome: { now: unknown } = { now: 'waits' };
  update.then(
    () => {
      outcome.now = 'done';
    },
    (error: unknown) => {
      outcome.now = error;
    },
  );
  return outcome;
}

async function open(kind: 'embedded' | 'replica'): Promise<Store<string>> {
  return kind === 'embedded' ? (await openTestStore<string>()).store : (await openLeaseRig()).store;
}

describe.each(['embedded', 'replica'] as const)('R71: an update whose function is under way, %s', (kind) => {
  it.each<[string, (store: Store<string>) => Store<string>]>([
    ['of the store', (store) => store],
    ['of a prefix', (store) => store.prefix('a/')],
    ['of a prefix of a prefix', (store) => store.prefix('a/').prefix('b/')],
  ])('%s: ends with ClosedError when the store is closed', async (_, part) => {
    const store = await open(kind);
    const late: { fail: (error: unknown) => void; give: (value: string) => void }[] = [];
    const settling = () => new Promise<string>((give, fail) => late.push({ fail, give }));
    const outcomes = [undefined, new AbortController().signal].flatMap((signal) =>
      [() => new Promise(() => {}), settling, settling].map((fn) =>
        outcomeOf(part(store).update(fn, signal === undefined ? {} : { signal })),
      ),
    );
    await settle();
    expect(outcomes.map(({ now }) => now)).toEqual(outcomes.map(() => 'waits'));
    await store.close();
    await settle();
    for (const { now } of outcomes) {
      expect(now).toBeInstanceOf(ClosedError);
      expect((now as Error).message).toBe('Cannot update: closed');
    }
    // Dropped, whatever it is.
    for (const [index, { fail, give }] of late.entries()) index % 2 === 0 ? fail(new Error('late')) : give('late');
    await settle();
  });

  it('a part that is closed ends its own, not those of other parts, of parts of it, or of the store', async () => {
    const store = await open(kind);
    const part = store.prefix('a/');
    const hang = () => new Promise(() => {});
    const own = outcomeOf(part.update(hang));
    const others = [store, store.prefix('a/'), part.prefix('b/')].map((one) => outcomeOf(one.update(hang)));
    await settle();
    await part.close();
    await settle();
    expect(String(own.now)).toBe('ClosedError: Cannot update: closed');
    expect(others.map(({ now }) => now)).toEqual(['waits', 'waits', 'waits']);
    await store.close();
    await settle();
    expect(others.map(({ now }) => now)).toEqual(others.map(() => expect.any(ClosedError)));
  });

  it.each<[string, (end: () => void) => () => Promise<unknown>]>([
    [
      'before its first wait',
      (end) => async () => {
        end();
        throw new Error('late');
      },
    ],
    [
      'and goes on',
      (end) => async () => {
        end();
        await null;
        throw new Error('late');
      },
    ],
    [
      'and answers with a thenable',
      (end) => () => {
        end();
        return { then: (_: unknown, fail: (error: unknown) => void) => fail(new Error('late')) } as Promise<unknown>;
      },
    ],
  ])('a function that ends its own update %s: what it comes to is dropped', async (_, make) => {
    const store = await open(kind);
    const stop = new AbortController();
    const reason = new Error('enough');
    const stopped = await errorOf(() =>
      store.update(
        make(() => stop.abort(reason)),
        { signal: stop.signal },
      ),
    );
    const closed = await errorOf(() => store.update(make(() => void store.close())));
    expect([stopped, String(closed)]).toEqual([reason, 'ClosedError: Cannot update: closed']);
    await settle();
  });

  it('of what is closed runs nothing and ends at once', async () => {
    const store = await open(kind);
    const part = store.prefix('a/');
    const [inner, never] = [part.prefix('b/'), () => expect.unreachable('run although it was closed')];
    await part.close();
    expect(String(await errorOf(() => part.update(never)))).toBe('ClosedError: Cannot update: closed');
    expect((await inner.update(() => 7)).value).toBe(7);
    await store.close();
    for (const closed of [store, part, inner]) {
      expect(String(await errorOf(() => closed.update(never)))).toBe('ClosedError: Cannot update: closed');
      // Before anything is said of the arguments, as by every other call.
      expect(String(await errorOf(() => closed.update(7 as never)))).toBe('ClosedError: Cannot update: closed');
    }
  });

  it("R70': what is to be waited for is asked once", async () => {
    const store = await open(kind);
    let reads = 0;
    const settling = (then: unknown) => ({
      get then() {
        return ++reads === 1 ? then : expect.unreachable('read twice');
      },
    });
    const giving = settling((give: (value: number) => void) => give(7));
    expect((await store.update(() => giving as never)).value).toBe(7);
    reads = 0;
    const throwing = settling(() => {
      throw new RangeError('no');
    });
    expect(String(await errorOf(() => store.update(() => throwing as never)))).toBe('RangeError: no');
    reads = 0;
    const plain = settling(7);
    expect((await store.update(() => plain as never)).value).toBe(plain);
    await store.close();
  });

  it('what the function throws before is told as it is, a ClosedError of another store too', async () => {
    const store = await open(kind);
    const foreign = new ClosedError('use another store');
    const outcome = outcomeOf(
      store.update(async () => {
        throw foreign;
      }),
    );
    await settle();
    await store.close();
    expect(outcome.now).toBe(foreign);
  });
});

it('R71: an update of a replica that is broken for good ends with what broke it', async () => {
  const clock = createVirtualClock();
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
  const backend = createFaultyBackend(createMemoryBackend(data), { clock });
  backend.hang('range');
  const store = await openStore<string>({ backend, clock, waitReady: false });
  const outcome = outcomeOf(store.update(() => new Promise(() => {})));
  await clock.settle();
  expect(outcome.now).toBe('waits');
  const broken = new BackendError('list', 'the certificate is not valid', { permanent: true });
  backend.heal();
  backend.fail('range', { error: broken });
  await clock.advance(60_000);
  expect([outcome.now, await store.ready().catch((error: unknown) => error)]).toEqual([broken, broken]);
  await store.close();
});
