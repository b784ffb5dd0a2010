import { describe, expect, it } from 'vitest';
import { createWebLock } from '../../../src/lock/web-locks.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import {
  InvalidKeyError,
  LockReleasedError,
  LockStolenError,
  LockTimeoutError,
  UnsupportedError,
} from '../../../src/types/errors.ts';
import { FakeLockManager } from './keyed-lock-manager.ts';

type Loose = (...args: readonly unknown[]) => unknown;

function make() {
  const manager = new FakeLockManager();
  const clock = createVirtualClock();
  return { manager, clock, locks: createWebLock({ locks: manager, clock }) };
}

/** What can go on without a timer has gone on. */
function settled(): Promise<void> {
  return createVirtualClock().settle();
}

describe('createWebLock', () => {
  it('refuses where the runtime has none, and what is none', () => {
    expect(() => createWebLock({ locks: undefined })).toThrow(UnsupportedError);
    expect(() => createWebLock({ locks: undefined })).toThrow(
      'Cannot make a web lock: the Web Locks API is not supported here',
    );
  });

  it.each<[unknown, string]>([
    [undefined, 'the options are not an object'],
    [{ locks: {} }, 'locks is not a LockManager'],
    [{ locks: new FakeLockManager(), namePrefix: 7 }, 'namePrefix is not a string'],
    [{ locks: new FakeLockManager(), namePrefix: '-x' }, 'namePrefix begins with "-"'],
    [{ locks: new FakeLockManager(), clock: {} }, 'clock has no method after'],
    [{ locks: new FakeLockManager(), name: 'x' }, 'unknown option name'],
  ])('refuses %j', (options, message) => {
    const create = createWebLock as Loose;
    expect(() => create(options)).toThrow(TypeError);
    expect(() => create(options)).toThrow(`Cannot make a web lock: ${message}`);
  });
});

describe('a web lock', () => {
  it('has a handle like that of a keyed lock, under a name of its own', async () => {
    const { manager, locks } = make();
    const held = await locks.acquire('drafts/7', 'write');
    expect([held.key, held.mode, held.prefix, held.signal.aborted]).toEqual(['drafts/7', 'write', false, false]);
    expect([...manager.names.keys()]).toEqual(['plimsoll/drafts/7']);
    expect(await locks.tryAcquire('drafts/7', 'read')).toBeUndefined();
    held.release();
    held.release();
    held[Symbol.dispose]();
    await settled();
    expect(manager.size).toBe(0);
    expect(await createWebLock({ locks: manager, namePrefix: '' }).tryAcquire('k', 'write')).toBeDefined();
    expect([...manager.names.keys()]).toContain('k');
  });

  it('is shared by readers, in the order of the platform', async () => {
    const { locks } = make();
    const first = await locks.acquire('k', 'read');
    const second = await locks.tryAcquire('k', 'read');
    expect(second?.mode).toBe('read');
    const order: string[] = [];
    const writing = locks.acquire('k', 'write').then((held) => {
      order.push('W');
      held.release();
    });
    const reading = locks.acquire('k', 'read').then((held) => {
      order.push('R');
      held.release();
    });
    first.release();
    second?.release();
    await Promise.all([writing, reading]);
    expect(order).toEqual(['W', 'R']);
  });

  it('L5: a wait ends by signal and by timeout, and leaves no request, timer or listener', async () => {
    const { manager, clock, locks } = make();
    const held = await locks.acquire('k', 'write');
    const stop = new AbortController();
    const reason = new Error('stopped');
    const stopped = locks.acquire('k', 'write', { signal: stop.signal });
    const late = locks.acquire('k', 'read', { timeoutMs: 20 });
    stop.abort(reason);
    await expect(stopped).rejects.toBe(reason);
    const checked = expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', lock: 'k', timeoutMs: 20 });
    await clock.advance(20);
    await checked;
    await expect(late).rejects.toThrow(LockTimeoutError);
    expect(manager.size).toBe(1);
    held.release();
    const next = await locks.acquire('k', 'write', { timeoutMs: 20, signal: new AbortController().signal });
    expect(clock.pending).toBe(0);
    next.release();
    await expect(locks.acquire('k', 'write', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('L5: a grant that meets the end of the wait is given back', async () => {
    const { manager, locks } = make();
    const stop = new AbortController();
    // Granted by the manager already, but its callback is still to come.
    const acquired = locks.acquire('k', 'write', { signal: stop.signal });
    stop.abort('too late');
    await expect(acquired).rejects.toBe('too late');
    await settled();
    expect(manager.size).toBe(0);
    expect(await locks.tryAcquire('k', 'write')).toBeDefined();
  });

  it('that is taken by force aborts its signal with a typed reason, but not after the release', async () => {
    const { manager, locks } = make();
    const held = await locks.acquire('k', 'write');
    const { signal } = held;
    manager.stealAll();
    await settled();
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(LockStolenError);
    expect(signal.reason).toMatchObject({ code: 'LOCK_STOLEN', lock: 'k' });
    expect(signal.reason.cause).toBeInstanceOf(DOMException);
    const other = await locks.acquire('other', 'write');
    other.release();
    manager.stealAll();
    await settled();
    expect(manager.size).toBe(0);
    expect(other.signal.aborted).toBe(false);
  });

  it('L4: has no downgrade for writers', async () => {
    const { locks } = make();
    const held = await locks.acquire('k', 'write');
    expect(() => held.downgrade()).toThrow(UnsupportedError);
    held.release();
    expect(() => held.downgrade()).toThrow(LockReleasedError);
    const reader = await locks.acquire('k', 'read');
    expect(() => reader.downgrade()).not.toThrow();
  });

  it('tells what the platform refuses', async () => {
    const refusal = new DOMException('forbidden here', 'SecurityError');
    const rejecting = createWebLock({ locks: { request: () => Promise.reject(refusal) } });
    await expect(rejecting.acquire('k', 'read')).rejects.toBe(refusal);
    await expect(rejecting.tryAcquire('k', 'read')).rejects.toBe(refusal);
    const throwing = createWebLock({
      locks: {
        request: () => {
          throw refusal;
        },
      },
    });
    await expect(throwing.acquire('k', 'read')).rejects.toBe(refusal);
  });

  it.each<[readonly unknown[], string]>([
    [[7, 'read'], 'the key is of type number, not a string'],
    [['k', 'shared'], 'the mode is shared, allowed are read and write'],
    [['k', 'read', { prefix: true }], 'unknown option prefix'],
    [['k', 'read', { timeoutMs: 0 }], 'timeoutMs is 0, allowed is a safe integer from 1 on'],
  ])('refuses %j', async (args, message) => {
    const { manager, locks } = make();
    const acquired = (locks.acquire as Loose).apply(locks, args as unknown[]);
    await expect(acquired).rejects.toThrow(`Cannot lock a key of the origin: ${message}`);
    expect(manager.size).toBe(0);
  });

  it('refuses an empty key', async () => {
    await expect(make().locks.acquire('', 'read')).rejects.toThrow(InvalidKeyError);
    await expect(make().locks.tryAcquire('', 'read')).rejects.toThrow(InvalidKeyError);
  });
});
