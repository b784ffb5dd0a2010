import { BackendError, PlimsollError } from '../../types/errors.ts';

/** What etcd said, in its own words: the gateway's codes do not tell all of them apart. */
export class EtcdRefusal extends Error {
  override readonly name: string = 'EtcdRefusal';
  readonly endpoint: string;
  /** Of gRPC, 0 if there was none. */
  readonly code: number;

  constructor(endpoint: string, message: string, code: number) {
    super(message);
    this.endpoint = endpoint;
    this.code = code;
  }

  /** By the sentence, which is the same in every version since 3.0. */
  is(kind: EtcdKind): boolean {
    return this.message.includes(SENTENCES[kind]);
  }

  /**
   * Whether it proves that nothing was done, and the next member would say the same. All else may have been said of a write
   * that is committed, or still will be: "request timed out", "leader changed", whatever has no sentence of its own.
   */
  get isCertain(): boolean {
    // The member that applies a write notices a full database only after it; the same words are said before one, too.
    if (this.is('noSpace')) return false;
    const isSaid = (Object.keys(SENTENCES) as EtcdKind[]).some((kind) => this.is(kind));
    return isSaid || (CERTAIN_CODES.has(this.code) && this.message.includes('etcdserver: '));
  }

  /** What a new token mends. etcd's own client gets one after the same three. */
  get isAboutToken(): boolean {
    return TOKEN.some((kind) => this.is(kind));
  }
}

export type EtcdKind = keyof typeof SENTENCES;

/** Sentences of etcd's errors (api/v3rpc/rpctypes/error.go in etcd-io/etcd), as far as they mean something here. */
const SENTENCES = {
  compacted: 'required revision has been compacted',
  future: 'required revision is a future revision',
  leaseNotFound: 'requested lease not found',
  leaseExists: 'lease already exists',
  keyNotFound: 'key not found',
  tooManyOperations: 'too many operations',
  duplicateKey: 'duplicate key given',
  tokenInvalid: 'invalid auth token',
  tokenOld: 'revision of auth store is old',
  /** The same before it had a code of its own. */
  tokenOldUncoded: 'auth: revision in header is old',
  userEmpty: 'user name is empty',
  authFailed: 'authentication failed',
  denied: 'permission denied',
  authNotEnabled: 'authentication is not enabled',
  tooLarge: 'request is too large',
  /** A member that is behind with applying takes no writes; it has not passed this one on. */
  tooManyRequests: 'too many requests',
  noSpace: 'database space exceeded',
} as const;

/** INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED. */
const CERTAIN_CODES: ReadonlySet<number> = new Set([3, 5, 6, 7, 9, 11, 12, 16]);

const TOKEN: readonly EtcdKind[] = ['tokenInvalid', 'tokenOld', 'tokenOldUncoded', 'userEmpty'];

/** Sentences after which the same member, or any, will not say anything else: somebody has to do something. */
const PERMANENT: readonly EtcdKind[] = ['authFailed', 'denied', 'userEmpty', 'authNotEnabled', 'tooLarge'];

/** An answer that is not one of etcd's: a proxy's page, half a text, another server's JSON. The message says what is wrong. */
export class Unreadable extends Error {
  override readonly name: string = 'Unreadable';
}

/** An answer above the bound, or the part of one that was read. */
export class TooLarge extends Error {
  override readonly name: string = 'TooLarge';

  constructor(bytesMax: number) {
    super(`an answer of more than ${bytesMax} bytes (answerBytesMax)`);
  }
}

/** A member's time is over. */
export class Silent extends Error {
  override readonly name: string = 'Silent';

  constructor(endpoint: string) {
    super(`${endpoint} is silent`);
  }
}

/** What went wrong before the request itself was sent: its cause. */
export class NotSent extends Error {
  override readonly name: string = 'NotSent';

  constructor(cause: unknown) {
    super('not sent', { cause });
  }
}

/** Errors of a connection that was never made, by Node, Deno and Bun: nothing was sent. */
const NOT_SENT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ConnectionRefused|connection refused|dns error|CERT_|certificate|self.signed/i;
/** Of those, the ones that trying again does not mend. */
const BAD_CERTIFICATE = /CERT_|certificate|self.signed/i;

const AFTER_IT = [EtcdRefusal, Unreadable, TooLarge, Silent, PlimsollError] as const;

/** Whether a request has certainly not reached anybody. An answer of any kind proves the opposite, whatever it says. */
export function wasNotSent(error: unknown): boolean {
  if (error instanceof NotSent) return true;
  // These are told after it was sent, and may quote what a proxy said of its own connection.
  if (AFTER_IT.some((kind) => error instanceof kind)) return false;
  return NOT_SENT.test(textOf(error));
}

/** As an error of the contract, with the member that was asked. Of a write `maybeCommitted`, unless the error proves it was not. */
export function backendError(
  action: string,
  endpoint: string,
  error: unknown,
  { isWrite = false }: { readonly isWrite?: boolean } = {},
): BackendError {
  if (error instanceof BackendError) return error;
  if (error instanceof NotSent) return backendError(action, endpoint, error.cause);
  const maybeCommitted = isWrite && !wasNotSent(error);
  if (error instanceof EtcdRefusal) {
    const permanent = PERMANENT.some((kind) => error.is(kind));
    const options = { cause: error, permanent, maybeCommitted: maybeCommitted && !error.isCertain };
    return new BackendError(action, `${endpoint} says: ${error.message}`, options);
  }
  if (error instanceof Unreadable) {
    const reason = `${endpoint} did not answer as etcd does (${error.message})`;
    return new BackendError(action, reason, { cause: error, maybeCommitted });
  }
  if (error instanceof Silent) return new BackendError(action, error.message, { cause: error, maybeCommitted });
  if (error instanceof TooLarge) {
    return new BackendError(action, `${endpoint} has ${error.message}`, {
      cause: error,
      maybeCommitted,
      permanent: true,
    });
  }
  const text = textOf(error);
  const permanent = BAD_CERTIFICATE.test(text);
  return new BackendError(action, `${endpoint} cannot be reached (${text})`, {
    cause: error,
    permanent,
    maybeCommitted,
  });
}

/** One error of what each member that was asked came to. Permanent if none of them can be mended by trying again. */
export function allFailed(action: string, failures: readonly BackendError[], timeoutMs: number): BackendError {
  const last = failures.at(-1);
  const [only] = failures;
  if (last === undefined || only === undefined) return new BackendError(action, 'there is no member to ask');
  const isLate = last.cause instanceof Silent;
  if (failures.length === 1 && !isLate) return only;
  const told = failures.map(({ message }) => message.replace(`Cannot ${action}: `, '')).join('; ');
  return new BackendError(action, isLate ? `etcd has not answered within ${timeoutMs} ms (${told})` : told, {
    cause: failures.length === 1 ? last.cause : new AggregateError(failures, 'no member has answered'),
    permanent: failures.every(({ permanent }) => permanent),
    maybeCommitted: last.maybeCommitted,
  });
}

/** `fetch` tells what happened in the cause, and in the cause of that. */
export function textOf(error: unknown): string {
  const parts: string[] = [];
  for (let one: unknown = error, depth = 0; one instanceof Error && depth < 4; one = one.cause, depth++) {
    const { code } = one as { readonly code?: unknown };
    parts.push(typeof code === 'string' ? `${code} ${one.message}` : one.message);
  }
  return parts.length === 0 ? String(error) : parts.join(': ');
}
