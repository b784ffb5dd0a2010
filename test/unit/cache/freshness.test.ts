import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { Freshness } from '../../../src/cache/freshness.ts';
import { openStore } from '../../../src/open-store.ts';
import { StaleError } from '../../../src/types/errors.ts';
import { openRig, probe } from '../../support/replica-rig.ts';

/** What a read comes to. */
function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

describe('how old a state is at most (M21)', () => {
  it('is told by questions whose answers are applied, not by when they came', () => {
    let now = 10;
    const freshness = new Freshness({ now: () => now });
    expect(freshness.ageMs).toBe(Number.POSITIVE_INFINITY);
    freshness.answered(10, 5);
    freshness.answered(14, 9);
    freshness.answered(20, 7);
    now = 30;
    freshness.applied(4);
    expect(freshness.ageMs).toBe(Number.POSITIVE_INFINITY);
    freshness.applied(6);
    expect(freshness.ageMs).toBe(20);
    freshness.applied(7);
    expect(freshness.ageMs).toBe(10);
    freshness.applied(9);
    expect(freshness.ageMs).toBe(10);
    freshness.answered(12, 3);
    freshness.applied(9);
    expect(freshness.ageMs).toBe(10);
    freshness.reset();
    expect(freshness.ageMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('remembers a bounded number of answers; what it forgets looks staler, never fresher', () => {
    const freshness = new Freshness({ now: () => 1000 });
    for (let sentAt = 1; sentAt <= 500; sentAt++) freshness.answered(sentAt, sentAt);
    freshness.applied(400);
    expect(freshness.ageMs).toBe(Number.POSITIVE_INFINITY);
    freshness.applied(450);
    expect(freshness.ageMs).toBe(550);
  });
});

describe('maxStaleMs', () => {
  it('a quiet replica stays fresh by asking, and asks every third of it', async () => {
    const { store, backend, clock } = await openRig({ maxStaleMs: 900 });
    const before = backend.calls.status;
    for (let passed = 0; passed < 9_000; passed += 100) {
      await clock.advance(100);
      expect(outcome(() => store.range({ prefix: '' }).count)).toBe(0);
    }
    expect(backend.calls.status - before).toBe(30);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it('scenario 19: a stream that tells old news steadily makes nothing fresh', async () => {
    const { store, history, backend, clock } = await openRig({ maxStaleMs: 1_000 });
    // One item every 10 ms, and two are made meanwhile.
    backend.delayItems(10);
    const start = clock.now();
    let refused = 0;
    for (let turn = 1; turn <= 400; turn++) {
      history.commit([{ key: 'k', value: `${turn} a` }]);
      history.commit([{ key: 'k', value: `${turn} b` }]);
      await clock.advance(10);
      if (outcome(() => store.get('k')?.value) instanceof StaleError) refused++;
      else expect(clock.now() - start).toBeLessThan(2_100);
    }
    expect(refused).toBeGreaterThan(150);
    expect(store.revision).toBeGreaterThan(390);
    expect(outcome(() => store.get('k'))).toBeInstanceOf(StaleError);
  });

  it('refuses reads while the backend is away, says how old they may be, and answers again', async () => {
    const { store, history, backend, clock } = await openRig({ maxStaleMs: 900 });
    history.commit([{ key: 'k', value: '1' }]);
    await clock.advance(400);
    backend.offline();
    await clock.advance(500);
    expect(outcome(() => store.get('k')?.value)).toBe('1');
    await clock.advance(1_000);
    const error = outcome(() => store.get('k'));
    expect(error).toMatchObject({ code: 'STALE', maxStaleMs: 900 });
    expect((error as StaleError).ageMs).toBeGreaterThan(900);
    expect(store.revision).toBe(2);
    backend.online();
    await clock.advance(60_000);
    expect(store.get('k')?.value).toBe('1');
    await store.close();
  });

  it('is as fresh as the question, not as its answer', async () => {
    const { store, backend, clock } = await openRig({ maxStaleMs: 9_000 });
    const unhang = backend.hang('status');
    const start = clock.now();
    await clock.advance(8_900);
    // Questions of 3,000 and of 6,000 are answered now; no later one is.
    unhang();
    await clock.settle();
    backend.hang('status');
    await clock.advance(start + 14_900 - clock.now());
    expect(outcome(() => store.get('k'))).toBeUndefined();
    await clock.advance(200);
    expect(outcome(() => store.get('k'))).toMatchObject({ code: 'STALE', ageMs: 9_100 });
    await store.close();
  });

  it('own writes prove it, too: their answers are applied', async () => {
    const { store, backend, clock } = await openRig({ maxStaleMs: 1_000 });
    backend.hang('status');
    await clock.advance(1_500);
    expect(outcome(() => store.get('k'))).toBeInstanceOf(StaleError);
    const written = probe(store.put('k', '1'));
    await clock.settle();
    expect([written.state, store.get('k')?.value]).toEqual(['resolved', '1']);
    await store.close();
    await clock.advance(5_000);
    expect(clock.pending).toBe(0);
  });

  it('is for replicas, and from 1 ms', async () => {
    await expect(openStore({ maxStaleMs: 10 })).rejects.toThrow('maxStaleMs needs a backend');
    const backend = createMemoryBackend(await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' }));
    await expect(openStore({ backend, maxStaleMs: 0 })).rejects.toThrow(RangeError);
  });
});
