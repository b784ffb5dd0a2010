import type { ApiStatus } from './api-status.ts';

export function json(body: object, code: number, headers: Readonly<Record<string, string>> = {}): Response {
  const all = { 'content-type': 'application/json', 'cache-control': 'no-cache, private', ...headers };
  return new Response(JSON.stringify(body), { status: code, headers: all });
}

/** A status as an answer, with what HTTP says of it. */
export function statusResponse(status: ApiStatus): Response {
  const seconds = status.details?.retryAfterSeconds;
  return json(status, status.code, seconds === undefined ? {} : { 'retry-after': String(seconds) });
}
