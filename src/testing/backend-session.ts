import type {
  Backend,
  BackendKeyValue,
  BackendLeases,
  BackendOperation,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  ByteRange,
} from '../types/backend.ts';
import type { PlimsollError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { BackendAssertionError, jsonText } from './backend-assertion.ts';
import { BackendReader } from './backend-reader.ts';
import { ALL, bytes, del, put } from './backend-terms.ts';
import { type BackendWait, type Outcome, SETTLES_MAX } from './backend-wait.ts';

/** One key to write (with `value`) or to delete (without), for `commit` of the options of `testBackend`. */
export interface BackendChange {
  readonly key: Uint8Array;
  readonly value?: Uint8Array;
}

/** What one case of the suite needs from outside. */
export interface SessionOptions {
  readonly rule: string;
  readonly wait: BackendWait;
  readonly advance: (delayMs: number) => Promise<void>;
  readonly destroyData: () => Promise<void>;
  readonly commit: ((changes: readonly BackendChange[]) => Promise<Revision>) | undefined;
}

/**
 * One run of one case: the backend, with every call bounded in time and every failure turned into an error that names
 * the rule.
 */
export class BackendSession {
  readonly backend: Backend;
  readonly #options: SessionOptions;
  readonly #wait: BackendWait;
  readonly #readers: BackendReader[] = [];

  constructor(backend: Backend, options: SessionOptions) {
    this.backend = backend;
    this.#options = options;
    this.#wait = options.wait;
  }

  get leases(): BackendLeases {
    const { leases } = this.backend;
    if (leases === undefined) return this.fail('leases of a backend that says it has them', 'leases', 'none');
    return leases;
  }

  /** Ends the streams, all of them also when one does not end. */
  async close(): Promise<void> {
    await Promise.all(this.#readers.map((reader) => this.outcome('the end of a stream', reader.close())));
    for (let turn = 0; turn < SETTLES_MAX && this.#readers.some(({ end }) => end === undefined); turn++) {
      await this.#wait.settle();
    }
  }

  fail(what: string, expected: unknown, actual: unknown, options?: ErrorOptions): never {
    throw new BackendAssertionError({ rule: this.#options.rule, what, expected, actual }, options);
  }

  equal(what: string, actual: unknown, expected: unknown): void {
    if (jsonText(actual) !== jsonText(expected)) this.fail(what, expected, actual);
  }

  /** For what is not one value: `expected` says it in words. */
  check(what: string, holds: boolean, expected: string, actual: unknown): void {
    if (!holds) this.fail(what, expected, actual);
  }

  /** The answer of a call, which has to come in time and without an error. */
  async within<T>(what: string, call: Promise<T>): Promise<T> {
    return this.#answer(what, await this.outcome(what, call));
  }

  /** How a call ends, which has to be in time. */
  outcome<T>(what: string, call: Promise<T>): Promise<Outcome<T>> {
    return this.#wait.outcome(what, call);
  }

  /** The error of a class that a call has to be refused with. */
  async refused<E extends PlimsollError>(
    what: string,
    call: Promise<unknown>,
    kind: new (...facts: never[]) => E,
  ): Promise<E> {
    const outcome = await this.outcome(what, call);
    if ('value' in outcome) return this.fail(what, kind.name, 'an answer');
    const { error } = outcome;
    if (!(error instanceof kind)) return this.fail(what, kind.name, error, { cause: error });
    return error;
  }

  /** Waits until something can be seen. `state` is what can be seen instead. */
  async until(what: string, isSeen: () => boolean, expected: unknown, state: () => unknown): Promise<void> {
    for (let turn = 0; turn < SETTLES_MAX; turn++) {
      if (isSeen()) return;
      await this.#wait.settle();
    }
    this.fail(what, expected, state());
  }

  /** Long enough for what should not come. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) await this.#wait.settle();
  }

  async advance(delayMs: number): Promise<void> {
    this.#answer('advance', await this.#wait.outcomeAfter('advance', this.#options.advance(delayMs), delayMs));
  }

  destroyData(): Promise<void> {
    return this.within('destroyData', this.#options.destroyData());
  }

  status(): Promise<BackendPosition> {
    return this.within('status', this.backend.status({}));
  }

  range(
    ranges: readonly ByteRange[],
    options: Omit<BackendRangeRequest, 'ranges'> = {},
  ): Promise<BackendRangeResponse> {
    return this.within('range', this.backend.range({ ranges, ...options }));
  }

  async rows(options: Omit<BackendRangeRequest, 'ranges'> = {}): Promise<readonly BackendKeyValue[]> {
    return (await this.range([ALL], options)).kvs;
  }

  /** A transaction without compares, unless they are given. */
  txn(then: readonly BackendOperation[], rest: Partial<BackendTxnRequest> = {}): Promise<BackendTxnResponse> {
    return this.within('a transaction', this.send(then, rest));
  }

  /** The same, unwatched. */
  send(then: readonly BackendOperation[], rest: Partial<BackendTxnRequest> = {}): Promise<BackendTxnResponse> {
    return this.backend.txn({ compare: [], else: [], ...rest, then });
  }

  /** Writes keys as one commit, `undefined` deletes; also on a backend that cannot be written to. */
  async write(changes: Readonly<Record<string, string | undefined>>): Promise<Revision> {
    const entries = Object.entries(changes);
    const { commit } = this.#options;
    if (commit === undefined) {
      const operations = entries.map(([key, value]) => (value === undefined ? del(key) : put(key, value)));
      return (await this.txn(operations)).revision;
    }
    const list = entries.map(([key, value]) =>
      value === undefined ? { key: bytes(key) } : { key: bytes(key), value: bytes(value) },
    );
    return this.within('a commit', commit(list));
  }

  /** Reads a stream; with `itemsMax` it pulls no more than so many items until `resume()`. */
  watch(
    fromRevision: Revision,
    options: { readonly ranges?: readonly ByteRange[]; readonly itemsMax?: number } = {},
  ): BackendReader {
    const { ranges = [ALL], itemsMax = Number.POSITIVE_INFINITY } = options;
    const reader = new BackendReader((signal) => this.backend.watch({ ranges, fromRevision, signal }), itemsMax);
    this.#readers.push(reader);
    return reader;
  }

  /** Until a stream has brought the change at a revision, or one above, or has ended. */
  async seen(reader: BackendReader, revision: Revision): Promise<void> {
    const isThere = () => reader.changes.some((change) => change.revision >= revision) || reader.end !== undefined;
    await this.until(
      'the stream',
      isThere,
      `the change at ${revision}`,
      () => reader.items.at(-1)?.revision ?? 'nothing',
    );
  }

  /** The revision of the open item, which is the first of a stream. */
  async opened(reader: BackendReader): Promise<Revision> {
    const isThere = () => reader.items.length > 0 || reader.end !== undefined;
    await this.until('the first item of a stream', isThere, 'open', () => 'nothing');
    const [first] = reader.items;
    if (first?.type !== 'open') return this.fail('the first item', 'open', first?.type ?? reader.end?.error);
    return first.revision;
  }

  #answer<T>(what: string, outcome: Outcome<T>): T {
    if ('value' in outcome) return outcome.value;
    return this.fail(what, 'an answer', outcome.error, { cause: outcome.error });
  }
}

/** One case of the suite, before it has a backend. */
export interface BackendCaseSpec {
  readonly name: string;
  readonly rule: string;
  readonly needs?: readonly BackendNeed[];
  readonly run: (session: BackendSession) => Promise<void>;
}

/** What a case cannot do without: a capability, or an option of `testBackend`. */
export type BackendNeed = 'writable' | 'progress' | 'leases' | 'advance' | 'destroyData';
