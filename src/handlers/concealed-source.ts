import type { ObjectSource, SourceObject, SourceWatchItem } from '../types/source.ts';
import type { ProgressStore } from './progress.ts';

/**
 * The source as a controller sees it whose records are on the objects: without them, so that no view, however it is made,
 * changes by a record (A42'). Versions are as they are.
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
          async patch(change, options) {
            const result = await patch.call(source, change, options);
            return result.type === 'patched' ? { ...result, object: shown(result.object) } : result;
          },
        }),
  };
}
