import { describe, expect, it } from 'vitest';
import { ProgressAsker } from '../../../src/cache/progress-asker.ts';
import { GuardedLogger } from '../../../src/system/guarded-logger.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { BackendWatchStream } from '../../../src/types/backend.ts';

function openAsker(options: { isOffered?: boolean } = {}) {
  const clock = createVirtualClock();
  const seen = { asked: 0, caughtUp: 0, statuses: 0, waiting: 0 };
  const stream: BackendWatchStream = {
    requestProgress: () => {
      seen.asked++;
    },
    async *[Symbol.asyncIterator]() {},
  };
  const asker = new ProgressAsker({
    isOffered: () => options.isOffered ?? true,
    clock,
    logger: new GuardedLogger(undefined),
    isWanted: () => seen.waiting > 0,
    catchUp: async () => {
      seen.caughtUp++;
      throw new Error('Cannot tell');
    },
    status: async () => {
      seen.statuses++;
      throw new Error('Cannot tell');
    },
  });
  const wait = (count: number) => {
    for (let index = 0; index < count; index++) {
      seen.waiting++;
      asker.ask();
    }
  };
  const answer = (settled: number): void => {
    seen.waiting -= settled;
    asker.answered();
  };
  return { asker, clock, seen, stream, wait, answer };
}

describe('asking for progress', () => {
  it('is one question for many writes, and one more for those that came while it was under way', () => {
    const { asker, seen, stream, wait, answer } = openAsker();
    asker.follow(stream);
    expect(seen.asked).toBe(0);
    wait(20);
    expect(seen.asked).toBe(1);
    // The answer may be from before the other nineteen were acknowledged.
    answer(1);
    expect(seen.asked).toBe(2);
    answer(19);
    answer(0);
    expect(seen.asked).toBe(2);
    wait(1);
    expect(seen.asked).toBe(3);
    answer(1);
    expect(seen.asked).toBe(3);
  });

  it('is repeated every 100 ms while anybody waits, in case a question was lost, and status every second', async () => {
    const { asker, clock, seen, stream, wait } = openAsker();
    asker.follow(stream);
    wait(5);
    await clock.advance(1_000);
    expect([seen.asked, seen.statuses]).toEqual([11, 1]);
    seen.waiting = 0;
    await clock.advance(10_000);
    expect([seen.asked, seen.statuses, clock.pending]).toEqual([11, 1, 0]);
  });

  it('begins with the stream when somebody waits already, and not without one or without the ability', () => {
    const { asker, seen, stream, wait } = openAsker();
    wait(3);
    expect(seen.asked).toBe(0);
    asker.follow(stream);
    expect(seen.asked).toBe(1);
    asker.follow(undefined);
    wait(1);
    expect(seen.asked).toBe(1);
    const mute = openAsker({ isOffered: false });
    mute.asker.follow(mute.stream);
    mute.wait(1);
    expect(mute.seen.asked).toBe(0);
  });

  it('leaves no timer behind', () => {
    const { asker, clock, stream, wait } = openAsker();
    asker.follow(stream);
    wait(1);
    asker.stop();
    expect(clock.pending).toBe(0);
  });
});
