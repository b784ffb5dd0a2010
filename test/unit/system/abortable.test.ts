import { describe, expect, it } from 'vitest';
import { AbortableItems, abortableSleep } from '../../../src/system/abortable.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { raceAborted, untilAborted } from '../../../src/types/until-aborted.ts';
import { probe } from '../../support/replica-rig.ts';

const forever = () => new Promise<never>(() => {});

/** A signal that counts who listens to it. */
function countedSignal(): { readonly controller: AbortController; readonly listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  const listening = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = ((type: 'abort', listener: () => void, options?: AddEventListenerOptions) => {
    listening.add(listener);
    add(type, listener, options);
  }) as typeof signal.addEventListener;
  signal.removeEventListener = ((type: 'abort', listener: () => void) => {
    listening.delete(listener);
    remove(type, listener);
  }) as typeof signal.removeEventListener;
  return { controller, listeners: () => listening.size };
}

describe('raceAborted', () => {
  it('is the outcome of what is under way, or the reason of a signal, before or after', async () => {
    expect(await raceAborted(Promise.resolve(7), [undefined])).toBe(7);
    const reason = new Error('enough');
    // A rejection that nobody handles fails the run of the tests by itself.
    const late = Promise.reject(new Error('late'));
    await expect(raceAborted(late, [AbortSignal.abort(reason)])).rejects.toBe(reason);
    const stop = new AbortController();
    const racing = raceAborted(forever(), [stop.signal]);
    stop.abort(reason);
    await expect(racing).rejects.toBe(reason);
  });
});

describe('untilAborted', () => {
  it('is the outcome of the call, also of one that throws at once', async () => {
    expect(await untilAborted(async () => 7, [undefined])).toBe(7);
    const failure = new Error('no');
    const throwing = () => {
      throw failure;
    };
    await expect(untilAborted(throwing, [])).rejects.toBe(failure);
  });

  it('does not wait for a deaf callee, tells it, and drops what it says later', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const told: unknown[] = [];
    let reject: (error: unknown) => void = () => {};
    const call = untilAborted(
      (signal) => {
        signal.addEventListener('abort', () => told.push(signal.reason));
        return new Promise<never>((_, rejectLate) => {
          reject = rejectLate;
        });
      },
      [one.signal, two.signal],
    );
    two.abort('second');
    one.abort('first');
    await expect(call).rejects.toBe('second');
    expect(told).toEqual(['second']);
    reject(new Error('too late'));
    await Promise.resolve();
  });

  it('starts nothing once aborted', async () => {
    let isStarted = false;
    const start = async () => {
      isStarted = true;
    };
    await expect(untilAborted(start, [undefined, AbortSignal.abort('gone')])).rejects.toBe('gone');
    expect(isStarted).toBe(false);
  });
});

describe('a signal that lives for ever', () => {
  it('keeps no listener of what is over', async () => {
    const { controller, listeners } = countedSignal();
    const { signal } = controller;
    const clock = createVirtualClock();
    for (let turn = 0; turn < 20; turn++) {
      await untilAborted(async () => turn, [signal, undefined]);
      await expect(untilAborted(() => Promise.reject(new Error('no')), [signal])).rejects.toThrow('no');
      const slept = abortableSleep(clock, 5, signal);
      await clock.advance(5);
      await slept;
      const items = new AbortableItems({ next: async () => ({ value: 1, done: false }) }, signal);
      await items.next();
      await items.return();
    }
    expect([listeners(), clock.pending]).toEqual([0, 0]);
  });
});

describe('abortableSleep', () => {
  it('ends by the clock or by the signal, whichever is first, and leaves nothing behind', async () => {
    const clock = createVirtualClock();
    const abort = new AbortController();
    const slept = probe(abortableSleep(clock, 100, abort.signal));
    const longer = probe(abortableSleep(clock, 1_000, abort.signal));
    await clock.advance(99);
    expect(slept.state).toBe('pending');
    await clock.advance(1);
    expect([slept.state, longer.state]).toEqual(['resolved', 'pending']);
    abort.abort(new Error('over'));
    await clock.settle();
    expect([longer.state, clock.pending]).toEqual(['resolved', 0]);
    await abortableSleep(clock, 1_000, abort.signal);
    expect(clock.pending).toBe(0);
  });
});

describe('AbortableItems', () => {
  it('ends with the reason of its signal, for good', async () => {
    const abort = new AbortController();
    const items = new AbortableItems({ next: async () => ({ value: 1, done: false }) }, abort.signal);
    expect((await items.next()).value).toBe(1);
    const next = items.next();
    abort.abort('over');
    await expect(next).rejects.toBe('over');
    const settled = items.next();
    await expect(settled).rejects.toBe('over');
  });

  it('does not hang with its source', async () => {
    const abort = new AbortController();
    const items = new AbortableItems({ next: forever }, abort.signal);
    const next = items.next();
    abort.abort('over');
    await expect(next).rejects.toBe('over');
    await items.return();
  });
});
