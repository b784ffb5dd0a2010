import { BackendError } from '../types/errors.ts';
import type { Random } from '../types/random.ts';
import type { SimulatorLoop } from './simulator-loop.ts';
import type { SimulatorProcess } from './simulator-process.ts';
import type { SimulatorStore } from './simulator-store.ts';
import { draw, type MsRange } from './simulator-watch.ts';

/** What a cut does to a write: it never arrives, it is committed and the answer is lost, or either by chance. */
export type CutOutcome = 'lost' | 'committed' | 'either';

export interface SimulatorRequestsOptions {
  readonly latencyMs: MsRange;
  readonly timeoutMs: number;
  readonly random: Random;
  /** Whether the store refuses writes of this key. */
  readonly isBroken: (key: number) => boolean;
  /** Called after each commit. */
  readonly onCommit: () => void;
}

/**
 * The way of one process to the store. A request takes a latency; the store sees it at half of that.
 *
 * ```text
 *   send ------ latency / 2 ------> commit or conflict ------ latency / 2 ------> answer
 *                                                        cut: no answer, an error after the time-out
 * ```
 *
 * A request that has left a process goes on when the process dies.
 */
export class SimulatorRequests {
  readonly #loop: SimulatorLoop;
  readonly #store: SimulatorStore;
  readonly #process: SimulatorProcess;
  readonly #options: SimulatorRequestsOptions;
  #cutUntil = 0;
  #cutOutcome: CutOutcome = 'lost';

  constructor(
    loop: SimulatorLoop,
    store: SimulatorStore,
    process: SimulatorProcess,
    options: SimulatorRequestsOptions,
  ) {
    this.#loop = loop;
    this.#store = store;
    this.#process = process;
    this.#options = options;
  }

  cut(forMs: number, outcome: CutOutcome): void {
    this.#cutUntil = this.#loop.now + forMs;
    this.#cutOutcome = outcome;
  }

  /** Compare and set. Resolves with the new revision, or `undefined` for a conflict; rejects with BackendError. */
  write(key: number, value: number, expected: number, author: number): Promise<number | undefined> {
    return this.#send(() => {
      if (this.#options.isBroken(key)) throw new BackendError('write a simulated key', 'the store refuses it');
      const revision = this.#store.write(key, value, expected, author, this.#loop.now);
      if (revision !== undefined) this.#options.onCommit();
      return revision;
    }, true);
  }

  /** The newest revision, spec and value of a key. */
  read(key: number): Promise<{ readonly revision: number; readonly spec: number; readonly value: number }> {
    const { revisions, specs, values } = this.#store;
    return this.#send(() => ({ revision: revisions[key] ?? 0, spec: specs[key] ?? 0, value: values[key] ?? 0 }), false);
  }

  #send<T>(serve: () => T, isWrite: boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      const sent = this.#loop.now;
      const latency = draw(this.#options.latencyMs, this.#options.random);
      const isLost = this.#isCut && !this.#arrives(isWrite);
      if (isLost) return this.#timeOut(sent, isWrite, reject);
      let answer: () => void = () => {};
      this.#loop.at(sent + latency / 2, () => {
        answer = settled(serve, resolve, reject);
      });
      this.#loop.at(sent + latency, () => {
        if (this.#isCut) this.#timeOut(sent, isWrite, reject);
        else this.#process.run(answer);
      });
    });
  }

  get #isCut(): boolean {
    return this.#cutUntil > this.#loop.now;
  }

  #arrives(isWrite: boolean): boolean {
    if (!isWrite || this.#cutOutcome === 'lost') return false;
    return this.#cutOutcome === 'committed' || this.#options.random() < 0.5;
  }

  #timeOut(sent: number, isWrite: boolean, reject: (error: unknown) => void): void {
    const reason = `no answer within ${this.#options.timeoutMs} ms`;
    const error = new BackendError(`${isWrite ? 'write' : 'read'} a simulated key`, reason, {
      maybeCommitted: isWrite,
    });
    this.#loop.at(sent + this.#options.timeoutMs, () => this.#process.run(() => reject(error)));
  }
}

function settled<T>(serve: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): () => void {
  try {
    const value = serve();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
