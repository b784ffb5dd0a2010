import { equalData } from '../handlers/diff.ts';
import type { ProgressStore } from '../handlers/progress.ts';
import type { HandlerRecord, ProgressDocument } from '../handlers/record.ts';
import { ProgressAssertionError } from './progress-assertion.ts';

/** A progress store without documents, and what a case may do around it. */
export interface ProgressSubject {
  readonly progress: ProgressStore;
  /** Another store over the same documents, as a second process has one. @default the same one */
  readonly other?: ProgressStore;
  /**
   * Makes an object for a store that keeps its records there, and says its uid.
   * @default there are no objects: cases make up uids, odd ones too
   */
  readonly createObject?: (name: string) => Promise<string> | string;
  /** Deletes it. To be given with `createObject`. */
  readonly deleteObject?: (name: string) => Promise<void> | void;
  /**
   * The next write of `progress` rejects, after it was applied or without. Without it the cases about lost answers are left
   * out.
   */
  readonly loseAnswer?: (isApplied: boolean) => void;
}

/** Calls of `settle` in which an answer has to come. */
const SETTLES_MAX = 500;

/** One object of a case. */
export interface Target {
  readonly uid: string;
  readonly name: string;
}

/** One run of one case: every call is bounded by `settle`, and what fails is told with its rule. */
export class ProgressSession {
  readonly subject: ProgressSubject;
  readonly progress: ProgressStore;
  readonly other: ProgressStore;
  readonly #rule: string;
  readonly #settle: () => Promise<void>;
  #objects = 0;

  constructor(subject: ProgressSubject, rule: string, settle: () => Promise<void>) {
    this.subject = subject;
    this.progress = subject.progress;
    this.other = subject.other ?? subject.progress;
    this.#rule = rule;
    this.#settle = settle;
  }

  /** A new object. `uid` is used where cases make them up. */
  async target(name = `object-${++this.#objects}`, uid = `uid of ${name}`): Promise<Target> {
    const { createObject } = this.subject;
    return { name, uid: createObject === undefined ? uid : await createObject(name) };
  }

  async get({ uid, name }: Target, store: ProgressStore = this.progress): Promise<ProgressDocument | undefined> {
    return this.within('get', store.get(uid, name));
  }

  /** Writes, and says whether it was taken. */
  async write(next: ProgressDocument, store: ProgressStore = this.progress): Promise<boolean> {
    return this.within('compareAndSet', store.compareAndSet(next.uid, next.gen - 1, next));
  }

  async stored(next: ProgressDocument): Promise<ProgressDocument> {
    this.equal(`a write of generation ${next.gen} on the one before it`, await this.write(next), true);
    return next;
  }

  /** What is there for an object is this document. */
  async holds(
    what: string,
    target: Target,
    expected: ProgressDocument | undefined,
    store: ProgressStore = this.progress,
  ): Promise<void> {
    this.equal(what, plain(await this.get(target, store)), plain(expected));
  }

  fail(what: string, expected: unknown, actual: unknown, options?: ErrorOptions): never {
    throw new ProgressAssertionError({ rule: this.#rule, what, expected, actual }, options);
  }

  equal(what: string, actual: unknown, expected: unknown): void {
    if (!equalData(actual, expected)) this.fail(what, expected, actual);
  }

  /** The answer of a call, in time and without an error. */
  async within<T>(what: string, call: Promise<T>): Promise<T> {
    const end = await this.outcome(what, call);
    if ('error' in end) return this.fail(what, 'an answer', end.error, { cause: end.error });
    return end.value;
  }

  async outcome<T>(what: string, call: Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
    let found: { readonly value: T } | { readonly error: unknown } | undefined;
    const told = call.then(
      (value) => {
        found = { value };
      },
      (error: unknown) => {
        found = { error };
      },
    );
    for (let turn = 0; turn < SETTLES_MAX && found === undefined; turn++) await Promise.race([told, this.#settle()]);
    return found ?? this.fail(what, 'an answer', 'none in time');
  }
}

/** A document of a generation, with a record and a base that say who wrote it. */
export function documentOf(
  { uid, name }: Target,
  gen: number,
  more: Partial<Pick<ProgressDocument, 'writeId' | 'records' | 'bases' | 'resourceVersion'>> = {},
): ProgressDocument {
  const { writeId = `write-${gen}` } = more;
  const digest = `digest of ${writeId}`;
  return {
    uid,
    name,
    gen,
    writeId,
    tick: gen * 2,
    resourceVersion: String(gen + 40),
    records: { handler: recordOf(digest) },
    bases: { [digest]: { by: writeId } },
    ...more,
  };
}

export function recordOf(digest: string): HandlerRecord {
  return {
    attempt: { digest, state: 'ok', failures: 0, wakeAtWallMs: 0, delayMs: 0 },
    done: digest,
    at: 3,
    episode: 2,
  };
}

/** Own members that can be compared, whatever the document is made of. */
function plain(document: ProgressDocument | undefined): unknown {
  return document === undefined ? undefined : JSON.parse(JSON.stringify(document));
}
