import { describe, expect, it } from 'vitest';
import { rangesAfter } from '../../../src/cache/consistency.ts';
import { openStore } from '../../../src/open-store.ts';
import { createCommitHistory, type HistoryChange } from '../../../src/testing/commit-history.ts';
import { brief, Consumer, openRig, type ReplicaRig } from '../../support/replica-rig.ts';

const MINUTES_5 = 300_000;

/** A replica with `count` keys, checked about every five minutes: with `random` 0 the first time after half of that. */
async function openChecked(count: number, options: Parameters<typeof openRig>[0] = {}): Promise<ReplicaRig> {
  const history = createCommitHistory();
  for (let index = 0; index < count; index++) history.commit([{ key: keyOf(index), value: `v${index}` }]);
  return openRig({ consistencyCheckMs: MINUTES_5, history, ...options });
}

function keyOf(index: number): string {
  return `k${String(index).padStart(5, '0')}`;
}

describe('the check of consistency (M44)', () => {
  it('compares all rows in pages, about as often as it was told, and finds nothing where nothing is wrong', async () => {
    const { store, backend, clock } = await openChecked(2_500);
    const before = backend.calls.range;
    await clock.advance(149_999);
    expect(backend.calls.range - before).toBe(0);
    await clock.advance(1);
    expect([backend.calls.range - before, store.stats().replica?.checks]).toEqual([3, 1]);
    await clock.advance(150_000 * 4);
    expect(store.stats().replica).toMatchObject({ checks: 5, inconsistencies: 0, violations: 0, relists: 0 });
    expect(store.stats().pins).toEqual([]);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it.each<readonly [string, HistoryChange]>([
    ['was dropped, of a key that is there', { key: keyOf(7), value: 'new' }],
    ['was dropped, of a key of its own', { key: 'new', value: '1' }],
    ['was dropped, and was a delete', { key: keyOf(7) }],
  ])('an item that %s: counted, and mended with what was missing', async (_, change) => {
    const { store, history, backend, clock } = await openChecked(1_200);
    backend.dropItems(1);
    history.commit([change]);
    history.commit([{ key: 'z', value: '1' }]);
    await clock.settle();
    expect(store.get(change.key)?.modRevision).not.toBe(history.revision - 1);
    const watch = new Consumer(store.watch({ prefix: '' }), clock);
    await watch.drain();
    // Another commit at the backend, so that the repair has a number above A (M13).
    backend.holdItems();
    history.commit([{ key: 'z', value: '2' }]);
    await clock.advance(150_000);
    backend.releaseItems();
    await clock.settle();
    expect(store.stats().replica).toMatchObject({ checks: 1, inconsistencies: 1, violations: 1, relists: 1 });
    expect(store.epoch).toBe(1);
    expect(store.get(change.key)?.value).toBe(change.value);
    expect((await watch.drain()).length).toBe(1);
    await clock.advance(450_000);
    expect(store.stats().replica).toMatchObject({ checks: 4, inconsistencies: 1 });
  });

  it('goes on at its revision while commits come in, and holds the history that it needs', async () => {
    const { store, history, backend, clock } = await openChecked(1_500, { retention: { events: 5 } });
    await clock.advance(149_999);
    const release = backend.hang('range');
    await clock.advance(1);
    expect(store.stats().pins).toMatchObject([{ owner: 'consistency check' }]);
    for (let index = 0; index < 1_500; index++) history.commit([{ key: keyOf(index), value: 'later' }]);
    await clock.settle();
    release();
    await clock.settle();
    expect(store.stats().replica).toMatchObject({ checks: 1, inconsistencies: 0 });
    expect(store.stats().pins).toEqual([]);
  });

  it('what fails, takes for ever or is compacted there is no finding, and tried again the next time', async () => {
    const { store, history, backend, clock } = await openChecked(1_500);
    backend.fail('range');
    await clock.advance(150_000);
    expect(store.stats().replica).toMatchObject({ checks: 0, inconsistencies: 0 });
    const release = backend.hang('range');
    await clock.advance(150_000);
    expect(store.stats().pins.length).toBe(1);
    await clock.advance(60_000);
    expect(store.stats().pins.length).toBe(0);
    release();
    await clock.advance(89_999);
    backend.holdItems();
    history.commit([{ key: 'z', value: '1' }]);
    history.commit([{ key: 'z', value: '2' }]);
    await history.compact({ revision: history.revision });
    await clock.advance(60_001);
    expect(store.stats().replica).toMatchObject({ checks: 0, inconsistencies: 0 });
    backend.releaseItems();
    await clock.advance(150_000);
    expect(store.stats().replica).toMatchObject({ checks: 1, inconsistencies: 0, violations: 0 });
  });

  it('a connection that is lost meanwhile does not matter; data that were replaced end the check', async () => {
    const { store, backend, clock } = await openChecked(1_500);
    await clock.advance(149_999);
    const release = backend.hang('range');
    await clock.advance(1);
    backend.replace(createCommitHistory({ identity: 'other', revision: 5_000 }));
    await clock.advance(1_000);
    release();
    await clock.advance(1_000);
    expect([store.epoch, store.revision]).toEqual([2, 5_000]);
    expect(store.stats().replica).toMatchObject({ checks: 0, inconsistencies: 0 });
    await clock.advance(300_000);
    expect(store.stats().replica?.checks).toBeGreaterThan(0);
  });

  it('close during a check leaves nothing behind', async () => {
    const { store, backend, clock } = await openChecked(10);
    backend.hang('range');
    await clock.advance(150_000);
    await store.close();
    await clock.settle();
    expect(clock.pending).toBe(0);
  });

  it('several prefixes are walked one after the other', async () => {
    const history = createCommitHistory();
    for (let index = 0; index < 1_300; index++) {
      history.commit([{ key: `${'abc'[index % 3]}/${keyOf(index)}`, value: 'v' }]);
    }
    const { store, clock } = await openRig({ history, prefixes: ['c/', 'a/'], consistencyCheckMs: 2 });
    await clock.advance(1);
    expect(store.stats().replica).toMatchObject({ checks: 1, inconsistencies: 0 });
    expect(brief(undefined)).toBe('nothing');
  });

  it('what lies above a key: a part of one range, and all of the later ones', () => {
    const bytes = (...all: number[]) => Uint8Array.from(all);
    const ranges = [
      { start: bytes(1), end: bytes(2) },
      { start: bytes(4), end: bytes(5) },
      { start: bytes(7), end: bytes() },
    ];
    expect(rangesAfter(ranges, bytes(1, 9))).toEqual([{ start: bytes(1, 9, 0), end: bytes(2) }, ranges[1], ranges[2]]);
    expect(rangesAfter(ranges, bytes(4, 255))).toEqual([{ start: bytes(4, 255, 0), end: bytes(5) }, ranges[2]]);
    expect(rangesAfter(ranges, bytes(9))).toEqual([{ start: bytes(9, 0), end: bytes() }]);
    expect(rangesAfter([{ start: bytes(1) }, { start: bytes(3) }], bytes(1))).toEqual([{ start: bytes(3) }]);
  });

  it('the option is checked at the door, and is for replicas', async () => {
    for (const wrong of [0, -1, 1.5, Number.NaN, 2e9]) {
      await expect(openRig({ consistencyCheckMs: wrong })).rejects.toThrow(RangeError);
    }
    await expect(openStore({ consistencyCheckMs: 5 })).rejects.toThrow(TypeError);
  });
});
