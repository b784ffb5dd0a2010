import { BackendError, ConflictError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import type { ReadResult, WriteContext } from '../types/writer-lease.ts';
import type { Work, WriterKey } from './writer-key.ts';

/** How a call ended. */
export type Answer =
  | { readonly type: 'written'; readonly revision: Revision }
  | { readonly type: 'conflict'; readonly base: Revision }
  | { readonly type: 'unchanged' }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'read'; readonly found: ReadResult<unknown> };

/** Why a key is read: before a candidate's write, or to explain a conflict (WL22). */
export type CallKind = 'write' | 'probe' | 'explain';

/**
 * A read or a write that is under way. Its signal is made when somebody asks for it, which most work functions do not.
 */
export class WriterCall implements WriteContext {
  readonly kind: CallKind;
  readonly target: WriterKey;
  readonly revision: Revision;
  readonly fencingToken: Revision | undefined;
  /** What is written, and since when: a later try of the key is another one. */
  readonly work: Work | undefined;
  readonly wanted: unknown;
  readonly askedAt: number;
  /** Its deadline is that of an overtaken key. */
  readonly isOvertaken: boolean;
  /** Nobody waits for it any more from this instant on. */
  readonly timeoutAt: number;
  #controller: AbortController | undefined;
  #isAborted = false;
  #reason: unknown;

  constructor(
    kind: CallKind,
    target: WriterKey,
    facts: { fencingToken: Revision | undefined; timeoutAt: number; isOvertaken?: boolean },
  ) {
    this.kind = kind;
    this.target = target;
    this.revision = target.known;
    this.fencingToken = facts.fencingToken;
    this.work = target.work;
    this.wanted = target.wanted;
    this.askedAt = target.askedAt;
    this.isOvertaken = facts.isOvertaken ?? false;
    this.timeoutAt = facts.timeoutAt;
  }

  get key(): string {
    return this.target.key;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Aborts in a microtask of its own: listeners are the user's. */
  abort(reason: unknown): void {
    this.#isAborted = true;
    this.#reason = reason;
    queueMicrotask(() => this.#controller?.abort(reason));
  }
}

/** Runs a work function; never rejects. */
export async function runWork(call: WriterCall): Promise<Answer> {
  try {
    return readOutcome(await call.work?.(call), call.key);
  } catch (error) {
    if (error instanceof ConflictError) return { type: 'conflict', base: error.expectedRevision };
    return { type: 'failed', error };
  }
}

/** Runs a read; never rejects. */
export async function runRead(
  call: WriterCall,
  read: (key: string, options: { readonly signal: AbortSignal }) => unknown,
): Promise<Answer> {
  try {
    const found: unknown = await read(call.key, call);
    if (found === undefined || (typeof found === 'object' && found !== null && 'revision' in found)) {
      return { type: 'read', found: found as ReadResult<unknown> };
    }
    throw new TypeError(`Cannot use the answer of a read of ${call.key}: it is no object with a revision`);
  } catch (error) {
    return { type: 'failed', error };
  }
}

function readOutcome(outcome: unknown, key: string): Answer {
  if (outcome === 'unchanged') return UNCHANGED;
  if (outcome === 'conflict') return { type: 'conflict', base: -1 };
  const revision: unknown =
    typeof outcome === 'object' && outcome !== null ? Reflect.get(outcome, 'revision') : undefined;
  if (typeof revision === 'number' && Number.isSafeInteger(revision) && revision >= 0)
    return { type: 'written', revision };
  throw new TypeError(
    `Cannot use the outcome of a write of ${key}: it is neither an object with a revision, nor conflict, nor unchanged`,
  );
}

const UNCHANGED: Answer = Object.freeze({ type: 'unchanged' });

export function noAnswer(key: string, timeoutMs: number): BackendError {
  return new BackendError(`write ${key}`, `no answer within ${timeoutMs} ms`, { maybeCommitted: true });
}
