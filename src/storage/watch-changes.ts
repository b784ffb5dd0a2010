import { CompactedError } from '../types/errors.ts';
import type { WatchBatch } from '../types/event.ts';
import type { KeyValue, Revision } from '../types/revision.ts';
import { objectOf } from './objects.ts';
import type { KubernetesObject, StorageWatchEvent } from './types.ts';

/** One change of one key, not yet judged by a predicate. */
export interface Change<O> {
  readonly key: string;
  /** What its event shows. */
  readonly revision: Revision;
  readonly now: O | undefined;
  readonly before: O | undefined;
}

/**
 * The changes of a batch, in an order and with resource versions that can be resumed from: who has seen one event at R, and
 * goes on after R, misses nothing. (But for several keys of one commit, which share their R: they come together.)
 *
 * ```text
 *   one commit                        all at its revision
 *   initial state                     by mod revision: what is left is newer than what was delivered
 *   span (after 9, revision 30]       by mod revision; inside of it, 11 to 29, no watch can start (M12), so who stops
 *     put a, mod 12          12       there is told to list again
 *     b is gone              29       somewhere within; the last event of all is at 30
 *     c, gone and new at 20  19, 20   a DELETED, then an ADDED
 * ```
 *
 * Throws `CompactedError` when compaction has taken a state before: without it nobody knows what the change was.
 */
export function changesOf<O>(batch: WatchBatch<O>): readonly Change<O>[] {
  if (batch.initial !== true && batch.span !== true) return batch.events.flatMap((event) => commitChange(event));
  const { revision, after = revision - 1 } = batch;
  const deletedAt = Math.max(after + 1, revision - 1);
  const changes: Change<O>[] = batch.events.flatMap((event): readonly Change<O>[] => {
    const { key } = event.kv;
    const before = event.prevKv;
    if (event.type === 'delete') return [{ key, revision: deletedAt, now: undefined, before: before?.value }];
    const { value, createRevision, modRevision } = event.kv;
    if (before === undefined || before.createRevision === createRevision) {
      return [{ key, revision: modRevision, now: value, before: before?.value }];
    }
    return [
      { key, revision: createRevision - 1, now: undefined, before: before.value },
      { key, revision: modRevision, now: value, before: undefined },
    ];
  });
  changes.sort((a, b) => a.revision - b.revision);
  const last = changes.at(-1);
  if (last !== undefined && last.now === undefined) changes[changes.length - 1] = { ...last, revision };
  return changes;
}

function commitChange<O>(event: WatchBatch<O>['events'][number]): Change<O> {
  const { key, modRevision } = event.kv;
  const before: KeyValue<O> | undefined = event.prevKv;
  const isNew = event.type === 'put' && event.kv.version === 1;
  if (before === undefined && !isNew) {
    throw new CompactedError('watch objects', { minRevision: modRevision + 1, compactRevision: modRevision });
  }
  return { key, revision: modRevision, now: event.type === 'put' ? event.kv.value : undefined, before: before?.value };
}

/** What a watch with a predicate is told of a change (K20); `undefined` for nothing. */
export function eventOf<O extends KubernetesObject>(
  { key, revision, now, before }: Change<O>,
  predicate: ((object: O) => boolean) | undefined,
): StorageWatchEvent<O> | undefined {
  const matching = (value: O | undefined) => {
    if (value === undefined) return undefined;
    const object = objectOf(value, revision, key);
    return predicate === undefined || predicate(object) ? object : undefined;
  };
  const is = matching(now);
  const was = matching(before);
  if (is !== undefined) return Object.freeze({ type: was === undefined ? 'ADDED' : 'MODIFIED', object: is });
  return was === undefined ? undefined : Object.freeze({ type: 'DELETED', object: was });
}
