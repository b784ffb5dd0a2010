import type { LockManagerLike } from '../../../src/types/web-lock.ts';

type RequestOptions = Parameters<LockManagerLike['request']>[1];

interface Entry {
  readonly mode: 'shared' | 'exclusive';
  readonly grant: () => void;
  readonly steal: () => void;
  isHeld: boolean;
}

/**
 * The Web Locks API as far as the tests need it: a queue for each name, first come first served, in tasks of its own. With
 * `stealAll` in the place of a request that steals.
 */
export class FakeLockManager implements LockManagerLike {
  readonly names = new Map<string, Entry[]>();

  request(
    name: string,
    options: RequestOptions,
    callback: (lock: unknown) => Promise<void> | undefined,
  ): Promise<unknown> {
    const { mode, ifAvailable = false, signal } = options;
    const queue = this.names.get(name) ?? [];
    this.names.set(name, queue);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(entry), 1);
        this.#serve(queue);
      };
      const entry: Entry = {
        mode,
        isHeld: false,
        grant: () => {
          queueMicrotask(() => {
            Promise.resolve(callback({ name, mode })).then((value) => {
              if (!queue.includes(entry)) return;
              leave();
              resolve(value);
            }, reject);
          });
        },
        steal: () => {
          leave();
          reject(new DOMException('taken by force', 'AbortError'));
        },
      };
      if (ifAvailable && !fits(queue, entry, queue.length)) {
        Promise.resolve(callback(null)).then(resolve, reject);
        return;
      }
      queue.push(entry);
      signal?.addEventListener('abort', () => {
        if (entry.isHeld) return;
        leave();
        reject(signal.reason);
      });
      this.#serve(queue);
    });
  }

  stealAll(): void {
    for (const queue of this.names.values()) for (const entry of [...queue]) if (entry.isHeld) entry.steal();
  }

  /** Requests that hold or wait. */
  get size(): number {
    return [...this.names.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  #serve(queue: readonly Entry[]): void {
    for (const [place, entry] of queue.entries()) {
      if (entry.isHeld || !fits(queue, entry, place)) continue;
      entry.isHeld = true;
      entry.grant();
    }
  }
}

/** Whether it may hold beside all that stand before it. */
function fits(queue: readonly Entry[], { mode }: Entry, place: number): boolean {
  return queue.slice(0, place).every((other) => other.mode === 'shared' && mode === 'shared');
}
