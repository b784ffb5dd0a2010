import type { Logger } from '../types/logger.ts';
import type { Handle } from './lock-handle.ts';

interface Lost {
  readonly key: string;
  readonly mode: string;
  readonly prefix: boolean;
  readonly since: number;
}

/**
 * Tells of locks that nobody can release any more, since their handle was collected (L5, for debugging). They stay held:
 * what they protect may be going on still. Not promised: when it is told, or that it is at all; the collector decides.
 */
export class LostLocks {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #registry: FinalizationRegistry<Lost> | undefined;
  #count = 0;

  constructor(logger: Logger, now: () => number) {
    this.#logger = logger;
    this.#now = now;
    if (typeof FinalizationRegistry === 'function') {
      this.#registry = new FinalizationRegistry((lost) => this.#tell(lost));
    } else {
      logger.warn('lost locks cannot be noticed here: there is no FinalizationRegistry');
    }
  }

  get count(): number {
    return this.#count;
  }

  held(handle: Handle): void {
    const { key, mode, prefix, since } = handle;
    this.#registry?.register(handle, { key, mode, prefix, since }, handle);
  }

  released(handle: Handle): void {
    this.#registry?.unregister(handle);
  }

  #tell({ key, mode, prefix, since }: Lost): void {
    this.#count++;
    const heldMs = this.#now() - since;
    this.#logger.error('a lock was lost: its handle was collected before it was released', {
      key,
      mode,
      prefix,
      heldMs,
    });
  }
}
