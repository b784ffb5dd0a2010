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
  userEmpty: 'user name is empty',
  authFailed: 'authentication failed',
  denied: 'permission denied',
  authNotEnabled: 'authentication is not enabled',
  tooLarge: 'request is too large',
  noSpace: 'database space exceeded',
} as const;

/** Sentences after which the same member, or any, will not say anything else: somebody has to do something. */
const PERMANENT: readonly EtcdKind[] = ['authFailed', 'denied', 'userEmpty', 'authNotEnabled', 'tooLarge'];

/** Errors of a connection that was never made, by Node, Deno and Bun: nothing was sent. */
const NOT_SENT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ConnectionRefused|connection refused|dns error|CERT_|certificate|self.signed/i;
/** Of those, the ones that trying again does not mend. */
const BAD_CERTIFICATE = /CERT_|certificate|self.signed/i;

/** Whether a request has certainly not reached anybody. */
export function wasNotSent(error: unknown): boolean {
  return NOT_SENT.test(textOf(error));
}

/** As an error of the contract, with the member that was asked. */
export function backendError(
  action: string,
  endpoint: string,
  error: unknown,
  { maybeCommitted = false }: { readonly maybeCommitted?: boolean } = {},
): Error {
  if (error instanceof PlimsollError) return error;
  if (error instanceof EtcdRefusal) {
    const permanent = PERMANENT.some((kind) => error.is(kind));
    return new BackendError(action, `${endpoint} says: ${error.message}`, { cause: error, permanent });
  }
  const text = textOf(error);
  const permanent = BAD_CERTIFICATE.test(text);
  return new BackendError(action, `${endpoint} cannot be reached (${text})`, {
    cause: error,
    permanent,
    maybeCommitted: maybeCommitted && !wasNotSent(error),
  });
}

/** `fetch` tells what happened in the cause, and in the cause of that. */
function textOf(error: unknown): string {
  const parts: string[] = [];
  for (let one: unknown = error, depth = 0; one instanceof Error && depth < 4; one = one.cause, depth++) {
    const { code } = one as { readonly code?: unknown };
    parts.push(typeof code === 'string' ? `${code} ${one.message}` : one.message);
  }
  return parts.length === 0 ? String(error) : parts.join(': ');
}
