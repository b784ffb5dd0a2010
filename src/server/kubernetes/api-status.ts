import { qualifiedName, type ServedKind } from './kinds.ts';

/** `metav1.Status`: what an API server answers instead of an object. */
export interface ApiStatus {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** Kubernetes has the plural of the resource here. */
  readonly kind?: string;
  readonly uid?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly StatusCause[];
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The reason that Kubernetes gives with a code, where a fault says none. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export function reasonOf(code: number): string {
  return REASONS[code] ?? 'Unknown';
}

export function failure(
  code: number,
  message: string,
  more: { readonly reason?: string; readonly details?: StatusDetails; readonly continue?: string } = {},
): ApiStatus {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: more.continue === undefined ? {} : { continue: more.continue },
    status: 'Failure',
    message,
    reason: more.reason ?? reasonOf(code),
    ...(more.details === undefined ? {} : { details: more.details }),
    code,
  };
}

/** A request that is refused: thrown inside the server only, on the way to its answer. */
export class RequestRefused extends Error {
  override readonly name: string = 'RequestRefused';
  readonly status: ApiStatus;

  constructor(status: ApiStatus) {
    super(status.message);
    this.status = status;
  }
}

export function refuse(code: number, message: string, details?: StatusDetails): RequestRefused {
  return new RequestRefused(failure(code, message, details === undefined ? {} : { details }));
}

/** What a request is about, for the details of its refusal. */
export function detailsOf({ group, plural }: ServedKind, name: string | undefined): StatusDetails {
  return { ...(name === undefined ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural };
}

export function notFound(kind: ServedKind, name: string): RequestRefused {
  return refuse(404, `${kind.resource} "${name}" not found`, detailsOf(kind, name));
}

export function alreadyExists(kind: ServedKind, name: string): RequestRefused {
  const more = { reason: 'AlreadyExists', details: detailsOf(kind, name) };
  return new RequestRefused(failure(409, `${kind.resource} "${name}" already exists`, more));
}

export function conflict(kind: ServedKind, name: string, why: string): RequestRefused {
  return refuse(409, `Operation cannot be fulfilled on ${kind.resource} "${name}": ${why}`, detailsOf(kind, name));
}

/** The object is another one, or in another state, than the client takes for granted. */
export function preconditionFailed(
  kind: ServedKind,
  name: string,
  facts: { readonly precondition: 'uid' | 'resourceVersion'; readonly expected: string; readonly actual: string },
): RequestRefused {
  const what = facts.precondition === 'uid' ? 'UID' : 'ResourceVersion';
  const why = `${what} in precondition: ${facts.expected}, ${what} in object meta: ${facts.actual}`;
  return conflict(kind, name, `Precondition failed: ${why}`);
}

/** 422, with what is wrong by field. */
export function invalid(
  kind: ServedKind,
  name: string,
  field: string,
  message: string,
  reason = 'FieldValueInvalid',
): RequestRefused {
  const details = {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.kind,
    causes: [{ reason, message, field }],
  };
  const qualified = qualifiedName(kind.kind, kind.group);
  return new RequestRefused(failure(422, `${qualified} "${name}" is invalid: ${field}: ${message}`, { details }));
}
