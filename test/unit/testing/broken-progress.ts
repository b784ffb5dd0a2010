import type { Backend, BackendWatchItem } from '../../../src/types/backend.ts';
import { type BrokenBackend, type ByteStore, withStreams, wrap } from './broken-backend.ts';

export const BROKEN_PROGRESS: readonly BrokenBackend[] = [
  {
    fault: 'progress comes before the changes that it proves',
    rule: 'B5',
    caughtBy: 'progress comes behind',
    make: (backend, data) =>
      wrap(backend, {
        watch: (request) => {
          let isWanted = false;
          const stream = backend.watch(request);
          return {
            requestProgress: () => {
              isWanted = true;
              stream.requestProgress?.();
            },
            async *[Symbol.asyncIterator]() {
              for await (const item of stream) {
                if (isWanted && item.type === 'change') yield { type: 'progress', revision: data.revision };
                isWanted = false;
                yield item;
              }
            },
          };
        },
      }),
  },
  {
    fault: 'progress that is asked for overtakes the changes that a slow consumer has left',
    rule: 'B5',
    caughtBy: 'progress that is asked for while the consumer is behind',
    make: (backend, data) => hurried(backend, (waiting) => waiting.revision + 2 < data.revision, data),
  },
  {
    fault: 'progress that is asked for overtakes the one change that waits',
    rule: 'B5',
    caughtBy: 'progress that is asked for while the consumer is behind',
    make: (backend, data) => hurried(backend, () => true, data),
  },
  {
    fault: 'progress is never told on a quiet range',
    rule: 'B5',
    caughtBy: 'progress comes on a quiet range',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        let isQuiet = true;
        for await (const item of items) {
          isQuiet &&= item.type !== 'change';
          if (item.type !== 'progress' || !isQuiet) yield item;
        }
      }),
  },
];

/** The first answer to a question about progress comes before a change that waits, if it is one of those. */
function hurried(backend: Backend, isOvertaken: (waiting: BackendWatchItem) => boolean, data: ByteStore): Backend {
  return wrap(backend, {
    watch: (request) => {
      let isWanted = false;
      const stream = backend.watch(request);
      return {
        requestProgress: () => {
          isWanted = true;
          stream.requestProgress?.();
        },
        async *[Symbol.asyncIterator]() {
          for await (const item of stream) {
            if (isWanted && item.type === 'change' && isOvertaken(item)) {
              isWanted = false;
              yield { type: 'progress', revision: data.revision };
            }
            yield item;
          }
        },
      };
    },
  });
}
