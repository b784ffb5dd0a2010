import { expect, it } from 'vitest';
import { KeepAlive } from '../../../src/lease/keep-alive.ts';
import { Renewals } from '../../../src/lease/renewals.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

it('renewals that were stopped are not kept, however many a lease has had; the others end together', async () => {
  const clock = createVirtualClock();
  const renewals = new Renewals();
  let renewed = 0;
  const start = (signal: AbortSignal | undefined) => {
    const renew = async () => {
      renewed++;
      return { ttlMs: 300 };
    };
    renewals.add(new KeepAlive({ clock, random: () => 0, ttlMs: 300, renew, signal }));
  };
  start(undefined);
  for (let index = 0; index < 100; index++) {
    const stop = new AbortController();
    start(stop.signal);
    stop.abort();
  }
  start(AbortSignal.abort());
  expect([renewals.size, clock.pending]).toEqual([1, 1]);
  await clock.advance(100);
  expect(renewed).toBe(1);
  renewals.stop();
  expect([renewals.size, clock.pending]).toEqual([0, 0]);
});
