import {
  ExpiredError,
  ObjectNotFoundError,
  PreconditionError,
  ResourceVersionTooLargeError,
  StorageError,
  UpdateConflictError,
} from '../../storage/errors.ts';
import { ClosedError, LimitExceededError, StoreFullError, ValueError } from '../../types/errors.ts';
import { type ApiStatus, conflict, failure, notFound, preconditionFailed, RequestRefused } from './api-status.ts';
import type { ServedKind } from './kinds.ts';

/** What a request was about, as far as that is known. */
export interface Subject {
  readonly kind: ServedKind;
  readonly name: string | undefined;
}

/** Limits of a store on what there is at one time. */
const AT_A_TIME: ReadonlySet<string> = new Set(['leases', 'pins', 'watches']);

/**
 * What a client is told of an error. Nothing becomes an empty answer: what has no status of its own is a 500 with its message.
 */
export function statusOf(error: unknown, subject: Subject | undefined): ApiStatus {
  if (error instanceof RequestRefused) return error.status;
  if (error instanceof StorageError) return ofStorage(error, subject);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ClosedError) return failure(503, message);
  // Too many of something at a time is over some time; too large stays so.
  if (error instanceof LimitExceededError && AT_A_TIME.has(error.limit)) return tooMany(message);
  if (error instanceof LimitExceededError) return failure(413, message);
  // One with a key is of what is stored, not of what was sent.
  if (error instanceof ValueError && error.key === undefined) return failure(400, message);
  if (error instanceof StoreFullError) return tooMany(message);
  return failure(500, `Internal error occurred: ${message}`, { details: { causes: [{ message }] } });
}

function tooMany(message: string): ApiStatus {
  return failure(429, message, { details: { retryAfterSeconds: 1 } });
}

function ofStorage(error: StorageError, subject: Subject | undefined): ApiStatus {
  if (error instanceof ExpiredError) {
    const { resourceVersion, continue: token } = error;
    const which = resourceVersion === '' ? '' : `: ${resourceVersion}`;
    // Older clients know it by these words.
    const message =
      token === undefined
        ? `too old resource version${which}`
        : 'The provided continue parameter is too old: list again, or go on with the continue of this answer, at a newer state';
    return failure(410, message, token === undefined ? {} : { continue: token });
  }
  if (error instanceof ResourceVersionTooLargeError) {
    const { details } = error.toStatus();
    const { resourceVersion, currentResourceVersion } = error;
    const message = `Too large resource version: ${resourceVersion}, current: ${currentResourceVersion}`;
    return failure(504, message, details === undefined ? {} : { details });
  }
  if (subject?.name !== undefined) {
    const { kind, name } = subject;
    if (error instanceof ObjectNotFoundError) return notFound(kind, name).status;
    if (error instanceof PreconditionError) return preconditionFailed(kind, name, error).status;
    if (error instanceof UpdateConflictError) return conflict(kind, name, 'it was written by others each time').status;
  }
  const { httpStatus, reason, retryAfterSeconds } = error;
  return failure(httpStatus, error.message, {
    reason,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  });
}
