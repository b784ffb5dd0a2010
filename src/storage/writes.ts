import { checkFlag, checkMembers, checkOptions } from '../store/checks.ts';
import { plainEqual } from '../system/plain-equal.ts';
import { checkInteger } from '../types/check-integer.ts';
import { ConflictError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import {
  BadRequestError,
  KeyExistsError,
  ObjectNotFoundError,
  PreconditionError,
  UpdateConflictError,
} from './errors.ts';
import { type Freshness, readable } from './freshness.ts';
import type { StorageKeys } from './keys.ts';
import { claimedVersion, objectOf, storedOf } from './objects.ts';
import { parseResourceVersion } from './resource-version.ts';
import type {
  CreateOptions,
  DeleteObjectOptions,
  GuaranteedUpdateOptions,
  KubernetesObject,
  Preconditions,
} from './types.ts';

export interface WriterOptions<O> {
  readonly store: Store<O>;
  readonly keys: StorageKeys;
  readonly freshness: Freshness;
  readonly attemptsMax: number;
}

/** What a write goes from. */
interface CurrentState<O> {
  /** `undefined`: nothing is there. */
  readonly object: O | undefined;
  readonly revision: Revision;
  /** Read for this call; `false` for what the caller believes, which is judged again before it refuses anything. */
  readonly isFresh: boolean;
}

/** One attempt: its outcome, or why to try again on a fresh state: a conflict, or that the state was only believed. */
type Attempt<O> = (state: CurrentState<O>) => Promise<{ readonly object: O } | ConflictError | 'believed'>;

const CREATE = 'create an object';
const DELETE = 'delete an object';
const UPDATE = 'update an object';
const CREATE_NAMES: ReadonlySet<string> = new Set<keyof CreateOptions>(['signal', 'ttlMs']);
const DELETE_NAMES: ReadonlySet<string> = new Set<keyof DeleteObjectOptions<unknown>>([
  'cachedExistingObject',
  'preconditions',
  'signal',
  'validateDeletion',
]);
const UPDATE_NAMES: ReadonlySet<string> = new Set<keyof GuaranteedUpdateOptions<unknown>>([
  'cachedExistingObject',
  'ignoreNotFound',
  'preconditions',
  'signal',
  'ttlMs',
]);
const PRECONDITION_NAMES: ReadonlySet<string> = new Set<keyof Preconditions>(['resourceVersion', 'uid']);
const TTL_MS_MAX = 9e12;

/**
 * Writes: compare and set of one key, again on a conflict (K23-K25).
 *
 * ```text
 *   what the caller believes --+                       refused, or no change        +--> refuses, or is done
 *                              +--> judge --> write <-- believed: read, once more --+
 *   what was read ------------ +                \-- conflict: read again, up to attemptsMax times
 * ```
 */
export class Writer<O extends KubernetesObject> {
  readonly #parts: WriterOptions<O>;

  constructor(parts: WriterOptions<O>) {
    this.#parts = parts;
  }

  async create(key: string, object: O, options: CreateOptions): Promise<O> {
    const signal = checkOptions(options, CREATE_NAMES, CREATE);
    const { store, keys } = this.#parts;
    const text = keys.object(key, CREATE);
    const ttlMs = checkTtl(options.ttlMs, CREATE);
    const value = storedOf(object, CREATE);
    if (claimedVersion(object, CREATE) !== '') {
      throw new BadRequestError(CREATE, 'resourceVersion must not be set on an object to be created');
    }
    try {
      const { revision } = await store.put(text, value, { expect: { modRevision: 0 }, ...given(signal), ...ttlMs });
      return objectOf(value, revision, text);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      throw new KeyExistsError(CREATE, { key, resourceVersion: String(error.actualRevision), cause: error });
    }
  }

  async delete(key: string, options: DeleteObjectOptions<O>): Promise<O> {
    const signal = checkOptions(options, DELETE_NAMES, DELETE);
    const { validateDeletion, cachedExistingObject } = options;
    const preconditions = checkPreconditions(options.preconditions, DELETE);
    if (validateDeletion !== undefined && typeof validateDeletion !== 'function') {
      throw new TypeError(`Cannot ${DELETE}: validateDeletion is not a function`);
    }
    const { store, keys } = this.#parts;
    const text = keys.object(key, DELETE);
    return this.#retry({ key, text, action: DELETE, signal, cached: cachedExistingObject }, async (state) => {
      const { object, revision } = state;
      if (object === undefined) throw new ObjectNotFoundError(DELETE, key);
      const judge = async () => {
        checkAgainst(preconditions, object, key, DELETE);
        await validateDeletion?.(object);
        return true;
      };
      if ((await judged(judge, state)) === undefined) return 'believed';
      const expect = { modRevision: revision };
      const deleted = await unlessConflict(store.delete(text, { expect, ...given(signal) }));
      if (deleted instanceof ConflictError) return deleted;
      return { object: objectOf(storedOf(object, DELETE), deleted.revision, text) };
    });
  }

  async guaranteedUpdate(
    key: string,
    tryUpdate: (object: O | undefined) => O | PromiseLike<O>,
    options: GuaranteedUpdateOptions<O>,
  ): Promise<O> {
    const signal = checkOptions(options, UPDATE_NAMES, UPDATE);
    if (typeof tryUpdate !== 'function') throw new TypeError(`Cannot ${UPDATE}: tryUpdate is not a function`);
    const ignoreNotFound = checkFlag('ignoreNotFound', options.ignoreNotFound, UPDATE);
    const preconditions = checkPreconditions(options.preconditions, UPDATE);
    const ttlMs = checkTtl(options.ttlMs, UPDATE);
    const { store, keys } = this.#parts;
    const text = keys.object(key, UPDATE);
    const cached = options.cachedExistingObject;
    return this.#retry({ key, text, action: UPDATE, signal, cached }, async (state) => {
      const { object, revision } = state;
      if (object === undefined && !ignoreNotFound) throw new ObjectNotFoundError(UPDATE, key);
      const judge = async () => {
        checkAgainst(preconditions, object, key, UPDATE);
        return storedOf(await tryUpdate(object), UPDATE);
      };
      const value = await judged(judge, state);
      if (value === undefined) return 'believed';
      if (object !== undefined && plainEqual(value, storedOf(object, UPDATE))) {
        return state.isFresh ? { object } : 'believed';
      }
      const expect = { modRevision: revision };
      const put = await unlessConflict(store.put(text, value, { expect, ...given(signal), ...ttlMs }));
      return put instanceof ConflictError ? put : { object: objectOf(value, put.revision, text) };
    });
  }

  async #retry(write: RetriedWrite<O>, attempt: Attempt<O>): Promise<O> {
    const { key, action, cached, signal } = write;
    let state = cached === undefined ? await this.#current(write) : believed(cached, action);
    let conflict: ConflictError | undefined;
    const { attemptsMax } = this.#parts;
    for (let attempts = 0; ; ) {
      signal?.throwIfAborted();
      const outcome = await attempt(state);
      if (outcome instanceof ConflictError) conflict = outcome;
      else if (outcome !== 'believed') return outcome.object;
      // What the caller believes is no attempt: it has cost no read.
      if (state.isFresh) attempts++;
      if (attempts === attemptsMax) throw new UpdateConflictError(action, { key, attempts, cause: conflict });
      state = await this.#current(write);
    }
  }

  /** The newest state: of a replica what it is after a question to its backend. */
  async #current({ text, action, signal }: RetriedWrite<O>): Promise<CurrentState<O>> {
    await this.#parts.freshness.until({ kind: 'consistent' }, action, signal);
    const kv = readable(action, () => this.#parts.store.get(text));
    if (kv === undefined) return { object: undefined, revision: 0, isFresh: true };
    return { object: objectOf(kv.value, kv.modRevision, text), revision: kv.modRevision, isFresh: true };
  }
}

interface RetriedWrite<O> {
  readonly key: string;
  readonly text: string;
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  readonly cached: O | undefined;
}

function believed<O extends KubernetesObject>(object: O, action: string): CurrentState<O> {
  const revision = parseResourceVersion(claimedVersion(object, action), action);
  if (revision === undefined || revision === 0) {
    throw new BadRequestError(action, 'cachedExistingObject has no resourceVersion');
  }
  return { object, revision, isFresh: false };
}

/** What user code and preconditions come to; `undefined` if they refuse a state that was only believed. */
async function judged<T, O>(judge: () => Promise<T>, { isFresh }: CurrentState<O>): Promise<T | undefined> {
  try {
    return await judge();
  } catch (error) {
    if (isFresh) throw error;
    return undefined;
  }
}

/** Of the write itself only: what user code throws, a conflict too, is its own affair. */
async function unlessConflict<T>(write: Promise<T>): Promise<T | ConflictError> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof ConflictError) return error;
    throw error;
  }
}

function checkPreconditions(preconditions: unknown, action: string): Preconditions {
  if (preconditions === undefined) return {};
  checkMembers(preconditions as object, PRECONDITION_NAMES, action, 'preconditions is not an object', 'precondition');
  const own: Preconditions = { ...(preconditions as Preconditions) };
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && typeof value !== 'string') {
      throw new TypeError(`Cannot ${action}: preconditions.${name} is not a string`);
    }
  }
  return own;
}

function checkAgainst(
  preconditions: Preconditions,
  object: KubernetesObject | undefined,
  key: string,
  action: string,
): void {
  for (const precondition of ['uid', 'resourceVersion'] as const) {
    const expected = preconditions[precondition];
    if (expected === undefined) continue;
    const actual = object?.metadata?.[precondition] ?? '';
    if (actual !== expected) throw new PreconditionError(action, { key, precondition, expected, actual });
  }
}

function checkTtl(ttlMs: number | undefined, action: string): { readonly ttlMs?: number } {
  if (ttlMs === undefined) return {};
  checkInteger('ttlMs', ttlMs, action, 1, TTL_MS_MAX);
  return { ttlMs };
}

function given(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
