import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { ClosedError, LockTimeoutError } from '../../../src/types/errors.ts';
import { outcomes, Requests, take } from './keyed-support.ts';

function make() {
  const clock = createVirtualClock();
  const locks = createKeyedLock({ clock });
  return { clock, locks, requests: new Requests(locks) };
}

describe('a wait that is cancelled', () => {
  it('L5: by a signal: rejects with its reason, as it is, and leaves no listener', async () => {
    const { locks, requests } = make();
    take(locks, 'k', 'write');
    const stop = new AbortController();
    let listeners = 0;
    const { signal } = stop;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, args);
    };
    const first = requests.ask('W', 'k', 'write', { signal });
    const granted = requests.ask('other', 'other', 'write', { signal });
    await outcomes();
    expect(listeners).toBe(1);
    expect(granted.held).toBeDefined();
    const reason = new Error('stopped');
    stop.abort(reason);
    await outcomes();
    expect(first.error).toBe(reason);
    expect(locks.stats()).toMatchObject({ waiting: 0 });
  });

  it('L5: a signal that was granted before it aborts has no effect, and no listener is left', async () => {
    const { locks, requests } = make();
    const first = take(locks, 'k', 'write');
    const stop = new AbortController();
    const removed: string[] = [];
    const { removeEventListener } = stop.signal;
    stop.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      removed.push(String(args[0]));
      removeEventListener.apply(stop.signal, args);
    };
    const second = requests.ask('W', 'k', 'write', { signal: stop.signal });
    first.release();
    stop.abort();
    await outcomes();
    expect(second.held).toBeDefined();
    expect(removed).toEqual(['abort']);
    expect(locks.tryAcquire('k', 'write')).toBeUndefined();
  });

  it('L5: a signal that has aborted already makes no request', async () => {
    const { locks, requests } = make();
    const { error } = requests.ask('W', 'k', 'write', { signal: AbortSignal.abort('before') });
    expect(error).toBeUndefined();
    await outcomes();
    expect(locks.stats('k')).toBeUndefined();
    expect(locks.tryAcquire('k', 'write')).toBeDefined();
  });

  it('L5: by a timeout, with the facts; a granted one leaves no timer', async () => {
    const { clock, locks, requests } = make();
    const held = take(locks, 'k', 'write');
    const late = requests.ask('late', 'k', 'write', { timeoutMs: 50 });
    const early = requests.ask('early', 'k', 'write', { timeoutMs: 500 });
    await clock.advance(49);
    expect(late.error).toBeUndefined();
    await clock.advance(1);
    expect(late.error).toBeInstanceOf(LockTimeoutError);
    expect(late.error).toMatchObject({ code: 'LOCK_TIMEOUT', lock: 'k', timeoutMs: 50 });
    expect(clock.pending).toBe(1);
    held.release();
    await outcomes();
    expect(early.held).toBeDefined();
    expect(clock.pending).toBe(0);
  });

  it('L5: the writer at the head lets the readers behind it in', async () => {
    const { locks, requests } = make();
    take(locks, 'k', 'read');
    const stop = new AbortController();
    requests.ask('W', 'k', 'write', { signal: stop.signal });
    requests.ask('R1', 'k', 'read');
    requests.ask('R2', 'k', 'read');
    requests.ask('W2', 'k', 'write');
    requests.ask('R3', 'k', 'read');
    stop.abort();
    expect(await requests.next()).toEqual(['R1', 'R2']);
  });

  it('L5: a reader at the head, whose leaving frees a writer, lets it in', async () => {
    const { clock, locks, requests } = make();
    const prefix = take(locks, 'a', 'write', { prefix: true });
    requests.ask('R', 'a/b', 'read', { timeoutMs: 10 });
    requests.ask('W', 'a/b', 'write');
    await clock.advance(10);
    prefix.release();
    expect(await requests.next()).toEqual(['W']);
  });

  it('L5: one in the middle leaves no hole', async () => {
    const { locks, requests } = make();
    const held = take(locks, 'k', 'write');
    const stop = new AbortController();
    const first = requests.ask('1', 'k', 'write');
    requests.ask('2', 'k', 'write', { signal: stop.signal });
    requests.ask('3', 'k', 'write');
    stop.abort();
    held.release();
    expect(await requests.next()).toEqual(['1']);
    first.held?.release();
    expect(await requests.next()).toEqual(['3']);
  });

  it('L5: many of one signal at once: a grant that meets one of them is passed on', async () => {
    const { locks, requests } = make();
    const held = take(locks, 'k', 'read');
    const stop = new AbortController();
    const asked = Array.from({ length: 50 }, (_, index) =>
      requests.ask(`${index}`, 'k', index % 3 === 0 ? 'write' : 'read', { signal: stop.signal }),
    );
    requests.ask('other', 'k', 'read');
    stop.abort('all');
    expect(await requests.next()).toEqual(['other']);
    expect(asked.every(({ error }) => error === 'all')).toBe(true);
    held.release();
    expect(locks.stats('k')).toMatchObject({ held: 1, waiting: 0 });
  });
});

describe('a release', () => {
  it('L5: a second one does not free the next holder', async () => {
    const { locks, requests } = make();
    const first = take(locks, 'k', 'write');
    const second = requests.ask('W', 'k', 'write');
    first.release();
    expect(await requests.next()).toEqual(['W']);
    first.release();
    first[Symbol.dispose]();
    expect(locks.tryAcquire('k', 'write')).toBeUndefined();
    second.held?.release();
    expect(locks.tryAcquire('k', 'write')).toBeDefined();
  });
});

describe('close', () => {
  it('rejects who waits and refuses who comes; what is held stays so until it is released', async () => {
    const { clock, locks, requests } = make();
    const held = take(locks, 'k', 'write');
    const waiting = [
      requests.ask('R', 'k', 'read', { timeoutMs: 10 }),
      requests.ask('W', 'k', 'write', { signal: new AbortController().signal }),
      requests.ask('P', '', 'write', { prefix: true }),
    ];
    locks.close();
    locks[Symbol.dispose]();
    await outcomes();
    for (const { error } of waiting) expect(error).toBeInstanceOf(ClosedError);
    expect(locks.stats()).toMatchObject({ held: 1, waiting: 0 });
    expect(clock.pending).toBe(0);
    expect(() => locks.tryAcquire('other', 'read')).toThrow(ClosedError);
    await expect(locks.acquire('other', 'read')).rejects.toThrow('Cannot lock a key: closed');
    held.release();
    expect(locks.stats()).toMatchObject({ held: 0, keys: 0 });
  });

  it('grants nobody what another waiter gives up', async () => {
    const { locks, requests } = make();
    take(locks, 'k', 'read');
    const writer = requests.ask('W', 'k', 'write');
    const reader = requests.ask('R', 'k', 'read');
    locks.close();
    await outcomes();
    expect([writer.error, reader.error].every((error) => error instanceof ClosedError)).toBe(true);
    expect(requests.granted).toEqual([]);
  });
});

describe('a wait that cannot be ended as it was asked to', () => {
  it('a signal that tells its own listeners first, and no more: those behind do not wait for it', async () => {
    const { locks, requests } = make();
    const held = take(locks, 'k', 'write');
    const stop = new AbortController();
    stop.signal.addEventListener('abort', (event) => event.stopImmediatePropagation());
    const first = requests.ask('first', 'k', 'write', { signal: stop.signal });
    requests.ask('second', 'k', 'write');
    stop.abort('enough');
    held.release();
    expect(await requests.next()).toEqual(['second']);
    expect(first.error).toBe('enough');
    expect(locks.stats()).toMatchObject({ held: 1, waiting: 0, write: { cancelled: 1 } });
  });

  it.each([
    { what: 'a clock without timers', options: { timeoutMs: 5 } },
    {
      what: 'a signal by half',
      options: { signal: { aborted: false, throwIfAborted: () => undefined } as AbortSignal },
    },
  ])('$what: is refused, and leaves no request behind', async ({ options }) => {
    const noTimers = () => {
      throw new Error('no timers');
    };
    const locks = createKeyedLock({ clock: { now: () => 0, after: noTimers } });
    const held = take(locks, 'k', 'write');
    await expect(locks.acquire('k', 'write', options)).rejects.toThrow(/no timers|not an AbortSignal/);
    held.release();
    expect(locks.stats()).toMatchObject({ held: 0, waiting: 0, keys: 0 });
  });
});
