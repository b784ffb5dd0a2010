import { checkFlag, checkOptions } from '../store/checks.ts';
import { checkInteger } from '../types/check-integer.ts';
import { CompactedError, FutureRevisionError, IdentityChangedError } from '../types/errors.ts';
import { predicateOf } from '../types/predicate.ts';
import type { Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import type { BackendRows } from './backend-rows.ts';
import { collect, type Page, type Rows, type RowsRequest } from './collect.ts';
import { type ContinuePosition, formatContinue, parseContinue } from './continue-token.ts';
import { BadRequestError, ExpiredError, ObjectNotFoundError, ResourceVersionTooLargeError } from './errors.ts';
import { type Freshness, readable } from './freshness.ts';
import { type KeyInterval, type StorageKeys, successor } from './keys.ts';
import { objectOf } from './objects.ts';
import type { PagePins } from './page-pins.ts';
import { type WantedState, wantedState } from './resource-version.ts';
import type { GetOptions, KubernetesObject, ListOptions, ObjectList } from './types.ts';

export interface ListerOptions<O> {
  readonly store: Store<O>;
  readonly keys: StorageKeys;
  readonly freshness: Freshness;
  readonly pins: PagePins;
  readonly backend: BackendRows<O> | undefined;
}

/** A list as it was asked for, checked. */
interface ListRequest<O> {
  readonly interval: KeyInterval;
  readonly isRecursive: boolean;
  readonly wanted: WantedState;
  readonly position: ContinuePosition | undefined;
  readonly predicate: ((object: O) => boolean) | undefined;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

const LIST = 'list objects';
const GET = 'get an object';
const GET_NAMES: ReadonlySet<string> = new Set<keyof GetOptions>(['resourceVersion', 'signal']);
const LIST_NAMES: ReadonlySet<string> = new Set<keyof ListOptions<unknown>>([
  'continue',
  'limit',
  'predicate',
  'recursive',
  'resourceVersion',
  'resourceVersionMatch',
  'signal',
]);

/**
 * Reads: which state, then all of it at one revision (K01-K13).
 *
 * ```text
 *   request --> wanted state --> wait (Freshness) --> rows at ONE revision --> page
 *                                                        | compacted here
 *                                                        +--> the backend, if there is one --> ExpiredError
 * ```
 */
export class Lister<O extends KubernetesObject> {
  readonly #parts: ListerOptions<O>;

  constructor(parts: ListerOptions<O>) {
    this.#parts = parts;
  }

  async get(key: string, options: GetOptions): Promise<O> {
    const signal = checkOptions(options, GET_NAMES, GET);
    const { store, keys, freshness } = this.#parts;
    const text = keys.object(key, GET);
    const wanted = wantedState(options.resourceVersion, undefined, false, GET);
    await freshness.until(wanted, GET, signal);
    const kv = readable(GET, () => store.get(text));
    if (kv === undefined) throw new ObjectNotFoundError(GET, key);
    return objectOf(kv.value, kv.modRevision, text);
  }

  async list(key: string, options: ListOptions<O>): Promise<ObjectList<O>> {
    const request = this.#check(key, options);
    const { freshness, backend } = this.#parts;
    const { wanted, limit, position, signal } = request;
    // A page is all that a client needs to begin; what it costs the backend is bounded.
    if (backend !== undefined && limit > 0 && isServedByBackend(request) && !freshness.isReady()) {
      return this.#fromBackend(request, position?.revision ?? 0, backend);
    }
    await freshness.until(wanted, LIST, signal);
    return this.#page(request);
  }

  /** What is wrong with the request itself (K07). */
  #check(key: string, options: ListOptions<O>): ListRequest<O> {
    const signal = checkOptions(options, LIST_NAMES, LIST);
    const { recursive, limit = 0, continue: token } = options;
    const predicate = predicateOf<O>(options.predicate, LIST);
    const { resourceVersion, resourceVersionMatch } = options;
    const isRecursive = checkFlag('recursive', recursive, LIST);
    checkInteger('limit', limit, LIST, 0);
    const { keys } = this.#parts;
    const interval = isRecursive ? keys.below(key, LIST) : pointOf(keys.object(key, LIST));
    const common = { interval, isRecursive, predicate, limit, signal };
    const wanted = wantedState(resourceVersion, resourceVersionMatch, isRecursive && limit > 0, LIST);
    if (token === undefined || token === '') return { ...common, wanted, position: undefined };
    if (!isRecursive) throw new BadRequestError(LIST, 'continue needs recursive');
    if (wanted.kind === 'notOlder' || wanted.kind === 'exact') {
      throw new BadRequestError(LIST, 'specifying resource version is not allowed when using continue');
    }
    const position = parseContinue(token, interval, LIST);
    return { ...common, wanted: wantedOf(position), position };
  }

  async #page(request: ListRequest<O>): Promise<ObjectList<O>> {
    const { store, pins, backend } = this.#parts;
    const { wanted, position } = request;
    try {
      if (position !== undefined && position.revision !== undefined) this.#checkIdentity(position);
      const revision = wanted.kind === 'exact' ? wanted.revision : readable(LIST, () => store.revision);
      // In one step: nothing is committed between its rows, but by the predicate.
      const page = this.#collectHere(request, revision);
      if (page.next !== undefined) pins.hold(revision);
      return this.#listOf(request, page, revision, store.identity);
    } catch (error) {
      if (error instanceof FutureRevisionError) throw tooLarge(error);
      const isGone = error instanceof CompactedError || error instanceof IdentityChangedError;
      if (!isGone || wanted.kind !== 'exact') throw error;
      if (backend === undefined || error instanceof IdentityChangedError) throw this.#expired(request, error);
      return this.#fromBackend(request, wanted.revision, backend);
    }
  }

  /** The revision of a token means nothing in other data. */
  #checkIdentity({ identity }: ContinuePosition): void {
    const { store } = this.#parts;
    if (identity !== '' && store.identity !== '' && store.identity !== identity) {
      throw new IdentityChangedError(LIST, store.epoch);
    }
  }

  #collectHere(request: ListRequest<O>, revision: Revision): Page<O> {
    const run = collect(rowsOf(request, revision), request.predicate);
    let step = run.next();
    while (step.done !== true) step = run.next(this.#rows(step.value));
    return step.value;
  }

  #rows({ start, end, revision, limit }: RowsRequest): Rows<O> {
    return readable(LIST, () => this.#parts.store.range({ start, end, revision, limit }));
  }

  /** All of it at the revision of the first answer. */
  async #fromBackend(request: ListRequest<O>, from: Revision, backend: BackendRows<O>): Promise<ObjectList<O>> {
    const { store } = this.#parts;
    let identity = from === 0 ? '' : (request.position?.identity ?? store.identity);
    let revision = from;
    try {
      const run = collect(rowsOf(request, from), request.predicate);
      let step = run.next();
      while (step.done !== true) {
        const rows = await backend.rows({ ...step.value, revision }, identity, request.signal);
        ({ revision, identity } = rows);
        step = run.next(rows);
      }
      return this.#listOf(request, step.value, revision, identity);
    } catch (error) {
      if (error instanceof FutureRevisionError) throw tooLarge(error);
      if (error instanceof CompactedError || error instanceof IdentityChangedError) throw this.#expired(request, error);
      throw error;
    }
  }

  #listOf(request: ListRequest<O>, page: Page<O>, revision: Revision, identity: string): ObjectList<O> {
    const { next, remaining } = page;
    const token =
      next === undefined ? undefined : formatContinue({ start: next, revision, identity }, request.interval);
    const metadata = {
      resourceVersion: String(revision),
      ...(token === undefined ? {} : { continue: token }),
      ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    };
    return Object.freeze({ metadata: Object.freeze(metadata), items: Object.freeze(page.items) });
  }

  #expired(request: ListRequest<O>, cause: unknown): ExpiredError {
    const { position, wanted, interval } = request;
    const resourceVersion = wanted.kind === 'exact' ? wanted.resourceVersion : '';
    if (position === undefined) return new ExpiredError(LIST, { resourceVersion, cause });
    const rest = formatContinue({ start: position.start, revision: undefined, identity: '' }, interval);
    return new ExpiredError(LIST, { resourceVersion, continue: rest, cause });
  }
}

function rowsOf<O>({ interval, position, limit, isRecursive }: ListRequest<O>, revision: Revision): RowsRequest {
  return { start: position?.start ?? interval.start, end: interval.end, revision, limit: isRecursive ? limit : 0 };
}

/** One key as an interval. */
function pointOf(key: string): KeyInterval {
  return { start: key, end: successor(key) };
}

/** What a page that goes on has to be read at. */
function wantedOf({ revision }: ContinuePosition): WantedState {
  if (revision === undefined) return { kind: 'consistent' };
  return { kind: 'exact', revision, resourceVersion: String(revision) };
}

/** The newest state, or a page that goes on: what the backend answers as well as the replica would. */
function isServedByBackend<O>({ wanted, position }: ListRequest<O>): boolean {
  return wanted.kind === 'consistent' || position !== undefined;
}

function tooLarge(error: FutureRevisionError): ResourceVersionTooLargeError {
  return new ResourceVersionTooLargeError(LIST, {
    resourceVersion: String(error.revision),
    currentResourceVersion: String(error.currentRevision),
    cause: error,
  });
}
