import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { InvalidKeyError } from '../../../src/types/errors.ts';
import { outcomes, take } from './keyed-support.ts';

type Loose = (...args: readonly unknown[]) => unknown;

describe('createKeyedLock', () => {
  it.each<[unknown, ErrorConstructor, string]>([
    [null, TypeError, 'the options are not an object'],
    [[], TypeError, 'the options are not an object'],
    [{ logger: 5 }, TypeError, 'logger is not an object'],
    [{ logger: { error: () => {} } }, TypeError, 'logger has no method debug'],
    [{ waiters: 1 }, TypeError, 'unknown option waiters'],
    [{ waitersMax: -1 }, RangeError, 'waitersMax is -1, allowed is a safe integer from 0 on'],
    [{ waitersMax: '1' }, TypeError, 'waitersMax is of type string'],
    [{ locksMax: 0 }, RangeError, 'locksMax is 0, allowed is a safe integer from 1 on'],
    [{ idleKeysMax: 1.5 }, RangeError, 'idleKeysMax is 1.5'],
    [{ idleKeysMax: Number.NaN }, RangeError, 'idleKeysMax is NaN'],
    [{ holdTimes: 'yes' }, TypeError, 'holdTimes is yes, allowed are true and false'],
    [{ debug: 1 }, TypeError, 'debug is 1, allowed are true and false'],
    [{ clock: {} }, TypeError, 'clock has no method now'],
    [{ clock: null }, TypeError, 'clock is not an object'],
  ])('refuses %j', (options, type, message) => {
    const create = createKeyedLock as Loose;
    expect(() => create(options)).toThrow(type);
    expect(() => create(options)).toThrow(`Cannot make a keyed lock: ${message}`);
  });
});

describe('acquire and tryAcquire', () => {
  const rows: readonly [readonly unknown[], ErrorConstructor, string][] = [
    [[7, 'read'], TypeError, 'the key is of type number, not a string'],
    [[undefined, 'read'], TypeError, 'the key is of type undefined, not a string'],
    [[7, 'read', { prefix: true }], TypeError, 'the key is of type number, not a string'],
    [['k', 'exclusive'], TypeError, 'the mode is exclusive, allowed are read and write'],
    [['k', undefined], TypeError, 'the mode is undefined, allowed are read and write'],
    [['k', 'read', null], TypeError, 'the options are not an object'],
    [['k', 'read', { prefx: true }], TypeError, 'unknown option prefx'],
    [['k', 'read', { prefix: 'yes' }], TypeError, 'prefix is yes, allowed are true and false'],
    [['k', 'read', { rank: 1 }], TypeError, 'rank needs an owner'],
    [['k', 'read', { owner: 1, rank: 1.5 }], RangeError, 'rank is 1.5, allowed is a safe integer'],
    [['k', 'read', { owner: 1, rank: '1' }], TypeError, 'rank is of type string'],
  ];

  it.each(rows)('refuse %j', async (args, type, message) => {
    const locks = createKeyedLock({ clock: createVirtualClock() });
    const tryAcquire: Loose = (locks.tryAcquire as Loose).bind(locks);
    const acquire: Loose = (locks.acquire as Loose).bind(locks);
    expect(() => tryAcquire(...args)).toThrow(type);
    expect(() => tryAcquire(...args)).toThrow(`Cannot lock a key: ${message}`);
    // A call that waits tells by its promise, never by a throw.
    await expect(acquire(...args)).rejects.toThrow(`Cannot lock a key: ${message}`);
    expect(locks.stats()).toMatchObject({ held: 0, waiting: 0, keys: 0, idleKeys: 0 });
  });

  it.each<[unknown, ErrorConstructor, string]>([
    [{ timeoutMs: 0 }, RangeError, 'timeoutMs is 0, allowed is a safe integer from 1 on'],
    [{ timeoutMs: -1 }, RangeError, 'timeoutMs is -1'],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, RangeError, 'timeoutMs is Infinity'],
    [{ timeoutMs: '5' }, TypeError, 'timeoutMs is of type string'],
    [{ signal: {} }, TypeError, 'the signal is not an AbortSignal'],
  ])('acquire refuses %j; tryAcquire, which does not wait, knows none of it', async (options, type, message) => {
    const locks = createKeyedLock({ clock: createVirtualClock() });
    const acquired = (locks.acquire as Loose).call(locks, 'k', 'read', options);
    await expect(acquired).rejects.toThrow(type);
    await expect(acquired).rejects.toThrow(`Cannot lock a key: ${message}`);
    expect(() => (locks.tryAcquire as Loose).call(locks, 'k', 'read', options)).toThrow('unknown option');
  });

  it('refuse an empty key', async () => {
    const locks = createKeyedLock();
    expect(() => locks.tryAcquire('', 'read')).toThrow(InvalidKeyError);
    await expect(locks.acquire('', 'write')).rejects.toThrow('Cannot lock a key: the key is empty');
  });

  it('options that call back are read before anything is changed', async () => {
    const locks = createKeyedLock({ clock: createVirtualClock() });
    const nosy = {
      get prefix(): boolean {
        take(locks, 'k', 'write');
        return false;
      },
    };
    expect(locks.tryAcquire('k', 'write', nosy)).toBeUndefined();
    const closing = {
      get owner(): string {
        locks.close();
        return 'me';
      },
    };
    await expect(locks.acquire('other', 'read', closing)).rejects.toThrow('closed');
    await outcomes();
    expect(locks.stats()).toMatchObject({ held: 1, waiting: 0 });
  });
});
