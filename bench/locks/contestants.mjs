// @ts-check
// Locks behind one face: plimsoll's, and what one would install instead.
import { createRequire } from 'node:module';

/**
 * @typedef {'read' | 'write'} Mode
 *
 * @typedef {object} Locks
 * @property {(count: number, keys: readonly string[]) => Promise<void>} pass Locks and lets go so many times, one after
 *   the other, in the quickest way there is.
 * @property {(key: string, mode: Mode, body: () => unknown) => Promise<unknown>} run Does the work under the lock.
 *
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} [lacks]
 * @property {boolean} hasReaders
 * @property {number} [waitersMax] More of them at a time end the process.
 * @property {() => Locks} open
 *
 * @typedef {{ release(): void }} Held
 * @typedef {object} KeyedLock The part of the public lock that is used.
 * @property {(key: string, mode: Mode) => Held | undefined} tryAcquire
 * @property {(key: string, mode: Mode) => Promise<Held>} acquire
 * @typedef {(options?: object) => KeyedLock} CreateKeyedLock
 *
 * @typedef {{ acquire(): Promise<() => void>, isLocked(): boolean, runExclusive(body: () => unknown): Promise<unknown> }} Mutex
 * @typedef {{ acquire(key: string, body: () => unknown): Promise<unknown> }} AsyncLock
 * @typedef {{ request(name: string, options: { mode: 'shared' | 'exclusive' }, body: () => unknown): Promise<unknown> }} LockManager
 */

/** The synchronous way, and a promise only where the lock is not free. @param {CreateKeyedLock} create @returns {Entry} */
export function plimsoll(create) {
  return {
    name: 'plimsoll',
    hasReaders: true,
    open: () => {
      const locks = create();
      return {
        pass: async (count, keys) => {
          for (let index = 0; index < count; index++) {
            const key = /** @type {string} */ (keys[index % keys.length]);
            const held = locks.tryAcquire(key, 'write') ?? (await locks.acquire(key, 'write'));
            held.release();
          }
        },
        run: (key, mode, body) => runHeld(locks, key, mode, body),
      };
    },
  };
}

/** The same with a promise for each lock, as all the others do. @param {CreateKeyedLock} create @returns {Entry} */
export function plimsollAwaited(create) {
  return {
    name: 'plimsoll',
    hasReaders: true,
    open: () => {
      const locks = create();
      return {
        pass: async (count, keys) => {
          for (let index = 0; index < count; index++) {
            const held = await locks.acquire(/** @type {string} */ (keys[index % keys.length]), 'write');
            held.release();
          }
        },
        run: (key, mode, body) => runHeld(locks, key, mode, body),
      };
    },
  };
}

/**
 * @param {KeyedLock} locks
 * @param {string} key
 * @param {Mode} mode
 * @param {() => unknown} body
 */
async function runHeld(locks, key, mode, body) {
  const held = await locks.acquire(key, mode);
  try {
    return await body();
  } finally {
    held.release();
  }
}

/** The packages, and the platform's own where it has any. @returns {{ peers: Entry[], absent: Record<string, string> }} */
export function peers() {
  const require = createRequire(import.meta.url);
  const { Mutex } = /** @type {{ Mutex: new () => Mutex }} */ (require('async-mutex'));
  const AsyncLock = /** @type {new (options?: object) => AsyncLock} */ (require('async-lock'));
  const { locks } = /** @type {{ locks?: LockManager }} */ (globalThis.navigator ?? {});
  const entries = [asyncMutex(Mutex), asyncLock(AsyncLock)];
  if (locks === undefined) return { peers: entries, absent: { 'navigator.locks': 'this runtime has none' } };
  return { peers: [...entries, webLocks(locks)], absent: {} };
}

/** @param {new () => Mutex} Mutex @returns {Entry} */
function asyncMutex(Mutex) {
  return {
    name: 'async-mutex',
    lacks: 'no readers, no prefixes, no statistics; no keys: a Map of one mutex a key, of which none is ever dropped',
    hasReaders: false,
    open: () => {
      /** @type {Map<string, Mutex>} */
      const mutexes = new Map();
      const of = (/** @type {string} */ key) => {
        const mutex = mutexes.get(key) ?? new Mutex();
        mutexes.set(key, mutex);
        return mutex;
      };
      return {
        pass: async (count, keys) => {
          const all = keys.map(of);
          for (let index = 0; index < count; index++) {
            const release = await /** @type {Mutex} */ (all[index % all.length]).acquire();
            release();
          }
        },
        run: async (key, _mode, body) => {
          const release = await of(key).acquire();
          try {
            return await body();
          } finally {
            release();
          }
        },
      };
    },
  };
}

/** @param {new (options?: object) => AsyncLock} Lock @returns {Entry} */
function asyncLock(Lock) {
  return {
    name: 'async-lock',
    lacks: 'no readers, no prefixes, no statistics, no handle: the work is a callback',
    hasReaders: false,
    open: () => {
      const lock = new Lock({ maxPending: Number.POSITIVE_INFINITY });
      return {
        pass: async (count, keys) => {
          for (let index = 0; index < count; index++) {
            await lock.acquire(/** @type {string} */ (keys[index % keys.length]), nothing);
          }
        },
        run: (key, _mode, body) => lock.acquire(key, body),
      };
    },
  };
}

/** @param {LockManager} locks @returns {Entry} */
function webLocks(locks) {
  const name = (/** @type {string} */ key) => `plimsoll-bench/${key}`;
  return {
    name: 'navigator.locks',
    lacks: 'no prefixes, no statistics, no handle; but it holds over all workers',
    hasReaders: true,
    ...('Deno' in globalThis ? {} : { waitersMax: NODE_WAITERS_MAX }),
    open: () => ({
      pass: async (count, keys) => {
        const names = keys.map(name);
        for (let index = 0; index < count; index++) {
          await locks.request(/** @type {string} */ (names[index % names.length]), { mode: 'exclusive' }, nothing);
        }
      },
      run: (key, mode, body) => locks.request(name(key), { mode: mode === 'read' ? 'shared' : 'exclusive' }, body),
    }),
  };
}

/** Node 24.21 wakes each waiter of a name inside the one before: at 800 of them its stack is full, which nobody can catch. */
const NODE_WAITERS_MAX = 400;

/** A promise, since async-lock calls back in a way of its own for a body that has none. */
function nothing() {
  return DONE;
}

const DONE = Promise.resolve();
