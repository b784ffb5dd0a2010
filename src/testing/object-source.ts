import { equalData } from '../handlers/diff.ts';
import { deepFreeze } from '../handlers/freeze.ts';
import { applyPatches } from '../handlers/patch.ts';
import { checkMethods } from '../types/check-methods.ts';
import type { Clock } from '../types/clock.ts';
import { BackendError, CompactedError } from '../types/errors.ts';
import type { Random } from '../types/random.ts';
import type { SignalOptions } from '../types/signal.ts';
import type {
  ObjectSource,
  SourceList,
  SourceObject,
  SourcePatch,
  SourcePatchResult,
  SourceWatchItem,
  SourceWatchOptions,
} from '../types/source.ts';
import { checkKitOptions } from './kit-options.ts';
import { SourceWatch } from './object-source-watch.ts';

/** What goes wrong, and how often. Rates are from 0 to 1. All of it keeps the contract of {@link ObjectSource}. */
export interface ObjectSourceFaults {
  /** Watch items that are never delivered. @default 0 */
  readonly dropRate?: number;
  /** Watch items that are delivered twice. @default 0 */
  readonly duplicateRate?: number;
  /** Longest delay of a watch item, in ms; each item has its own, so a delay also reorders. @default 0 */
  readonly delayMsMax?: number;
  /** Lists that answer an older state, with the version of that state. @default 0 */
  readonly staleListRate?: number;
  /** Calls of `list` and `get` that fail. @default 0 */
  readonly readErrorRate?: number;
  /** Longest delay of `list` and `get`, in ms. The answer is that of the end of the delay. @default 0 */
  readonly readDelayMsMax?: number;
  /** Patches that reject: half of them were applied, and only the answer is lost. @default 0 */
  readonly patchErrorRate?: number;
  /** Longest time before a patch is applied or refused, in ms. A patch lands, whatever its signal says. @default 0 */
  readonly patchDelayMsMax?: number;
}

export interface MemoryObjectSourceOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults?: ObjectSourceFaults;
  /** Changes that a watch can start from, and as far back as stale lists go. @default 10000 */
  readonly historyMax?: number;
}

/**
 * An {@link ObjectSource} in memory, with uids, versions, patches and finalizers, and with verbs to change its objects and
 * to misbehave.
 */
export interface MemoryObjectSource<T = unknown> extends ObjectSource<T> {
  readonly hasFinalizers: true;
  /** Versions are checked: what does not have the newest one is a `conflict`. What changes nothing makes no version. */
  patch(patch: SourcePatch, options: SignalOptions): Promise<SourcePatchResult<T>>;
  /** The version of the last change, in decimal. */
  readonly resourceVersion: string;
  /** Objects that live now. */
  readonly objects: readonly SourceObject<T>[];
  /** Watches that are open now. */
  readonly watches: number;
  /** Creates an object or replaces its content. The content is frozen. */
  put(name: string, object: T): SourceObject<T>;
  /**
   * Sets `deleting`; the object stays until a patch removes its last finalizer, or until `delete`. Does nothing if there
   * is none.
   */
  startDeletion(name: string): void;
  /** Sets the finalizers, as somebody else would. The last one of an object that is `deleting` takes it along. */
  setFinalizers(name: string, finalizers: readonly string[]): void;
  /** Removes an object; a later `put` makes another one. Does nothing if there is none. */
  delete(name: string): void;
  /** Ends every open watch with an error. @default a BackendError */
  breakWatches(error?: unknown): void;
  /** Forgets the history, so that a watch from before ends with `CompactedError`. */
  compact(): void;
  /** Delivers past changes again, the oldest first, to every open watch. @default all that are known */
  replay(count?: number): void;
  /** Sends a bookmark to every open watch. */
  bookmark(): void;
  /** Changes what goes wrong from now on. */
  setFaults(faults: ObjectSourceFaults): void;
}

/**
 * Makes a {@link MemoryObjectSource}.
 *
 * @throws TypeError for an unknown option or fault, and one of the wrong type
 * @throws RangeError for a rate that is not from 0 to 1, and a time or history below 0
 * @example
 * ```ts
 * import { createObjectSource, createSeededRandom, createVirtualClock } from 'plimsoll/testing';
 *
 * const clock = createVirtualClock();
 * const source = createObjectSource({ clock, random: createSeededRandom(1), faults: { dropRate: 0.1 } });
 * source.put('a', { spec: { replicas: 1 } });
 * ```
 */
export function createObjectSource<T = unknown>(options: MemoryObjectSourceOptions): MemoryObjectSource<T> {
  const action = 'make an object source';
  checkKitOptions(options, ['clock', 'random', 'faults', 'historyMax'], action);
  checkMethods('clock', options.clock, action, ['now', 'after']);
  if (typeof options.random !== 'function') {
    throw new TypeError(`Cannot ${action}: random is of type ${typeof options.random}, not a function`);
  }
  checkRange(action, 'historyMax', options.historyMax, Number.POSITIVE_INFINITY);
  return new MemorySource<T>(options);
}

const RATES = ['dropRate', 'duplicateRate', 'staleListRate', 'readErrorRate', 'patchErrorRate'] as const;
const TIMES = ['delayMsMax', 'readDelayMsMax', 'patchDelayMsMax'] as const;

function checkFaults(faults: ObjectSourceFaults): ObjectSourceFaults {
  const action = 'set the faults of an object source';
  checkKitOptions(faults, [...RATES, ...TIMES], action);
  for (const name of RATES) checkRange(action, name, faults[name], 1);
  for (const name of TIMES) checkRange(action, name, faults[name], Number.MAX_SAFE_INTEGER);
  return faults;
}

/** Refuses what is no number from 0 to `max`. */
function checkRange(action: string, name: string, value: unknown, max: number): void {
  if (value === undefined) return;
  if (typeof value !== 'number') {
    throw new TypeError(`Cannot ${action}: ${name} is of type ${typeof value}, not a number`);
  }
  if (!(value >= 0 && value <= max)) {
    throw new RangeError(`Cannot ${action}: ${name} must be from 0 to ${max}, got ${value}`);
  }
}

const NOBODY: readonly string[] = Object.freeze([]);

function refused(reason: string): BackendError {
  return new BackendError('patch an object', reason, { permanent: true });
}

interface Change<T> {
  readonly version: number;
  readonly before: SourceObject<T> | undefined;
  readonly item: SourceWatchItem<T>;
  readonly name: string;
}

class MemorySource<T> implements MemoryObjectSource<T> {
  readonly hasFinalizers = true;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #historyMax: number;
  readonly #live = new Map<string, SourceObject<T>>();
  readonly #watches = new Set<SourceWatch<T>>();
  #history: Change<T>[] = [];
  #version = 0;
  #lives = 0;
  #faults: ObjectSourceFaults;

  constructor({ clock, random, faults = {}, historyMax = 10_000 }: MemoryObjectSourceOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#faults = checkFaults(faults);
    this.#historyMax = historyMax;
  }

  get resourceVersion(): string {
    return String(this.#version);
  }

  get objects(): readonly SourceObject<T>[] {
    return [...this.#live.values()];
  }

  get watches(): number {
    return this.#watches.size;
  }

  setFaults(faults: ObjectSourceFaults): void {
    this.#faults = checkFaults(faults);
  }

  put(name: string, object: T): SourceObject<T> {
    const before = this.#live.get(name);
    const after: SourceObject<T> = Object.freeze({
      name,
      uid: before?.uid ?? `uid-${++this.#lives}`,
      resourceVersion: String(this.#version + 1),
      deleting: before?.deleting ?? false,
      finalizers: before?.finalizers ?? NOBODY,
      object: deepFreeze(object),
    });
    this.#commit(name, before, after);
    return after;
  }

  startDeletion(name: string): void {
    const before = this.#live.get(name);
    if (before === undefined || before.deleting) return;
    this.#replace(before, { deleting: true });
  }

  setFinalizers(name: string, finalizers: readonly string[]): void {
    const before = this.#live.get(name);
    if (before !== undefined) this.#replace(before, { finalizers: Object.freeze([...finalizers]) });
  }

  async patch(patch: SourcePatch, { signal }: SignalOptions): Promise<SourcePatchResult<T>> {
    signal?.throwIfAborted();
    const { patchDelayMsMax = 0, patchErrorRate } = this.#faults;
    const isLost = this.#chance(patchErrorRate);
    const isApplied = !isLost || this.#random() < 0.5;
    if (patchDelayMsMax > 0) {
      const delayMs = this.#random() * patchDelayMsMax;
      await new Promise<void>((resolve) => this.#clock.after(delayMs, resolve));
    }
    const result = isApplied ? this.#patchNow(patch) : undefined;
    if (result === undefined || isLost) throw new BackendError('patch an object', 'a fault was asked for');
    return result;
  }

  delete(name: string): void {
    const before = this.#live.get(name);
    if (before !== undefined) this.#commit(name, before, undefined);
  }

  async list({ signal }: SignalOptions): Promise<SourceList<T>> {
    await this.#read('list', signal);
    const oldest = (this.#history[0]?.version ?? this.#version + 1) - 1;
    const isStale = this.#chance(this.#faults.staleListRate);
    const version = isStale ? oldest + Math.floor(this.#random() * (this.#version - oldest + 1)) : this.#version;
    const state = new Map(this.#live);
    for (const { name, before } of this.#history.filter((change) => change.version > version).reverse()) {
      if (before === undefined) state.delete(name);
      else state.set(name, before);
    }
    return { resourceVersion: String(version), items: [...state.values()] };
  }

  async get(name: string, { signal }: SignalOptions): Promise<SourceObject<T> | undefined> {
    await this.#read('get', signal);
    return this.#live.get(name);
  }

  async *watch({ after, signal }: SourceWatchOptions): AsyncGenerator<SourceWatchItem<T>, void, undefined> {
    const from = Number(after) + 1;
    const oldest = this.#history[0]?.version ?? this.#version + 1;
    if (from < oldest) {
      throw new CompactedError('watch objects', { minRevision: oldest, compactRevision: oldest });
    }
    const watch = new SourceWatch<T>();
    const abort = (): void => watch.fail(signal?.reason);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted === true) abort();
    this.#watches.add(watch);
    for (const change of this.#history) if (change.version >= from) this.#deliver(watch, change.item);
    try {
      for (;;) yield await watch.next();
    } finally {
      this.#watches.delete(watch);
      signal?.removeEventListener('abort', abort);
    }
  }

  compare(a: string, b: string): number {
    return Number(a) - Number(b);
  }

  breakWatches(error: unknown = new BackendError('watch objects', 'the connection was cut')): void {
    for (const watch of this.#watches) watch.fail(error);
  }

  compact(): void {
    this.#history = [];
  }

  replay(count: number = this.#history.length): void {
    for (const { item } of this.#history.slice(0, count)) for (const watch of this.#watches) watch.push(item);
  }

  bookmark(): void {
    for (const watch of this.#watches) watch.push({ type: 'bookmark', resourceVersion: this.resourceVersion });
  }

  #patchNow(patch: SourcePatch): SourcePatchResult<T> {
    const { name, uid, resourceVersion, patches, addFinalizer, removeFinalizer } = patch;
    const before = this.#live.get(name);
    if (before?.uid !== uid) return { type: 'gone' };
    if (before.resourceVersion !== resourceVersion) return { type: 'conflict' };
    const finalizers = new Set(before.finalizers);
    if (addFinalizer !== undefined && !finalizers.has(addFinalizer)) {
      if (before.deleting) throw refused('a finalizer cannot be added to an object that is deleting');
      finalizers.add(addFinalizer);
    }
    if (removeFinalizer !== undefined) finalizers.delete(removeFinalizer);
    // What becomes of a T by a patch is as good a T as what anybody puts.
    const object = applyPatches(before.object, patches) as T;
    const isSame = finalizers.size === (before.finalizers ?? []).length && equalData(object, before.object);
    if (isSame) return { type: 'patched', object: before };
    const changes = { object: deepFreeze(object), finalizers: Object.freeze([...finalizers]) };
    return { type: 'patched', object: this.#replace(before, changes) };
  }

  /** Makes the next state of an object that lives; without finalizers, one that is deleting goes instead. */
  #replace(before: SourceObject<T>, changes: Partial<SourceObject<T>>): SourceObject<T> {
    const after = Object.freeze({ ...before, ...changes, resourceVersion: String(this.#version + 1) });
    const hadSome = (before.finalizers ?? []).length > 0;
    const isReleased = after.deleting && hadSome && (after.finalizers ?? []).length === 0;
    this.#commit(after.name, before, isReleased ? undefined : after);
    return after;
  }

  #commit(name: string, before: SourceObject<T> | undefined, after: SourceObject<T> | undefined): void {
    const version = ++this.#version;
    const item = itemOf(name, before, after, String(version));
    if (after === undefined) this.#live.delete(name);
    else this.#live.set(name, after);
    this.#history.push({ version, before, item, name });
    if (this.#history.length > this.#historyMax) this.#history.shift();
    for (const watch of this.#watches) this.#deliver(watch, item);
  }

  #deliver(watch: SourceWatch<T>, item: SourceWatchItem<T>): void {
    const { dropRate, duplicateRate, delayMsMax = 0 } = this.#faults;
    if (this.#chance(dropRate)) return;
    const copies = this.#chance(duplicateRate) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (delayMsMax === 0) watch.push(item);
      else this.#clock.after(this.#random() * delayMsMax, () => watch.push(item));
    }
  }

  async #read(action: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { readDelayMsMax = 0, readErrorRate } = this.#faults;
    if (readDelayMsMax > 0) {
      const delayMs = this.#random() * readDelayMsMax;
      await new Promise<void>((resolve) => this.#clock.after(delayMs, resolve));
      signal?.throwIfAborted();
    }
    if (this.#chance(readErrorRate)) throw new BackendError(`${action} objects`, 'a fault was asked for');
  }

  #chance(rate: number | undefined): boolean {
    return rate !== undefined && rate > 0 && this.#random() < rate;
  }
}

function itemOf<T>(
  name: string,
  before: SourceObject<T> | undefined,
  after: SourceObject<T> | undefined,
  resourceVersion: string,
): SourceWatchItem<T> {
  if (after !== undefined) return { type: before === undefined ? 'added' : 'modified', object: after };
  return { type: 'deleted', name, uid: before?.uid, resourceVersion };
}
