import { member } from './api-status.ts';
import { identify, isMalformed } from './object-identity.ts';
import type { WatchLine } from './transport.ts';

const END_MARK = 'k8s.io/initial-events-end';

/**
 * A list that comes as events (IN19): kept until the mark that ends it, since only all of it is a list. What happens meanwhile may come
 * among it.
 */
export class InitialEvents {
  readonly #byUid = new Map<string, unknown>();
  readonly #malformed: unknown[] = [];

  /** Returns whether the line was a part of it. */
  take({ type, object }: WatchLine): boolean {
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return false;
    const identity = identify(object);
    if (isMalformed(identity)) this.#malformed.push(object);
    else if (type === 'DELETED') this.#byUid.delete(identity.uid);
    else this.#byUid.set(identity.uid, object);
    return true;
  }

  /** In pages; those that are no objects as they came, for the list to say so. */
  *pages(limit: number): Generator<readonly unknown[], void, undefined> {
    const items = [...this.#malformed, ...this.#byUid.values()];
    for (let from = 0; from < items.length; from += limit) yield items.slice(from, from + limit);
  }
}

/** Whether a bookmark says that the objects have all come. */
export function isEndMark(bookmark: unknown): boolean {
  return member(member(member(bookmark, 'metadata'), 'annotations'), END_MARK) === 'true';
}

/** Of a bookmark; `undefined` if it has none. */
export function versionOf(bookmark: unknown): string | undefined {
  const version = member(member(bookmark, 'metadata'), 'resourceVersion');
  return typeof version === 'string' && version !== '' ? version : undefined;
}
