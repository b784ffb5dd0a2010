import type { KeyValue, Revision } from '../types/revision.ts';
import { type KeyInterval, successor } from './keys.ts';
import { objectOf } from './objects.ts';
import type { KubernetesObject } from './types.ts';

/** Rows of an interval at one revision, ascending. */
export interface RowsRequest extends KeyInterval {
  readonly revision: Revision;
  /** 0 is no limit. */
  readonly limit: number;
}

export interface Rows<O> {
  readonly kvs: readonly Pick<KeyValue<O>, 'key' | 'value' | 'modRevision'>[];
  /** Keys in the interval, before the limit. */
  readonly count: number;
}

export interface Page<O> {
  readonly items: readonly O[];
  /** The first key that may be in the rest; `undefined` if there is none. */
  readonly next: string | undefined;
  /** How many are left; `undefined` where a predicate would have to say. */
  readonly remaining: number | undefined;
}

/** No more rows than so many are asked for at a time. */
const ROWS_MAX = 10_000;

/**
 * Fills a page: asks for rows, and for twice as many again while a predicate leaves too few of them (K11). Who runs it
 * answers each request, at once or later; the revision is the same for all.
 */
export function* collect<O extends KubernetesObject>(
  request: RowsRequest,
  predicate: ((object: O) => boolean) | undefined,
): Generator<RowsRequest, Page<O>, Rows<O>> {
  const { end, revision, limit } = request;
  let { start } = request;
  const items: O[] = [];
  for (let chunk = limit; ; chunk = Math.min(chunk * 2, Math.max(limit, ROWS_MAX))) {
    const { kvs, count } = yield { start, end, revision, limit: chunk };
    for (const { key, value, modRevision } of kvs) {
      // There is another row, which may match or not.
      if (limit > 0 && items.length === limit) return { items, next: start, remaining: undefined };
      start = successor(key);
      const object = objectOf(value, modRevision, key);
      if (predicate === undefined || predicate(object)) items.push(object);
    }
    if (count <= kvs.length) return { items, next: undefined, remaining: undefined };
    if (limit > 0 && items.length >= limit) {
      return { items, next: start, remaining: predicate === undefined ? count - kvs.length : undefined };
    }
  }
}
