import { KeyExistsError, ObjectNotFoundError, PreconditionError } from '../../storage/errors.ts';
import type { Storage } from '../../storage/types.ts';
import type { Clock } from '../../types/clock.ts';
import type { Random } from '../../types/random.ts';
import { alreadyExists, invalid, preconditionFailed, refuse } from './api-status.ts';
import type { DeleteRequest } from './delete-request.ts';
import {
  checkNamespace,
  checkPlace,
  createdObject,
  deletingObject,
  type Target,
  updatedObject,
  updatedStatus,
} from './object-strategy.ts';
import { generatedName } from './random-names.ts';
import { type ApiObject, checkedObject, checkName, keyOf, shownObject } from './stored-object.ts';

export interface ObjectWritesOptions {
  readonly storage: Storage<ApiObject>;
  readonly clock: Pick<Clock, 'wallTime'>;
  readonly random: Random;
}

/** Of every write. */
export interface WriteOptions {
  /** Say what would come of it, and write nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal | undefined;
}

/** What came of a deletion, or of an update that may be the end of one. */
export interface Changed {
  readonly object: ApiObject;
  /** `false`: it is there, and may wait for its finalizers. */
  readonly isGone: boolean;
}

/** As Kubernetes: a generated name that is taken is another one so many times. */
const NAMES_MAX = 8;
/** An object that others write each time between a read and its deletion. */
const REMOVALS_MAX = 100;
/** No store comes so far. */
const NEVER = String(Number.MAX_SAFE_INTEGER);
const GARBAGE_COLLECTION: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

/**
 * The object would be one that is being deleted and has no finalizer left: it is removed instead, from the state that was read.
 * Not a failure; it ends the update that found it.
 */
class LastFinalizerGone extends Error {
  override readonly name: string = 'LastFinalizerGone';
  readonly object: ApiObject;
  readonly from: ApiObject;

  constructor(object: ApiObject, from: ApiObject) {
    super('the last finalizer is gone');
    this.object = object;
    this.from = from;
  }
}

/** The storage has tried a write, found that it was from no state, and asks for another one. */
class TrialIsOver extends Error {
  override readonly name: string = 'TrialIsOver';
}

/** Writes of objects: what the storage's compare and set is asked to make of them. */
export class ObjectWrites {
  readonly #options: ObjectWritesOptions;

  constructor(options: ObjectWritesOptions) {
    this.#options = options;
  }

  async create(place: Omit<Target, 'name'>, object: ApiObject, options: WriteOptions): Promise<ApiObject> {
    const { kind, namespace } = place;
    const { storage, clock, random } = this.#options;
    const { name: given = '', generateName = '', resourceVersion = '' } = object.metadata ?? {};
    if (resourceVersion !== '') throw refuse(400, 'resourceVersion should not be set on objects to be created');
    checkNamespace(place);
    for (let attempts = 1; ; attempts++) {
      const name = given !== '' || generateName === '' ? given : generatedName(generateName, random);
      checkName(kind, name);
      const target: Target = { kind, namespace, name };
      checkPlace(target, object.metadata);
      const created = createdObject(target, object, clock, random);
      const key = keyOf(kind, namespace, name);
      try {
        if (options.isDryRun) return await this.#absent(key, created, options);
        return await storage.create(key, created, signalOf(options));
      } catch (error) {
        if (!(error instanceof KeyExistsError)) throw error;
        if (given !== '' || attempts === NAMES_MAX) throw alreadyExists(kind, name);
      }
    }
  }

  /** `change` makes the object that is wanted out of the one that is there. It may be what a deletion waits for. */
  async update(
    target: Target,
    change: (current: object) => unknown,
    { isStatus, ...options }: WriteOptions & { readonly isStatus: boolean },
  ): Promise<Changed> {
    const { kind } = target;
    return this.#change(target, options, (current) => {
      const wanted = checkedObject(change(shownObject(kind, current)), kind);
      checkPlace(target, wanted.metadata);
      return (isStatus ? updatedStatus : updatedObject)(target, current, wanted);
    });
  }

  async delete(
    target: Target,
    { preconditions, propagationPolicy }: DeleteRequest,
    options: WriteOptions,
  ): Promise<Changed> {
    const { clock } = this.#options;
    return this.#change(target, options, (current) => {
      const metadata = current.metadata ?? {};
      for (const precondition of ['uid', 'resourceVersion'] as const) {
        const expected = preconditions[precondition];
        if (expected === undefined || expected === metadata[precondition]) continue;
        const actual = metadata[precondition] ?? '';
        throw preconditionFailed(target.kind, target.name, { precondition, expected, actual });
      }
      return deletingObject(current, finalizersFor(metadata.finalizers ?? [], propagationPolicy), clock);
    });
  }

  /** Every object that a list has found; those that others delete meanwhile count too. */
  async deleteAll(
    objects: readonly ApiObject[],
    kind: Target['kind'],
    request: DeleteRequest,
    options: WriteOptions,
  ): Promise<readonly Changed[]> {
    const deleted: Changed[] = [];
    for (const { metadata = {} } of objects) {
      const target: Target = { kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
      try {
        deleted.push(await this.delete(target, request, options));
      } catch (error) {
        if (!(error instanceof ObjectNotFoundError)) throw error;
      }
    }
    return deleted;
  }

  /** Compare and set; an object that is being deleted and loses its last finalizer is removed. */
  async #change(target: Target, options: WriteOptions, change: (current: ApiObject) => ApiObject): Promise<Changed> {
    const { storage } = this.#options;
    const key = keyOf(target.kind, target.namespace, target.name);
    const next = (current: ApiObject | undefined): ApiObject => {
      if (current === undefined) throw new ObjectNotFoundError('update an object', key);
      const object = change(current);
      const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
      if (deletionTimestamp !== undefined && finalizers.length === 0) throw new LastFinalizerGone(object, current);
      return object;
    };
    for (let attempts = 1; ; attempts++) {
      try {
        if (!options.isDryRun) {
          return { object: await storage.guaranteedUpdate(key, next, signalOf(options)), isGone: false };
        }
        const object = next(await storage.get(key, signalOf(options)));
        await this.#try(key, object, options);
        return { object, isGone: false };
      } catch (error) {
        if (!(error instanceof LastFinalizerGone)) throw error;
        if (options.isDryRun) return { object: error.object, isGone: true };
        const gone = await this.#remove(key, error, attempts < REMOVALS_MAX, options);
        if (gone !== undefined) return gone;
      }
    }
  }

  /** `undefined`: somebody wrote the object meanwhile, so it has to be judged again. */
  async #remove(
    key: string,
    { object, from }: LastFinalizerGone,
    isRetried: boolean,
    options: WriteOptions,
  ): Promise<Changed | undefined> {
    const { resourceVersion = '', uid } = from.metadata ?? {};
    const preconditions = { resourceVersion, ...(uid === undefined ? {} : { uid }) };
    try {
      await this.#options.storage.delete(key, { preconditions, ...signalOf(options) });
    } catch (error) {
      if (isRetried && error instanceof PreconditionError) return undefined;
      throw error;
    }
    return { object, isGone: true };
  }

  async #absent(key: string, created: ApiObject, options: WriteOptions): Promise<ApiObject> {
    const found = await this.#options.storage.list(key, signalOf(options));
    const there = found.items[0]?.metadata?.resourceVersion;
    if (there !== undefined) throw new KeyExistsError('create an object', { key, resourceVersion: there });
    await this.#try(key, created, options);
    return created;
  }

  /** Throws what the storage would refuse to write, and writes nothing: the write is from a state that no object has ever had. */
  async #try(key: string, object: ApiObject, options: WriteOptions): Promise<void> {
    const cachedExistingObject: ApiObject = { metadata: { resourceVersion: NEVER } };
    let isTried = false;
    const write = () => {
      if (isTried) throw new TrialIsOver();
      isTried = true;
      return object;
    };
    try {
      await this.#options.storage.guaranteedUpdate(key, write, { cachedExistingObject, ...signalOf(options) });
    } catch (error) {
      if (!(error instanceof TrialIsOver || error instanceof ObjectNotFoundError)) throw error;
    }
  }
}

/** A whole object says which one it is, and that of a custom resource of which state. */
export function checkWhole({ kind, name }: Target, body: unknown): void {
  const { metadata = {} } = checkedObject(body, kind);
  if ((metadata.name ?? '') === '') {
    throw refuse(400, `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (!kind.custom || (metadata.resourceVersion ?? '') !== '') return;
  throw invalid(kind, name, 'metadata.resourceVersion', 'Invalid value: 0x0: must be specified for an update');
}

/**
 * Finalizers that a garbage collector would act on: there is none here, so that they stay until somebody takes them off. A policy
 * that is said takes the place of that of the object; without one they are as the object has them.
 */
function finalizersFor(finalizers: readonly string[], policy: DeleteRequest['propagationPolicy']): readonly string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((finalizer) => !GARBAGE_COLLECTION.has(finalizer));
  if (policy === 'Background') return others;
  return [...others, policy === 'Foreground' ? 'foregroundDeletion' : 'orphan'];
}

function signalOf({ signal }: WriteOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
