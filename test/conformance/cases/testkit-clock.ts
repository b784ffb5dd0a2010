import { createSeededRandom, createVirtualClock } from 'plimsoll/testing';
import { equal, test } from '../harness.ts';

test('virtual clock: timers run in order of time, then of their making, and time moves with them', async () => {
  const clock = createVirtualClock({ startMs: 1000, wallTimeMs: 5000 });
  const log: string[] = [];
  for (const [name, delayMs] of [
    ['c', 30],
    ['a', 10],
    ['b', 10],
    ['d', 31],
  ] as const) {
    clock.after(delayMs, () => log.push(`${name}@${clock.now()}/${clock.wallTime()}`));
  }
  equal([clock.pending, clock.now(), clock.wallTime()], [4, 1000, 5000]);
  await clock.advance(30);
  equal(log, ['a@1010/5010', 'b@1010/5010', 'c@1030/5030']);
  equal([clock.pending, clock.now(), clock.wallTime()], [1, 1030, 5030]);
});

test('virtual clock: a cancelled timer does not run, none runs inside after', async () => {
  const clock = createVirtualClock();
  const log: string[] = [];
  clock.after(0, () => {
    log.push('first');
    clock.after(0, () => log.push('third'));
  });
  const cancel = clock.after(0, () => log.push('never'));
  clock.after(-5, () => log.push('second'));
  cancel();
  cancel();
  equal(log, []);
  await clock.advance(0);
  equal(log, ['first', 'second', 'third']);
});

test('virtual clock: moves on to the next timer, settles in place, jumps in wall time only', async () => {
  const clock = createVirtualClock();
  const wallMs = clock.wallTime();
  equal(await clock.advanceToNext(), false);
  clock.after(2 ** 40, () => {});
  let isSettled = false;
  void Promise.resolve().then(() => {
    isSettled = true;
  });
  await clock.settle();
  equal([isSettled, clock.now()], [true, 0]);
  equal(await clock.advanceToNext(), true);
  clock.jumpWallTime(-1000);
  equal([clock.now(), clock.wallTime() - wallMs, clock.pending], [2 ** 40, 2 ** 40 - 1000, 0]);
});

test('virtual clock: waits for chains of promises behind a timer, however deep, in each of its turns', async () => {
  for (const depth of [1, 10, 1000]) {
    const clock = createVirtualClock();
    const log: string[] = [];
    const chain = async (name: string): Promise<void> => {
      for (let turn = 0; turn < depth; turn++) await null;
      log.push(name);
    };
    clock.after(10, () => void chain('first'));
    clock.after(20, () => void chain('second'));
    await clock.advance(100);
    equal(log, ['first', 'second']);
    void chain('third');
    await clock.settle();
    equal(log.length, 3);
  }
});

test('seeded random: one seed is one sequence on every runtime', () => {
  const take = (seed: number, count: number): number[] => {
    const random = createSeededRandom(seed);
    return Array.from({ length: count }, () => random());
  };
  equal(
    [take(1, 3), take(42, 3), take(-1, 1), take(2 ** 32 - 1, 1)].map((list) => list.map((value) => value * 2 ** 32)),
    [[2988215890, 2105998277, 1507683795], [2496218441, 2569337798, 590318904], [2651399341], [2651399341]],
  );
  const values = take(7, 10_000);
  equal(values, take(7, 10_000));
  equal([values.every((value) => value >= 0 && value < 1), new Set(values).size > 9990], [true, true]);
});
