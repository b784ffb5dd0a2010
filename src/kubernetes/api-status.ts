import { ApiStatusError } from './errors.ts';

/** What an answer over HTTP says beside its body. */
export interface AnsweredStatus {
  readonly httpStatus: number;
  /** The header `Retry-After`: seconds, or a date. */
  readonly retryAfter?: string | null;
  /** Of now, in ms, for a date. */
  readonly wallTimeMs?: number;
}

/**
 * The error of a Status: the body of an answer, or the object of an ERROR event. What has no form of a Status at all, as the page of a
 * proxy, gives what HTTP alone says.
 */
export function statusError(action: string, status: unknown, answered?: AnsweredStatus): ApiStatusError {
  const details = member(status, 'details');
  const code = member(status, 'code');
  const seconds = member(details, 'retryAfterSeconds');
  return new ApiStatusError(action, textOf(member(status, 'message')), {
    // An answer's own status counts: a proxy may have put it there.
    httpStatus: answered?.httpStatus ?? (typeof code === 'number' ? code : 0),
    reason: textOf(member(status, 'reason')),
    retryAfterMs: headerMs(answered) ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined),
    continue: tokenOf(member(member(status, 'metadata'), 'continue')),
    causes: causesOf(member(details, 'causes')),
  });
}

function headerMs({ retryAfter, wallTimeMs = 0 }: Partial<AnsweredStatus> = {}): number | undefined {
  if (retryAfter === undefined || retryAfter === null || retryAfter.trim() === '') return undefined;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, at - wallTimeMs);
}

function causesOf(causes: unknown): readonly string[] {
  if (!Array.isArray(causes)) return [];
  return causes.map((one: unknown) => textOf(member(one, 'reason'))).filter((reason) => reason !== '');
}

const TEXT_MAX = 500;

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, TEXT_MAX) : '';
}

/** A token is whole, or none at all: what is cut off would be asked for again and again. It has to go into an address. */
const TOKEN_MAX = 16_384;

function tokenOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= TOKEN_MAX ? value : undefined;
}

/** A member of what may be anything. */
export function member(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
}
