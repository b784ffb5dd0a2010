import { checkSignal } from '../types/check-signal.ts';
import { ClosedError } from '../types/errors.ts';
import type { SignalOptions } from '../types/signal.ts';
import { raceAborted } from '../types/until-aborted.ts';
import type { InformerContext } from './informer-context.ts';
import { InformerLoop } from './informer-loop.ts';
import type { DeltaHandler, Informer, InformerState, InformerStats } from './informer-types.ts';

/** The face of an informer: its life, its readers, its subscribers. What it does is in {@link InformerLoop}. */
export class ResourceInformer<T> implements Informer<T> {
  readonly #context: InformerContext<T>;
  readonly #loop: InformerLoop<T>;
  #life: AbortController | undefined;
  /** The run under way, and those before it, have ended. */
  #ended: Promise<void> = Promise.resolve();
  #synced = new Deferred();

  constructor(context: InformerContext<T>) {
    this.#context = context;
    this.#loop = new InformerLoop(context, () => this.#synced.resolve());
  }

  start(): void {
    if (this.#life !== undefined) return;
    const life = new AbortController();
    this.#life = life;
    if (this.#synced.isRejected) this.#synced = new Deferred();
    // The one before may still be closing its connection.
    this.#ended = this.#ended.then(() => this.#loop.run(life.signal));
  }

  stop(): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    if (life !== undefined) {
      const closed = new ClosedError('follow a resource', 'the informer was stopped');
      life.abort(closed);
      this.#synced.reject(closed);
    }
    return this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async synced({ signal }: SignalOptions = {}): Promise<void> {
    checkSignal(signal, 'wait for an informer');
    signal?.throwIfAborted();
    await raceAborted(this.#synced.promise, [signal]);
  }

  subscribe(handler: DeltaHandler<T>): () => void {
    if (typeof handler !== 'function') throw new TypeError('Cannot subscribe: the handler is not a function');
    return this.#context.subscribers.add(handler);
  }

  relist(): void {
    if (this.#life !== undefined) this.#loop.relist();
  }

  get(key: string): T | undefined {
    return this.#context.core.get(key);
  }

  entries(): readonly (readonly [key: string, object: T])[] {
    return this.#context.core.entries();
  }

  get size(): number {
    return this.#context.core.size;
  }

  state(): InformerState {
    const { core, status } = this.#context;
    const { isSynced, resourceVersion, size } = core;
    return Object.freeze({ ...status, isSynced, resourceVersion, size });
  }

  stats(): InformerStats {
    const { core, counts, subscribers } = this.#context;
    return Object.freeze({ ...counts, subscribers: subscribers.size, core: core.stats });
  }
}

/** A promise whose rejection nobody need hear. */
class Deferred {
  readonly promise: Promise<void>;
  #settle: { readonly resolve: () => void; readonly reject: (reason: unknown) => void } | undefined;
  #isRejected = false;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    void Promise.allSettled([this.promise]);
  }

  get isRejected(): boolean {
    return this.#isRejected;
  }

  resolve(): void {
    this.#settle?.resolve();
    this.#settle = undefined;
  }

  reject(reason: unknown): void {
    if (this.#settle === undefined) return;
    this.#isRejected = true;
    this.#settle.reject(reason);
    this.#settle = undefined;
  }
}
