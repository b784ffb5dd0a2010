import { byteRangeHas } from '../../../src/core/key-order.ts';
import type { BackendWatchItem } from '../../../src/types/backend.ts';
import { ClosedError, CompactedError } from '../../../src/types/errors.ts';
import { type BrokenBackend, withStreams } from './broken-backend.ts';

export const BROKEN_STREAMS: readonly BrokenBackend[] = [
  {
    fault: 'the start of a stream is exclusive',
    rule: 'B4',
    caughtBy: 'the start is inclusive',
    make: (backend) =>
      withStreams(
        backend,
        (items) => items,
        (request) => ({ ...request, fromRevision: request.fromRevision + 1 }),
      ),
  },
  {
    fault: 'a stream has no open item',
    rule: 'B4',
    caughtBy: 'a stream opens',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        for await (const item of items) if (item.type !== 'open') yield item;
      }),
  },
  {
    fault: 'the open item waits for the first change',
    rule: 'B4',
    caughtBy: 'a stream opens',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        let open: BackendWatchItem | undefined;
        for await (const item of items) {
          if (item.type === 'open') open = item;
          else {
            if (open !== undefined) yield open;
            open = undefined;
            yield item;
          }
        }
      }),
  },
  {
    fault: 'the open item tells the start, not the present',
    rule: 'B4',
    caughtBy: 'a stream opens',
    make: (backend) =>
      withStreams(backend, async function* (items, { fromRevision }) {
        for await (const item of items) yield item.type === 'open' ? { ...item, revision: fromRevision } : item;
      }),
  },
  {
    fault: 'a start in the future is now',
    rule: 'B4',
    caughtBy: 'a start in the future',
    make: (backend, data) =>
      withStreams(
        backend,
        (items) => items,
        (request) => ({ ...request, fromRevision: Math.min(request.fromRevision, data.revision + 1) }),
      ),
  },
  {
    fault: 'a change comes twice',
    rule: 'B4',
    caughtBy: 'changes come as they are made',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        let count = 0;
        for await (const item of items) {
          yield item;
          if (item.type === 'change' && ++count === 30) yield item;
        }
      }),
  },
  {
    fault: 'a change is missing',
    rule: 'B4',
    caughtBy: 'changes come as they are made',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        let count = 0;
        for await (const item of items) if (item.type !== 'change' || ++count !== 30) yield item;
      }),
  },
  {
    fault: 'two changes change places',
    rule: 'B4',
    caughtBy: 'changes come as they are made',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        let held: BackendWatchItem | undefined;
        let count = 0;
        for await (const item of items) {
          if (item.type === 'change' && ++count === 30) held = item;
          else {
            yield item;
            if (held !== undefined) yield held;
            held = undefined;
          }
        }
      }),
  },
  {
    fault: 'a transaction comes in pieces',
    rule: 'B9',
    caughtBy: 'a transaction is one item',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        for await (const item of items) {
          if (item.type !== 'change') yield item;
          else for (const event of item.events) yield { ...item, events: [event] };
        }
      }),
  },
  {
    fault: 'the events of a transaction are sorted by key',
    rule: 'B9',
    caughtBy: 'a transaction is one item',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        for await (const item of items) {
          if (item.type !== 'change') yield item;
          else {
            const keyOf = (event: (typeof item.events)[number]) =>
              String(event.type === 'put' ? event.kv.key : event.key);
            yield { ...item, events: [...item.events].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
          }
        }
      }),
  },
  {
    fault: 'events from outside the ranges come along',
    rule: 'B9',
    caughtBy: 'several ranges are one stream',
    make: (backend) =>
      withStreams(
        backend,
        (items) => items,
        (request) => ({ ...request, ranges: [{ start: new Uint8Array(0), end: new Uint8Array(0) }] }),
      ),
  },
  {
    fault: 'only the first of several ranges is watched',
    rule: 'B9',
    caughtBy: 'several ranges are one stream',
    make: (backend) =>
      withStreams(
        backend,
        (items) => items,
        (request) => ({ ...request, ranges: request.ranges.slice(0, 1) }),
      ),
  },
  {
    fault: 'an end of one zero byte is none, as on the wire of etcd',
    rule: 'store:R7',
    caughtBy: 'a range that holds no key',
    make: (backend) =>
      withStreams(
        backend,
        (items) => items,
        (request) => ({
          ...request,
          ranges: request.ranges.map(({ start, end }) =>
            end?.length === 1 && end[0] === 0 ? { start, end: new Uint8Array(0) } : { start, ...(end && { end }) },
          ),
        }),
      ),
  },
  {
    fault: 'a point is watched as a prefix',
    rule: 'store:R7',
    caughtBy: 'a range is one of bytes, not of a path',
    make: (backend) =>
      withStreams(
        backend,
        (items) => items,
        (request) => ({
          ...request,
          ranges: request.ranges.map(({ start, end }) => ({ start, end: end ?? Uint8Array.of(...start, 0xff, 0xff) })),
        }),
      ),
  },
  {
    fault: 'a delete tells the revision before',
    rule: 'B8',
    caughtBy: 'events carry',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        for await (const item of items) {
          if (item.type !== 'change') yield item;
          else {
            const events = item.events.map((event) =>
              event.type === 'put' ? event : { ...event, modRevision: event.modRevision - 1 },
            );
            yield { ...item, events };
          }
        }
      }),
  },
  {
    fault: 'a start that was compacted is a later one',
    rule: 'B6',
    caughtBy: 'a start below the compacted revision',
    make: (backend) =>
      withStreams(backend, async function* (items, request) {
        try {
          yield* items;
        } catch (error) {
          if (!(error instanceof CompactedError)) throw error;
          for await (const item of backend.watch({ ...request, fromRevision: error.minRevision })) {
            if (item.type !== 'open') yield item;
          }
        }
      }),
  },
  {
    fault: 'a start that was compacted is a later one, for several ranges',
    rule: 'B6',
    caughtBy: 'a start below the compacted revision',
    make: (backend, data) =>
      withStreams(
        backend,
        (items) => items,
        (request) => {
          const { ranges, fromRevision } = request;
          if (ranges.length < 2) return request;
          return { ...request, fromRevision: Math.max(fromRevision, data.compactRevision) };
        },
      ),
  },
  {
    fault: 'a start at the compacted revision is refused',
    rule: 'B6',
    caughtBy: 'a start below the compacted revision',
    make: (backend, data) =>
      withStreams(backend, async function* (items, { fromRevision }) {
        const { compactRevision } = data;
        if (fromRevision === compactRevision) {
          throw new CompactedError('watch', { minRevision: fromRevision + 1, compactRevision });
        }
        yield* items;
      }),
  },
  {
    fault: 'a delete at the compacted revision is forgotten',
    rule: 'store:R23',
    caughtBy: 'a delete at the compacted revision',
    make: (backend, data) =>
      withStreams(backend, async function* (items) {
        for await (const item of items) {
          if (item.type !== 'change' || item.revision !== data.compactRevision) yield item;
          else yield { ...item, events: item.events.filter(({ type }) => type === 'put') };
        }
      }),
  },
  {
    fault: 'changes that nobody pulled are dropped, the oldest first',
    rule: 'B10',
    caughtBy: 'a stream that is not pulled',
    make: (backend) => withStreams(backend, (items) => dropping(items)),
  },
  {
    fault: 'the signal of a stream is not heard',
    rule: 'B11',
    caughtBy: 'a stream ends with the reason of its signal',
    make: (backend) =>
      withStreams(
        backend,
        (items) => items,
        ({ ranges, fromRevision }) => ({ ranges, fromRevision }),
      ),
  },
  {
    fault: 'the end of a stream by its signal is quiet',
    rule: 'B11',
    caughtBy: 'a stream ends with the reason of its signal',
    make: (backend) =>
      withStreams(backend, async function* (items, { signal }) {
        try {
          yield* items;
        } catch (error) {
          if (signal?.aborted !== true) throw error;
        }
      }),
  },
  {
    fault: 'a stream waits on when its data are gone',
    rule: 'B7',
    caughtBy: 'a stream does not outlive its data',
    make: (backend) =>
      withStreams(backend, async function* (items, { signal }) {
        try {
          yield* items;
        } catch (error) {
          if (!(error instanceof ClosedError)) throw error;
          await new Promise((_, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason));
          });
        }
      }),
  },
  {
    fault: 'a range without end is empty',
    rule: 'B9',
    caughtBy: 'several ranges are one stream',
    make: (backend) =>
      withStreams(
        backend,
        async function* (items, { ranges }) {
          const bounded = ranges.filter(({ end }) => end?.length !== 0);
          for await (const item of items) {
            if (item.type !== 'change') yield item;
            else {
              const isIn = (key: Uint8Array) => bounded.some((range) => byteRangeHas(range, key));
              const events = item.events.filter((event) => isIn(event.type === 'put' ? event.kv.key : event.key));
              if (events.length > 0) yield { ...item, events };
            }
          }
        },
        (request) => request,
      ),
  },
  {
    fault: 'changes that nobody pulled go with compaction',
    rule: 'B6',
    caughtBy: 'compaction passes a stream',
    make: (backend) => withStreams(backend, (items) => dropping(items)),
  },
  {
    fault: 'a stream cannot be left',
    rule: 'B11',
    caughtBy: 'a stream that is left',
    make: (backend) =>
      withStreams(backend, async function* (items) {
        try {
          yield* items;
        } finally {
          await new Promise(() => {});
        }
      }),
  },
];

/** Pulls ahead into ten places. */
async function* dropping(items: AsyncIterable<BackendWatchItem>): AsyncGenerator<BackendWatchItem, void, undefined> {
  const queue: BackendWatchItem[] = [];
  let end: { readonly error: unknown } | undefined;
  let wake: () => void = () => {};
  const pull = async (): Promise<void> => {
    for await (const item of items) {
      queue.push(item);
      if (queue.length > 10) queue.shift();
      wake();
    }
  };
  pull().then(
    () => wake(),
    (error: unknown) => {
      end = { error };
      wake();
    },
  );
  for (;;) {
    const item = queue.shift();
    if (item !== undefined) yield item;
    else if (end !== undefined) throw end.error;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
