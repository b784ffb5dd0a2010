import type { DeletedReason } from '../kubernetes/informer-delta.ts';
import type { Entry } from './entry.ts';
import { ExactView, LiveView, type NamespaceView } from './namespace-view.ts';
import type { Pin } from './pins.ts';
import type { Resource } from './resource.ts';
import type { ResourceKey } from './resource-key.ts';
import type { Commit, ResourceTables } from './resource-tables.ts';

/** What a handler is told of one commit. */
export interface ResourceUpdate<T, I> {
  readonly seq: number;
  readonly key: ResourceKey;
  /** `undefined` once the object is gone. */
  readonly new: Resource<T, I> | undefined;
  /** Exactly the `new` of the call before for this key; `undefined` at first sight and after an end. */
  readonly old: Resource<T, I> | undefined;
  /** Of an end: the last state, if the server told it, which may be newer than `old`. */
  readonly final: T | undefined;
  readonly reason: DeletedReason | undefined;
  readonly view: NamespaceView<T, I>;
}

export type ResourceUpdateHandler<T, I> = (update: ResourceUpdate<T, I>) => unknown;

export interface HandlerOptions {
  /** In what is logged of it, and in `stats()`. @default 'handler 1', ... */
  readonly name?: string;
  /** Views are of exactly the commit of the call. Costs the states that change until the call has ended. @default false */
  readonly snapshotView?: boolean;
  /** Calls that wait are merged: a handler that is slow hears of the last state of each key only. @default false */
  readonly coalesce?: boolean;
  /**
   * Calls that wait. From there on they are merged as with `coalesce`, until none waits: then there is at most one call for each
   * life that has ended and one for each object. @default 10000
   */
  readonly queueMax?: number;
}

export interface HandlerStats {
  readonly name: string;
  /** Calls that wait. */
  readonly depth: number;
  readonly depthMax: number;
  readonly calls: number;
  readonly failures: number;
  /** Commits that are part of another call, or that nobody has to hear of. */
  readonly merged: number;
}

export interface SubscriptionDeps<T, I> {
  readonly tables: ResourceTables<T, I>;
  readonly handler: ResourceUpdateHandler<T, I>;
  readonly options: Required<HandlerOptions>;
  readonly failed: (error: unknown, name: string, update: ResourceUpdate<T, I>) => void;
  /** An async call has ended: there may be another one to make. */
  readonly settled: () => void;
}

/** A call that waits. */
interface Call<T, I> {
  readonly entry: Entry<T, I>;
  readonly old: Resource<T, I> | undefined;
  /** `undefined` for a void call: what it was about came and went before anybody was told. */
  commit: Commit<T, I> | undefined;
  pin: Pin | undefined;
}

/** Void calls that may stay in the queue, however few others there are: taking them out each time would cost more. */
const VOIDS_MIN = 32;

/**
 * The calls of one handler: one after the other, in the order of commits for each key, never two at a time. What it throws or
 * rejects with is told, and is no reason not to make the next call.
 */
export class Subscription<T, I> {
  readonly #deps: SubscriptionDeps<T, I>;
  #calls: Call<T, I>[] = [];
  #head = 0;
  /** The newest call that waits for each key, while calls are merged. */
  #newest: Map<Entry<T, I>, Call<T, I>> | undefined;
  #isBusy = false;
  #isClosed = false;
  #counts = { depthMax: 0, calls: 0, failures: 0, merged: 0, voids: 0 };

  constructor(deps: SubscriptionDeps<T, I>) {
    this.#deps = deps;
    if (deps.options.coalesce) this.#newest = new Map();
  }

  get wantsPins(): boolean {
    return this.#deps.options.snapshotView;
  }

  get depth(): number {
    return this.#calls.length - this.#head - this.#counts.voids;
  }

  /** Places of the queue that are in use, those of void calls too. */
  get held(): number {
    return this.#calls.length - this.#head;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** There is a call that can be made. */
  get isDue(): boolean {
    return !this.#isBusy && this.#calls.length > this.#head;
  }

  get stats(): HandlerStats {
    const { voids, ...counts } = this.#counts;
    return { name: this.#deps.options.name, depth: this.depth, ...counts };
  }

  /** Takes a commit in; nobody is called. */
  push(commit: Commit<T, I>): void {
    const { queueMax, snapshotView } = this.#deps.options;
    const pin = snapshotView ? this.#deps.tables.pins.pin(commit.seq, this.#deps.options.name) : undefined;
    if (this.#newest === undefined && this.depth >= queueMax) this.#merge();
    if (this.#newest !== undefined && this.#isMerged(commit, pin)) return;
    const call: Call<T, I> = { entry: commit.entry, old: commit.old, commit, pin };
    this.#calls.push(call);
    this.#newest?.set(commit.entry, call);
    if (this.depth > this.#counts.depthMax) this.#counts.depthMax = this.depth;
  }

  /** Makes calls until there is none, one is under way, or the time is up. */
  run(isTimeUp: () => boolean): void {
    while (this.isDue && !isTimeUp()) {
      const call = this.#take();
      if (call?.commit !== undefined) this.#make(call, call.commit);
    }
  }

  /** No call begins after this. */
  close(): void {
    this.#isClosed = true;
    for (let place = this.#head; place < this.#calls.length; place++) this.#unpin(this.#calls[place]);
    this.#calls = [];
    this.#head = 0;
    this.#counts.voids = 0;
    this.#newest = undefined;
  }

  #merge(): void {
    this.#newest = new Map();
    for (let place = this.#head; place < this.#calls.length; place++) {
      const call = this.#calls[place] as Call<T, I>;
      if (call.commit !== undefined) this.#newest.set(call.entry, call);
    }
  }

  /**
   * A state is merged with one that waits, an end with the state before it. What nobody was told of and has ended, nobody has to hear of.
   * An end and the next life stay two calls (RC11).
   */
  #isMerged(commit: Commit<T, I>, pin: Pin | undefined): boolean {
    const waiting = this.#newest?.get(commit.entry);
    if (waiting?.commit?.new === undefined) return false;
    this.#counts.merged++;
    this.#unpin(waiting);
    if (commit.new === undefined && waiting.old === undefined) {
      waiting.commit = undefined;
      waiting.pin = undefined;
      this.#counts.voids++;
      this.#counts.merged++;
      this.#newest?.delete(commit.entry);
      this.#compact();
      if (pin !== undefined) this.#deps.tables.pins.unpin(pin);
      return true;
    }
    waiting.commit = commit;
    waiting.pin = pin;
    return true;
  }

  /** A handler that never settles takes no call, void or not: without this they would fill the memory, though none of them waits. */
  #compact(): void {
    const { voids } = this.#counts;
    if (voids < VOIDS_MIN || voids * 2 <= this.held) return;
    this.#calls = this.#calls.slice(this.#head).filter(({ commit }) => commit !== undefined);
    this.#head = 0;
    this.#counts.voids = 0;
  }

  /** `undefined` for one that is void. */
  #take(): Call<T, I> | undefined {
    const call = this.#calls[this.#head] as Call<T, I>;
    this.#head++;
    if (this.#newest?.get(call.entry) === call) this.#newest.delete(call.entry);
    if (this.#head === this.#calls.length) {
      this.#calls = [];
      this.#head = 0;
      if (!this.#deps.options.coalesce) this.#newest = undefined;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#calls.length) {
      this.#calls = this.#calls.slice(this.#head);
      this.#head = 0;
    }
    if (call.commit !== undefined) return call;
    this.#counts.voids--;
    return undefined;
  }

  #make(call: Call<T, I>, commit: Commit<T, I>): void {
    const { tables, handler } = this.#deps;
    const { entry, old, pin } = call;
    const { seq, final, reason } = commit;
    const { namespace } = entry.key;
    const exact = pin === undefined ? undefined : new ExactView(tables, namespace, pin);
    const view = exact ?? new LiveView(tables, namespace);
    const update = Object.freeze({ seq, key: entry.key, new: commit.new, old, final, reason, view });
    this.#counts.calls++;
    const end = (): void => {
      exact?.close();
      this.#unpin(call);
    };
    let answer: unknown;
    let isAsync: boolean;
    try {
      answer = handler(update);
      isAsync = isThenable(answer);
    } catch (error) {
      end();
      this.#fail(error, update);
      return;
    }
    if (!isAsync) {
      end();
      return;
    }
    this.#isBusy = true;
    const settle = (): void => {
      end();
      this.#isBusy = false;
      if (!this.#isClosed) this.#deps.settled();
    };
    Promise.resolve(answer).then(settle, (error: unknown) => {
      this.#fail(error, update);
      settle();
    });
  }

  #fail(error: unknown, update: ResourceUpdate<T, I>): void {
    this.#counts.failures++;
    this.#deps.failed(error, this.#deps.options.name, update);
  }

  #unpin(call: Call<T, I> | undefined): void {
    if (call?.pin !== undefined) this.#deps.tables.pins.unpin(call.pin);
  }
}

function isThenable(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && typeof Reflect.get(answer, 'then') === 'function';
}
