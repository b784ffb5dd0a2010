import { PlimsollError } from '../types/errors.ts';

/** Kubernetes' own answer to what failed: `metav1.Status`, as an API server sends it. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: StatusReason;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason: string; readonly message: string }[];
  };
  readonly code: number;
}

export type StatusReason =
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'NotFound'
  | 'Timeout'
  | 'TooManyRequests';

/**
 * What a {@link Storage} refuses, in Kubernetes' words: each has the HTTP status, the reason, and the whole `Status` that an
 * API server answers with.
 *
 * | class | `code` | `httpStatus`, `reason` | again? |
 * |---|---|---|---|
 * | ExpiredError | `EXPIRED` | 410 Expired | after a new list, or with its `continue` |
 * | ResourceVersionTooLargeError | `RESOURCE_VERSION_TOO_LARGE` | 504 Timeout | after `retryAfterSeconds` |
 * | KeyExistsError | `KEY_EXISTS` | 409 AlreadyExists | no |
 * | ObjectNotFoundError | `OBJECT_NOT_FOUND` | 404 NotFound | no |
 * | PreconditionError | `PRECONDITION` | 409 Conflict | after a new read |
 * | UpdateConflictError | `UPDATE_CONFLICT` | 409 Conflict | yes |
 * | BadRequestError | `BAD_REQUEST` | 400 BadRequest | no |
 * | TooManyRequestsError | `TOO_MANY_REQUESTS` | 429 TooManyRequests | after `retryAfterSeconds` |
 *
 * An argument of the wrong type is the platform's TypeError, as everywhere; errors of the store that say more than a status
 * could (`BackendError`, `NotAppliedError`, `StoreFullError`, `ValueError`, `ClosedError`) come as they are.
 */
export class StorageError extends PlimsollError {
  /** The `code` of an answer over HTTP. */
  readonly httpStatus: number;
  readonly reason: StatusReason;
  /** After how many seconds to try again; `undefined` where that alone does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, facts: StatusFacts) {
    super(code, message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.httpStatus = facts.httpStatus;
    this.reason = facts.reason;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }

  /** The answer of an API server. */
  toStatus(): Status {
    const { retryAfterSeconds } = this;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
      code: this.httpStatus,
    };
  }
}

interface StatusFacts {
  readonly httpStatus: number;
  readonly reason: StatusReason;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * The history that a list or a watch asked for is gone (K04, K10). Of a list that was continued, `continue` is a fresh token:
 * it reads the rest of the list at the newest state, which may be another than that of the pages before.
 */
export class ExpiredError extends StorageError {
  override readonly name: string = 'ExpiredError';
  declare readonly code: 'EXPIRED';
  /** What was asked for; '' for the position of a watch that lagged. */
  readonly resourceVersion: string;
  readonly continue: string | undefined;

  constructor(action: string, facts: { resourceVersion: string; continue?: string; cause?: unknown }) {
    const { resourceVersion, cause } = facts;
    const which = resourceVersion === '' ? 'the position' : `resource version ${resourceVersion}`;
    const rest =
      facts.continue === undefined ? 'list again' : 'list again, or go on with the token given, at another state';
    super('EXPIRED', `Cannot ${action}: ${which} is too old, ${rest}`, { httpStatus: 410, reason: 'Expired', cause });
    this.resourceVersion = resourceVersion;
    this.continue = facts.continue;
  }

  override toStatus(): Status {
    return { ...super.toStatus(), metadata: this.continue === undefined ? {} : { continue: this.continue } };
  }
}

/** The state is not as new as was asked for, and did not become so in time (K03, K04). */
export class ResourceVersionTooLargeError extends StorageError {
  override readonly name: string = 'ResourceVersionTooLargeError';
  declare readonly code: 'RESOURCE_VERSION_TOO_LARGE';
  declare readonly retryAfterSeconds: number;
  readonly resourceVersion: string;
  /** That of the state there is. */
  readonly currentResourceVersion: string;

  constructor(action: string, facts: { resourceVersion: string; currentResourceVersion: string; cause?: unknown }) {
    const { resourceVersion, currentResourceVersion, cause } = facts;
    super(
      'RESOURCE_VERSION_TOO_LARGE',
      `Cannot ${action}: Too large resource version: ${resourceVersion}, current: ${currentResourceVersion}`,
      { httpStatus: 504, reason: 'Timeout', retryAfterSeconds: 1, cause },
    );
    this.resourceVersion = resourceVersion;
    this.currentResourceVersion = currentResourceVersion;
  }

  /** With the cause by which Kubernetes' clients tell this timeout from others. */
  override toStatus(): Status {
    const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
    return { ...super.toStatus(), details: { retryAfterSeconds: this.retryAfterSeconds, causes } };
  }
}

/** `create` of an object that is there (K23). */
export class KeyExistsError extends StorageError {
  override readonly name: string = 'KeyExistsError';
  declare readonly code: 'KEY_EXISTS';
  readonly key: string;
  /** That of the object that is there. */
  readonly resourceVersion: string;

  constructor(action: string, facts: { key: string; resourceVersion: string; cause?: unknown }) {
    const { key, resourceVersion, cause } = facts;
    super('KEY_EXISTS', `Cannot ${action}: ${JSON.stringify(key)} exists, at resource version ${resourceVersion}`, {
      httpStatus: 409,
      reason: 'AlreadyExists',
      cause,
    });
    this.key = key;
    this.resourceVersion = resourceVersion;
  }
}

/** No object has this key. */
export class ObjectNotFoundError extends StorageError {
  override readonly name: string = 'ObjectNotFoundError';
  declare readonly code: 'OBJECT_NOT_FOUND';
  readonly key: string;

  constructor(action: string, key: string) {
    super('OBJECT_NOT_FOUND', `Cannot ${action}: ${JSON.stringify(key)} is not there`, {
      httpStatus: 404,
      reason: 'NotFound',
    });
    this.key = key;
  }
}

/** The object is another one than the caller means (K24, K25). Nothing was written. */
export class PreconditionError extends StorageError {
  override readonly name: string = 'PreconditionError';
  declare readonly code: 'PRECONDITION';
  readonly key: string;
  readonly precondition: 'uid' | 'resourceVersion';
  readonly expected: string;
  /** '' if the object has none. */
  readonly actual: string;

  constructor(
    action: string,
    facts: { key: string; precondition: 'uid' | 'resourceVersion'; expected: string; actual: string },
  ) {
    const { key, precondition, expected, actual } = facts;
    const what = `${precondition} in precondition: ${expected}, in object: ${actual}`;
    super('PRECONDITION', `Cannot ${action}: Precondition failed: ${what}`, { httpStatus: 409, reason: 'Conflict' });
    this.key = key;
    this.precondition = precondition;
    this.expected = expected;
    this.actual = actual;
  }
}

/** Others wrote the object each time that this call tried. Nothing was written. */
export class UpdateConflictError extends StorageError {
  override readonly name: string = 'UpdateConflictError';
  declare readonly code: 'UPDATE_CONFLICT';
  readonly key: string;
  readonly attempts: number;

  constructor(action: string, facts: { key: string; attempts: number; cause: unknown }) {
    const { key, attempts, cause } = facts;
    super('UPDATE_CONFLICT', `Cannot ${action}: ${JSON.stringify(key)} was written by others ${attempts} times`, {
      httpStatus: 409,
      reason: 'Conflict',
      cause,
    });
    this.key = key;
    this.attempts = attempts;
  }
}

/** A request that cannot be (K07). */
export class BadRequestError extends StorageError {
  override readonly name: string = 'BadRequestError';
  declare readonly code: 'BAD_REQUEST';

  constructor(action: string, why: string, cause?: unknown) {
    super('BAD_REQUEST', `Cannot ${action}: ${why}`, { httpStatus: 400, reason: 'BadRequest', cause });
  }
}

/** A bound is reached, or nothing can be read yet (K27). */
export class TooManyRequestsError extends StorageError {
  override readonly name: string = 'TooManyRequestsError';
  declare readonly code: 'TOO_MANY_REQUESTS';
  declare readonly retryAfterSeconds: number;

  constructor(action: string, why: string, cause?: unknown) {
    super('TOO_MANY_REQUESTS', `Cannot ${action}: ${why}`, {
      httpStatus: 429,
      reason: 'TooManyRequests',
      retryAfterSeconds: 1,
      cause,
    });
  }
}
