import type { AcquireOptions, HeldLock, KeyedLock, LockMode } from '../../../src/types/lock.ts';

/** A request that was made, and what became of it so far. */
export interface Asked {
  readonly name: string;
  held: HeldLock | undefined;
  error: unknown;
}

/** Requests by name, in the order in which they were granted. */
export class Requests {
  readonly granted: string[] = [];
  readonly #locks: KeyedLock;

  constructor(locks: KeyedLock) {
    this.#locks = locks;
  }

  ask(name: string, key: string, mode: LockMode, options: AcquireOptions = {}): Asked {
    const asked: Asked = { name, held: undefined, error: undefined };
    this.#locks.acquire(key, mode, options).then(
      (held) => {
        asked.held = held;
        this.granted.push(name);
      },
      (error: unknown) => {
        asked.error = error;
      },
    );
    return asked;
  }

  /** What was granted since the last call. */
  async next(): Promise<readonly string[]> {
    await outcomes();
    return this.granted.splice(0);
  }
}

/** Lets outcomes arrive: more turns than a promise of the lock needs. */
export async function outcomes(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await undefined;
}

/** A lock that has to be free. */
export function take(locks: KeyedLock, key: string, mode: LockMode, options = {}): HeldLock {
  const held = locks.tryAcquire(key, mode, options);
  if (held === undefined) throw new Error(`${key} is not free`);
  return held;
}
