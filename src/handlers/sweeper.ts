import type { Logger } from '../types/logger.ts';
import type { ObjectSource, SourceList } from '../types/source.ts';
import type { ProgressStore } from './progress.ts';

export interface SweeperOptions {
  readonly progress: ProgressStore;
  readonly source: Pick<ObjectSource, 'compare' | 'owns'>;
  /** Whether an object with this uid is known to live under the name. */
  readonly isAlive: (name: string, uid: string) => boolean;
  readonly logger: Logger;
  /** Aborts when no document is to be deleted any more. */
  readonly stopping: AbortSignal;
}

/**
 * Deletes the documents of objects that went away while nobody was looking.
 *
 * | uid of the document | version in it | what becomes of it |
 * | --- | --- | --- |
 * | lives, as far as is known | any | stays |
 * | of the source's data | above that of the list | stays: an older list proves nothing about its object |
 * | of the source's data | not above | goes |
 * | of data that was replaced (`source.owns` says no) | any, it compares with nothing | goes: the whole data is gone |
 *
 * One sweep at a time: lists that come in meanwhile leave the newest of them to sweep by, so a progress store that is
 * slower than the source relists has at most one `list` or `delete` of a sweep to answer.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  #next: SourceList | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Sweeps by this list, now or after the sweep that is going on. Never throws. */
  sweep(list: SourceList): void {
    this.#next = list;
    this.#sweeping ??= this.#run();
  }

  /** Resolves once no sweep is going on. Never rejects. */
  async drained(): Promise<void> {
    await this.#sweeping;
  }

  async #run(): Promise<void> {
    const { logger, stopping } = this.#options;
    for (let list = this.#take(); list !== undefined; list = this.#take()) {
      try {
        await this.#sweepBy(list);
      } catch (error) {
        if (!stopping.aborted) logger.warn('Cannot sweep progress: the next list tries again', { error });
      }
    }
    this.#sweeping = undefined;
  }

  #take(): SourceList | undefined {
    const list = this.#options.stopping.aborted ? undefined : this.#next;
    this.#next = undefined;
    return list;
  }

  async #sweepBy(list: SourceList): Promise<void> {
    const { progress, source, isAlive, stopping } = this.#options;
    for (const { uid, name, resourceVersion } of await progress.list()) {
      if (stopping.aborted) return;
      if (isAlive(name, uid)) continue;
      const isForeign = source.owns?.(uid) === false;
      const mayLive = (): boolean =>
        resourceVersion !== '' && source.compare(resourceVersion, list.resourceVersion) > 0;
      if (isForeign || !mayLive()) await progress.delete(uid);
    }
  }
}
