import type {
  Backend,
  BackendCallOptions,
  BackendLeases,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  BackendWatchItem,
  BackendWatchRequest,
  BackendWatchStream,
} from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import { BackendError, UnsupportedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { FaultyStream } from './faulty-stream.ts';
import { checkKitOptions } from './kit-options.ts';

/** `leases` is all calls of `backend.leases`. */
export type BackendMethod = 'range' | 'status' | 'watch' | 'txn' | 'compact' | 'leases';

export interface FailOptions {
  /** How many calls fail. @default 1 */
  readonly times?: number;
  /** `after`: the backend did it, only the answer is lost. Not for `watch`. @default 'before' */
  readonly when?: 'before' | 'after';
  /** @default a BackendError, `maybeCommitted` when a `txn` or a call of `leases` fails after */
  readonly error?: unknown;
}

export interface FaultyBackendOptions {
  /** Only `delayItems` takes time; without a clock it is a TypeError. @default none */
  readonly clock?: Pick<Clock, 'after'>;
}

/**
 * A backend in front of another one that does to it what networks and servers do. Nothing happens by itself: each fault
 * is a verb, and the only time is that of the clock given.
 *
 * | verb | promise it breaks |
 * |---|---|
 * | `fail`, `offline`, `hang` | none: calls fail, or take for ever |
 * | `disconnect`, `endStreams`, `holdItems`, `delayItems` | none: streams end, or lag |
 * | `replace` | none (with `keepStreams`: B7) |
 * | `repeatItems`, `replayItems` | B4, each item once |
 * | `dropItems` | B4, nothing is missing |
 * | `inject`, `injectProgress` | B4, B5 |
 * | `remember`, `answerStale` | B2, answers are the newest |
 */
export interface FaultyBackend extends Backend {
  /** Calls so far, those that failed too. */
  readonly calls: Readonly<Record<BackendMethod, number>>;
  /** Streams that are read now. */
  readonly openStreams: number;
  /** What the backend behind said last when a stream of its that nobody reads any more was ended. */
  readonly lateError: unknown;
  /** Makes the next calls of a method fail. */
  fail(method: BackendMethod, options?: FailOptions): void;
  /** Ends all streams, loses the answers of calls under way, and fails every call until `online`. */
  offline(): void;
  online(): void;
  /** Calls of a method (for `watch`: the first item) wait until the returned function is called. They hear no signal. */
  hang(method: BackendMethod): () => void;
  /** Streams end with an error. @default a BackendError */
  disconnect(error?: unknown): void;
  /** Streams end without one. */
  endStreams(): void;
  /** Streams bring nothing until `releaseItems`. */
  holdItems(): void;
  releaseItems(): void;
  /** Each item comes so many milliseconds after the one before or after its making. */
  delayItems(delayMs: number): void;
  /** Sends the last changes again. @default 1 */
  repeatItems(count?: number): void;
  /** Sends the changes from a revision on again, as far as they were sent on that stream (at most the last 1000). */
  replayItems(fromRevision: Revision): void;
  /** The next changes never arrive. @default 1 */
  dropItems(count?: number): void;
  /** Sends an item of the caller's making, before anything else. */
  inject(item: BackendWatchItem): void;
  injectProgress(revision: Revision): void;
  /**
   * From now on other data answer. Streams end with an error and answers under way are lost, or, with `keepStreams`,
   * both live on.
   */
  replace(backend: Backend, options?: { readonly keepStreams?: boolean }): void;
  /** Ends every fault that lasts: what hangs goes on, what is held back comes, nothing fails any more. */
  heal(): void;
  /** Notes the present position, for `answerStale`. */
  remember(): Promise<void>;
  /** The next answers of `range` and `status` are those of the remembered position. @default 1 */
  answerStale(times?: number): void;
}

/**
 * Makes a {@link FaultyBackend}.
 *
 * @throws TypeError for an unknown option
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 * import { createFaultyBackend, createMemoryBackend, createVirtualClock } from 'plimsoll/testing';
 *
 * const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' });
 * const backend = createFaultyBackend(createMemoryBackend(data), { clock: createVirtualClock() });
 * backend.fail('txn', { when: 'after' }); // the next write is committed, its answer lost
 * ```
 */
export function createFaultyBackend(backend: Backend, options: FaultyBackendOptions = {}): FaultyBackend {
  checkKitOptions(options, ['clock'], 'make a faulty backend');
  return new Faulty(backend, options);
}

interface Failure {
  left: number;
  readonly when: 'before' | 'after';
  readonly error: unknown;
}

class Faulty implements FaultyBackend {
  readonly calls: Record<BackendMethod, number> = { range: 0, status: 0, watch: 0, txn: 0, compact: 0, leases: 0 };
  lateError: unknown;
  readonly #options: FaultyBackendOptions;
  readonly #streams = new Set<FaultyStream>();
  readonly #failures = new Map<BackendMethod, Failure>();
  /** Calls under way: each loses its answer when called. */
  readonly #underWay = new Set<() => void>();
  readonly #gates = new Map<BackendMethod, { readonly opened: Promise<void>; readonly open: () => void }>();
  #backend: Backend;
  #isOffline = false;
  #isHolding = false;
  #delayMs = 0;
  #dropsLeft = 0;
  #remembered: BackendPosition | undefined;
  #staleLeft = 0;

  constructor(backend: Backend, options: FaultyBackendOptions) {
    this.#backend = backend;
    this.#options = options;
  }

  get capabilities(): Backend['capabilities'] {
    return this.#backend.capabilities;
  }

  get leases(): BackendLeases | undefined {
    const { leases } = this.#backend;
    if (leases === undefined) return undefined;
    return {
      grant: (request) => this.#call('leases', () => this.#leases.grant(request)),
      keepAlive: (request) => this.#call('leases', () => this.#leases.keepAlive(request)),
      revoke: (request) => this.#call('leases', () => this.#leases.revoke(request)),
      timeToLive: (request) => this.#call('leases', () => this.#leases.timeToLive(request)),
      list: (request) => this.#call('leases', () => this.#leases.list(request)),
    };
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    return this.#call('range', async () => {
      const stale = this.#takeStale();
      if (stale === undefined) return this.#backend.range(request);
      return { ...(await this.#backend.range({ ...request, revision: stale.revision })), ...stale };
    });
  }

  status(request: BackendCallOptions): Promise<BackendPosition> {
    return this.#call('status', async () => this.#takeStale() ?? this.#backend.status(request));
  }

  txn(request: BackendTxnRequest): Promise<BackendTxnResponse> {
    return this.#call('txn', () => this.#backend.txn(request));
  }

  compact(request: { readonly revision: Revision } & BackendCallOptions): Promise<void> {
    return this.#call('compact', () => this.#backend.compact(request));
  }

  watch(request: BackendWatchRequest): BackendWatchStream {
    const stream: FaultyStream = new FaultyStream({
      open: () => this.#backend.watch(request),
      before: () => this.#before('watch'),
      delay: () => this.#delay(),
      shouldDrop: () => this.#dropsLeft > 0 && this.#dropsLeft-- > 0,
      onStart: () => this.#streams.add(stream),
      onEnd: () => this.#streams.delete(stream),
      onLateError: (error) => {
        this.lateError = error;
      },
      isHolding: this.#isHolding,
      signal: request.signal,
    });
    return stream;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#backend[Symbol.asyncDispose]();
  }

  fail(method: BackendMethod, options: FailOptions = {}): void {
    checkKitOptions(options, ['times', 'when', 'error'], `make ${method} fail`);
    const { times = 1, when = 'before', error = lost(method, when === 'after' && writes(method)) } = options;
    this.#failures.set(method, { left: times, when, error });
  }

  offline(): void {
    this.#isOffline = true;
    this.#loseAnswers();
    this.disconnect();
  }

  online(): void {
    this.#isOffline = false;
  }

  hang(method: BackendMethod): () => void {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#gates.get(method)?.open();
    this.#gates.set(method, { opened, open });
    return () => {
      if (this.#gates.get(method)?.opened === opened) this.#gates.delete(method);
      open();
    };
  }

  disconnect(error: unknown = lost('watch', false)): void {
    for (const stream of [...this.#streams]) stream.fail(error);
  }

  endStreams(): void {
    for (const stream of [...this.#streams]) stream.end();
  }

  holdItems(): void {
    this.#isHolding = true;
    for (const stream of this.#streams) stream.setHolding(true);
  }

  releaseItems(): void {
    this.#isHolding = false;
    for (const stream of this.#streams) stream.setHolding(false);
  }

  delayItems(delayMs: number): void {
    if (this.#options.clock === undefined) throw new TypeError('Cannot delay items: the faulty backend has no clock');
    this.#delayMs = delayMs;
  }

  repeatItems(count = 1): void {
    for (const stream of this.#streams) stream.repeat((_, fromEnd) => fromEnd < count);
  }

  replayItems(fromRevision: Revision): void {
    for (const stream of this.#streams) stream.repeat(({ revision }) => revision >= fromRevision);
  }

  dropItems(count = 1): void {
    this.#dropsLeft = count;
  }

  inject(item: BackendWatchItem): void {
    for (const stream of this.#streams) stream.inject(item);
  }

  injectProgress(revision: Revision): void {
    this.inject({ type: 'progress', revision });
  }

  replace(backend: Backend, options: { readonly keepStreams?: boolean } = {}): void {
    checkKitOptions(options, ['keepStreams'], 'replace a backend');
    this.#backend = backend;
    this.#remembered = undefined;
    if (options.keepStreams === true) return;
    this.#loseAnswers();
    this.disconnect();
  }

  heal(): void {
    this.online();
    this.#failures.clear();
    this.#delayMs = 0;
    this.#dropsLeft = 0;
    this.#staleLeft = 0;
    for (const { open } of this.#gates.values()) open();
    this.#gates.clear();
    this.releaseItems();
  }

  async remember(): Promise<void> {
    const { identity, revision } = await this.#backend.status({});
    this.#remembered = { identity, revision };
  }

  answerStale(times = 1): void {
    if (this.#remembered === undefined) throw new TypeError('Cannot answer stale: nothing was remembered');
    this.#staleLeft = times;
  }

  /** Those of the data that are there when a call gets through, which may have been replaced meanwhile. */
  get #leases(): BackendLeases {
    const { leases } = this.#backend;
    if (leases === undefined) throw new UnsupportedError('use leases', 'leases');
    return leases;
  }

  #takeStale(): BackendPosition | undefined {
    if (this.#staleLeft === 0) return undefined;
    this.#staleLeft--;
    return this.#remembered;
  }

  #call<T>(method: BackendMethod, run: () => Promise<T>): Promise<T> {
    const call = async () => {
      const failure = await this.#before(method);
      const answer = await run();
      if (failure !== undefined) throw failure.error;
      return answer;
    };
    return new Promise((resolve, reject) => {
      const lose = () => reject(lost(method, writes(method)));
      this.#underWay.add(lose);
      call()
        .then(resolve, reject)
        .finally(() => this.#underWay.delete(lose));
    });
  }

  #loseAnswers(): void {
    for (const lose of this.#underWay) lose();
    this.#underWay.clear();
  }

  /** Counts the call, lets it wait and fail; returns the failure that is due after the call. */
  async #before(method: BackendMethod): Promise<Failure | undefined> {
    this.calls[method]++;
    await this.#gates.get(method)?.opened;
    if (this.#isOffline) throw lost(method, false);
    const failure = this.#failures.get(method);
    if (failure === undefined) return undefined;
    if (--failure.left <= 0) this.#failures.delete(method);
    if (failure.when === 'before') throw failure.error;
    return failure;
  }

  #delay(): Promise<void> | undefined {
    const { clock } = this.#options;
    if (this.#delayMs === 0 || clock === undefined) return undefined;
    return new Promise((resolve) => clock.after(this.#delayMs, resolve));
  }
}

function writes(method: BackendMethod): boolean {
  return method === 'txn' || method === 'leases';
}

function lost(method: BackendMethod, maybeCommitted: boolean): BackendError {
  return new BackendError(`call ${method}`, 'the connection was lost', { maybeCommitted });
}
