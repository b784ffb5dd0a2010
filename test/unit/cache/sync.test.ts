import { describe, expect, it } from 'vitest';
import { Barrier } from '../../../src/cache/barrier.ts';
import { openStore } from '../../../src/open-store.ts';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { BackendError, ClosedError, CompactedError, IdentityChangedError } from '../../../src/types/errors.ts';
import { fillTo, openRig, probe } from '../../support/replica-rig.ts';

const NO_PROGRESS = { progress: false, writable: true } as const;

describe('sync (M19)', () => {
  it('resolves once everything that was committed before is applied, on a quiet range too', async () => {
    const { store, history, clock } = await openRig({ prefixes: ['a/'] });
    fillTo(history, 9);
    expect(store.revision).toBe(1);
    const synced = probe(store.sync());
    await clock.settle();
    expect([synced.value, store.revision]).toEqual([9, 9]);
  });

  it('waits for what is on its way', async () => {
    const { store, history, backend, clock } = await openRig();
    backend.holdItems();
    history.commit([{ key: 'a', value: '1' }]);
    const synced = probe(store.sync());
    await clock.advance(5_000);
    expect([synced.state, store.get('a')]).toEqual(['pending', undefined]);
    backend.releaseItems();
    await clock.settle();
    expect([synced.value, store.get('a')?.value]).toEqual([2, '1']);
  });

  it('shares a question that was not sent yet, and no other', async () => {
    const { store, history, backend, clock } = await openRig();
    const before = backend.calls.status;
    const together = [store.sync(), store.sync(), store.sync()].map(probe);
    await clock.settle();
    expect(backend.calls.status - before).toBe(1);
    expect(together.map(({ value }) => value)).toEqual([1, 1, 1]);
    const unhang = backend.hang('status');
    const early = probe(store.sync());
    await clock.settle();
    history.commit([{ key: 'a', value: '1' }]);
    const late = probe(store.sync());
    await clock.settle();
    unhang();
    await clock.settle();
    expect(backend.calls.status - before).toBe(3);
    expect([early.state, late.value]).toEqual(['resolved', 2]);
  });

  it('a barrier asks once for the calls of one turn, and a failed question is none of the next', async () => {
    let asked = 0;
    const barrier = new Barrier(async () => {
      asked++;
      if (asked === 1) throw new Error('away');
      return { revision: asked, epoch: 1 };
    });
    const [first, second] = [probe(barrier.position(undefined)), probe(barrier.position(undefined))];
    await Promise.allSettled([barrier.position(undefined)]);
    expect([first.state, second.state, asked]).toEqual(['rejected', 'rejected', 1]);
    expect(await barrier.position(undefined)).toEqual({ revision: 2, epoch: 1 });
  });

  it('is satisfied by a list', async () => {
    const { store, history, backend, clock } = await openRig();
    backend.disconnect();
    fillTo(history, 9);
    await history.compact({ revision: 8 });
    const synced = probe(store.sync());
    await clock.advance(60_000);
    expect([synced.value, store.revision, store.stats().replica?.relists]).toEqual([9, 9, 1]);
  });

  it('rejects when the data were replaced, when the backend cannot be asked, when it is enough', async () => {
    const { store, history, backend, clock } = await openRig();
    backend.holdItems();
    history.commit([{ key: 'a', value: '1' }]);
    const replaced = probe(store.sync());
    await clock.settle();
    backend.replace(createCommitHistory({ identity: 'other' }));
    await clock.advance(60_000);
    expect(replaced.error).toBeInstanceOf(IdentityChangedError);

    backend.fail('status', { times: 1 });
    expect(await probeOf(store.sync(), clock)).toBeInstanceOf(BackendError);

    const unhang = backend.hang('status');
    const controller = new AbortController();
    const left = probe(store.sync({ signal: controller.signal }));
    const closed = probe(store.sync());
    await clock.settle();
    controller.abort('enough');
    await clock.settle();
    expect([left.error, closed.state]).toEqual(['enough', 'pending']);
    await store.close();
    await clock.settle();
    expect(closed.error).toBeInstanceOf(ClosedError);
    unhang();
    await expect(store.sync()).rejects.toBeInstanceOf(ClosedError);
  });

  it('waits until a store is ready', async () => {
    const { store, clock, backend } = await openRig({ before: ({ backend }) => backend.offline() });
    const synced = probe(store.sync());
    await clock.settle();
    expect(synced.error).toBeInstanceOf(BackendError);
    backend.online();
    const again = probe(store.sync());
    await clock.advance(60_000);
    expect([again.value, store.revision]).toEqual([1, 1]);
  });

  it('an embedded store is always as new as itself; a part of a store asks as the whole', async () => {
    const store = await openStore<string>();
    await store.put('a', '1');
    expect(await store.sync()).toBe(2);
    expect(await store.prefix('a/').sync()).toBe(2);
    await expect(store.sync({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
    await expect(store.sync({ timeout: 1 } as never)).rejects.toThrow('unknown option timeout');
    await store.close();
  });
});

describe('without progress (M20)', () => {
  it('takes for applied what the backend says has not changed: an empty span, whose inside cannot be read', async () => {
    const { store, history, clock } = await openRig({ prefixes: ['a/'], capabilities: NO_PROGRESS });
    history.commit([{ key: 'a/k', value: '1' }]);
    fillTo(history, 9);
    await clock.settle();
    const synced = probe(store.sync());
    await clock.settle();
    expect([synced.value, store.revision]).toEqual([9, 9]);
    expect(store.get('a/k', { revision: 2 })?.value).toBe('1');
    expect(() => store.get('a/k', { revision: 5 })).toThrow(CompactedError);
    expect(store.get('a/k', { revision: 9 })?.value).toBe('1');
  });

  it('scenario 18: a key that came and went while both were on their way is never readable, and its items are dropped', async () => {
    const { store, history, backend, clock } = await openRig({ capabilities: NO_PROGRESS });
    fillTo(history, 5);
    await clock.settle();
    backend.holdItems();
    history.commit([{ key: 't', value: '1' }]);
    history.commit([{ key: 't' }]);
    const synced = probe(store.sync());
    await clock.settle();
    expect([synced.value, store.revision]).toEqual([7, 7]);
    backend.releaseItems();
    await clock.settle();
    expect([store.get('t'), store.revision, store.stats().replica?.violations]).toEqual([undefined, 7, 0]);
  });

  it.each([
    ['a put', [{ key: 'a', value: '2' }]],
    ['a delete', [{ key: 'a' }]],
    ['another key in the place of one', [{ key: 'a' }, { key: 'b', value: '1' }]],
  ] as const)('waits for the stream where something has changed: %s', async (_, changes) => {
    const { store, history, backend, clock } = await openRig({ capabilities: NO_PROGRESS });
    history.commit([{ key: 'a', value: '1' }]);
    await clock.settle();
    backend.holdItems();
    history.commit([...changes]);
    const synced = probe(store.sync());
    await clock.advance(3_000);
    expect([synced.state, store.revision]).toEqual(['pending', 2]);
    backend.releaseItems();
    await clock.settle();
    expect([synced.value, store.revision]).toEqual([3, 3]);
  });

  it('does not use an answer that something has overtaken', async () => {
    const { store, history, backend, clock } = await openRig({ capabilities: NO_PROGRESS });
    fillTo(history, 3, 'k');
    await clock.settle();
    backend.holdItems();
    history.commit([{ key: 't', value: '1' }]);
    history.commit([{ key: 't' }]);
    const unhang = backend.hang('range');
    const synced = probe(store.sync());
    await clock.settle();
    // The answer will be "nothing has changed since 3, at 5", when 4 is applied.
    backend.releaseItems();
    await clock.settle();
    expect(store.revision).toBe(5);
    unhang();
    await clock.advance(1_000);
    expect([synced.value, store.revision, store.get('t', { revision: 4 })?.value]).toEqual([5, 5, '1']);
  });

  it('lists again when the stream brings nothing of what has changed for ten seconds', async () => {
    const { store, history, backend, clock } = await openRig({ capabilities: NO_PROGRESS });
    history.commit([{ key: 'a', value: '1' }]);
    await clock.settle();
    backend.dropItems(1);
    history.commit([{ key: 'b', value: '1' }]);
    const synced = probe(store.sync());
    await clock.advance(9_900);
    expect([synced.state, store.stats().replica?.relists]).toEqual(['pending', 0]);
    await clock.advance(1_000);
    expect([synced.value, store.get('b')?.value, store.stats().replica?.relists]).toEqual([3, '1', 1]);
  });

  it('data that were replaced under no name are found out the same way, and reset the store', async () => {
    const { store, backend, clock } = await openRig({
      history: { identity: '' },
      capabilities: NO_PROGRESS,
      before: ({ history }) => void history.commit([{ key: 'a', value: '1' }]),
    });
    const other = createCommitHistory({ identity: '' });
    other.commit([
      { key: 'b', value: '4' },
      { key: 'c', value: '4' },
    ]);
    other.skip(5);
    backend.replace({ ...limitedTo(other), capabilities: NO_PROGRESS });
    await clock.advance(100);
    const synced = probe(store.sync());
    await clock.advance(60_000);
    expect(synced.state).not.toBe('pending');
    expect([store.range({ prefix: '' }).kvs.map(({ key, value }) => `${key}=${value}`), store.epoch]).toEqual([
      ['b=4', 'c=4'],
      2,
    ]);
  });

  it('asks one question at a time, however many wait', async () => {
    const { store, history, backend, clock } = await openRig({ prefixes: ['a/'], capabilities: NO_PROGRESS });
    const before = backend.calls.range;
    const unhang = backend.hang('range');
    fillTo(history, 4);
    const waits = Array.from({ length: 20 }, () => probe(store.delete('a/none')));
    await clock.advance(1_000);
    expect(backend.calls.range - before).toBe(1);
    unhang();
    await clock.advance(1_000);
    expect(new Set(waits.map(({ state }) => state))).toEqual(new Set(['resolved']));
  });

  it('a failed compare of a write returns, on a range where nothing happens', async () => {
    const { store, history, clock } = await openRig({ prefixes: ['a/'], capabilities: NO_PROGRESS });
    history.commit([{ key: 'a/k', value: '1' }]);
    fillTo(history, 9);
    await clock.settle();
    const refused = probe(store.put('a/k', '2', { expect: { modRevision: 1 } }));
    await clock.settle();
    expect(refused.error).toMatchObject({ code: 'CONFLICT', actualRevision: 2 });
    expect(store.revision).toBe(9);
  });
});

/** A history as a backend whose members can be spread. */
function limitedTo(history: ReturnType<typeof createCommitHistory>) {
  return {
    range: history.range.bind(history),
    status: history.status.bind(history),
    watch: history.watch.bind(history),
    txn: history.txn.bind(history),
    compact: history.compact.bind(history),
    [Symbol.asyncDispose]: history[Symbol.asyncDispose].bind(history),
  };
}

async function probeOf(promise: Promise<unknown>, clock: { settle(): Promise<void> }): Promise<unknown> {
  const found = probe(promise);
  await clock.settle();
  return found.error;
}
