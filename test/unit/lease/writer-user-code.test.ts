import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContentionTracker } from '../../../src/lease/contention-tracker.ts';
import { createWriterLease } from '../../../src/lease/writer-lease.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Logger } from '../../../src/types/logger.ts';
import type { WriterLease } from '../../../src/types/writer-lease.ts';
import { COLD_MS, writerRig } from './writer-rig.ts';

/** What nobody has caught ends a process; each test ends with none of it. */
const uncaught: unknown[] = [];
const note = (error: unknown) => void uncaught.push(error);
beforeEach(() => {
  uncaught.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

/** An `equal` that fails from a moment on. */
function fragile() {
  const state = { isBroken: false };
  const equal = (a: unknown, b: unknown) => {
    if (state.isBroken) throw new Error('not comparable');
    return a === b;
  };
  return { state, equal };
}

describe('an equal that throws', () => {
  it.each(['of the lease', 'of the tracker'])('%s is logged and stops nothing, whenever it is asked', async (whose) => {
    const { state, equal } = fragile();
    const clock = createVirtualClock();
    const tracker = createContentionTracker({ clock, equal });
    const rig = writerRig(whose === 'of the lease' ? { equal } : { tracker });
    await rig.lead(10);
    rig.ask('a', 3, { wanted: 'ours' });
    await rig.clock.settle();
    state.isBroken = true;
    // Asked in observe and try, after the answer for what was held back meanwhile, and for the tracker.
    rig.lease.observe('b', { revision: 4, value: 'theirs', wanted: 'ours' });
    rig.ask('b', 4, { wanted: 'other' });
    rig.lease.observe('a', { revision: 12, value: 'theirs', wanted: 'ours' });
    await rig.answer({ revision: 11 });
    expect(rig.keys()).toEqual(['first', 'a', 'b']);
    await rig.answer({ revision: 13 });
    rig.ask('a', 12, { wanted: 'ours' });
    rig.ask('c', 12, { wanted: 'ours' });
    await rig.clock.settle();
    await rig.answer({ revision: 14 });
    await rig.answer({ revision: 15 });
    expect(rig.keys().slice(3)).toEqual(['a', 'c']);
    expect(rig.lease.stats()).toMatchObject({ role: 'leader', pending: 0 });
    if (whose === 'of the lease') expect(rig.lines).toContain('equal failed');
    expect(uncaught).toEqual([]);
  });

  it('of a tracker alone makes values different', () => {
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const { state, equal } = fragile();
    const tracker = createContentionTracker({ equal, logger: { debug: log, info: log, warn: log, error: log } });
    state.isBroken = true;
    tracker.observe('a', { value: 'ours', wanted: 'ours' });
    expect(tracker.equal('ours', 'ours')).toBe(false);
    expect(lines).toContain('equal failed');
  });
});

describe('what is only told of something', () => {
  it('CT8 an onWarning that rejects is logged', async () => {
    const clock = createVirtualClock();
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const tracker = createContentionTracker<string>({
      clock,
      logger: { debug: log, info: log, warn: log, error: log },
      onWarning: async () => {
        throw new Error('no');
      },
    });
    for (let round = 0; round < 3; round++) {
      tracker.observe('a', { value: 'ours', wanted: 'ours' });
      tracker.observe('a', { value: 'theirs', wanted: 'ours' });
    }
    await clock.settle();
    await clock.settle();
    expect(lines).toContain('onWarning failed');
    expect(uncaught).toEqual([]);
  });

  it('WL16 a relist that rejects is logged', async () => {
    const rig = writerRig({
      relist: async () => {
        throw new Error('no');
      },
    });
    await rig.lead(10);
    rig.ask('a', 3);
    await rig.clock.settle();
    await rig.answer('conflict');
    await rig.clock.advance(15_000);
    expect(rig.lines).toContain('relist failed');
    expect(uncaught).toEqual([]);
  });
});

describe('a logger that acts', () => {
  /** A lease whose failing read is logged by a logger that does `act`. */
  async function probed(act: (lease: WriterLease, key: string) => void) {
    const clock = createVirtualClock();
    const calls: string[] = [];
    let read = '';
    const warn: Logger['warn'] = (message) => {
      if (message === 'a read failed') act(lease, read);
    };
    const silent = (): void => {};
    const lease = createWriterLease({
      clock,
      random: () => 0,
      logger: { debug: silent, info: silent, error: silent, warn },
      read: (key) => {
        read = key;
        throw new Error('no');
      },
    });
    for (const key of ['a', 'b']) {
      lease.try(key, {
        revision: 1,
        work: () => {
          calls.push(key);
          return { revision: 10 + calls.length };
        },
      });
    }
    await clock.advance(COLD_MS);
    return { calls, clock, lease };
  }

  it('WL24 nothing is written after a close', async () => {
    const { calls, clock } = await probed((lease) => void lease.close());
    expect(calls).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('nothing is written of a key that is removed', async () => {
    const removed: string[] = [];
    const { calls, clock, lease } = await probed((lease, key) => {
      if (removed.length === 0) lease.remove(key);
      removed.push(key);
    });
    await clock.advance(20_000);
    expect(calls).toEqual([removed[0] === 'a' ? 'b' : 'a']);
    expect(lease.stats()).toMatchObject({ pending: 0, role: 'leader' });
  });
});

describe('what is no observation', () => {
  it.each<[unknown, RegExp]>([
    [null, /not an object/],
    [{}, /neither satisfied and changed nor value and wanted/],
    [{ value: 1 }, /neither satisfied and changed nor value and wanted/],
    [{ satisfied: 1, changed: true }, /satisfied is of type number/],
    [{ satisfied: true }, /changed is of type undefined/],
  ])('%j is refused by a tracker and by a lease', (seen, message) => {
    const tracker = createContentionTracker();
    expect(() => Reflect.apply(tracker.observe, tracker, ['a', seen])).toThrow(TypeError);
    expect(() => Reflect.apply(tracker.observe, tracker, ['a', seen])).toThrow(message);
    const { lease } = writerRig();
    const observation = seen === null ? null : { revision: 1, ...Object(seen) };
    expect(() => Reflect.apply(lease.observe, lease, ['a', observation])).toThrow(message);
  });

  it('nor are options: null says so', () => {
    expect(() => Reflect.apply(createWriterLease, undefined, [null])).toThrow(/the options are not an object/);
  });
});
