import { UnsupportedError } from '../types/errors.ts';
import type { Patch } from '../types/patch.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { ObjectSource, SourceObject, SourcePatch, SourcePatchResult, SourceWatchItem } from '../types/source.ts';
import { diffJson } from './json-diff.ts';
import { keepRecords } from './kept-records.ts';
import { applyPatches } from './patch.ts';
import type { ProgressStore } from './progress.ts';

/**
 * The source as a controller sees it whose records are on the objects: without them, so that no view, however it is made,
 * changes by a record (A42'). Versions are as they are. Patches are of what is shown, and leave the records as they are.
 */
export function concealedSource<T>(source: ObjectSource<T>, progress: ProgressStore | undefined): ObjectSource<T> {
  const conceal = progress?.conceal;
  if (conceal === undefined) return source;
  const shown = (state: SourceObject<T>): SourceObject<T> => {
    const object = conceal(state.object);
    // What is left of a T without what only the progress store has written into it is a T as its owner made it.
    return object === state.object ? state : { ...state, object: object as T };
  };
  const { owns, patch } = source;
  const reaches = (one: Patch): boolean => progress?.reachesRecords?.(one) ?? true;
  /** Sent in the same turn: nothing is heard of the object between the decision to patch it and that. */
  const send = async (change: SourcePatch, options: SignalOptions): Promise<SourcePatchResult<T>> => {
    if (patch === undefined) throw new UnsupportedError('patch an object', 'patching by its source');
    const result = await patch.call(source, change, options);
    return result.type === 'patched' ? { ...result, object: shown(result.object) } : result;
  };
  /** Sends what it comes to for the whole object: records, and what they are in, stay. */
  const sendWhole = async (change: SourcePatch, options: SignalOptions): Promise<SourcePatchResult<T>> => {
    const { name, uid, resourceVersion, patches } = change;
    const found = await source.get(name, options);
    if (found?.uid !== uid) return { type: 'gone' };
    if (found.resourceVersion !== resourceVersion) return { type: 'conflict' };
    const before = conceal(found.object);
    const next = conceal(applyPatches(before, patches));
    const operations = diffJson(found.object, keepRecords(`patch ${JSON.stringify(name)}`, found.object, before, next));
    return send({ ...change, patches: operations.length === 0 ? [] : [operations] }, options);
  };
  return {
    ...(source.hasFinalizers === undefined ? {} : { hasFinalizers: source.hasFinalizers }),
    compare: (a, b) => source.compare(a, b),
    async list(options) {
      const { resourceVersion, items } = await source.list(options);
      return { resourceVersion, items: items.map(shown) };
    },
    async get(name, options) {
      const found = await source.get(name, options);
      return found && shown(found);
    },
    async *watch(options): AsyncGenerator<SourceWatchItem<T>, void, undefined> {
      for await (const item of source.watch(options)) {
        yield item.type === 'added' || item.type === 'modified' ? { ...item, object: shown(item.object) } : item;
      }
    },
    ...(owns === undefined ? {} : { owns: (uid: string) => owns.call(source, uid) }),
    ...(patch === undefined
      ? {}
      : {
          patch: (change, options) => (change.patches.some(reaches) ? sendWhole : send)(change, options),
        }),
  };
}
