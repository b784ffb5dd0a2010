import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/types/codec.ts';
import type { Store } from '../../../src/types/store.ts';
import type { Watch, WatchOptions } from '../../../src/types/watch.ts';
import { openTestStore, settle } from '../store/fixture.ts';

/** A codec is user code: it may end the watch that is just having a batch made, and what ended stays so. */
interface Subject {
  readonly store: Store<string>;
  readonly watch: Watch<string>;
  readonly abort: AbortController;
}

const text = { encode: new TextEncoder(), decode: new TextDecoder() };

const WAYS: [string, (subject: Subject) => void, string][] = [
  ['aborts the signal', ({ abort }) => abort.abort(new Error('stop')), 'Error stop'],
  ['returns', ({ watch }) => void watch.return(), 'done'],
  ['closes the store', ({ store }) => void store.close(), 'ClosedError'],
  [
    'aborts and throws',
    ({ abort }) => {
      abort.abort(new Error('stop'));
      throw new Error('not this one');
    },
    'Error stop',
  ],
];

const BATCHES: [string, WatchOptions][] = [
  ['a batch', { fromRevision: 2 }],
  ['the last batch', { fromRevision: 4 }],
  ['the initial batch', { initial: true }],
  ['a difference', { fromRevision: 2, onSlow: 'coalesce', lagEventsMax: 1 }],
];

/** What `next()` settles with, in short; `waits` if it does not. */
async function outcome(watch: Watch<string>): Promise<string> {
  let seen = 'waits';
  watch.next().then(
    ({ done, value }) => {
      seen = done === true ? 'done' : `batch ${value?.revision}`;
    },
    (error: Error) => {
      seen = error.name === 'Error' ? `Error ${error.message}` : error.name;
    },
  );
  await settle();
  return seen;
}

describe.each(BATCHES)('a codec that, while %s is made,', (_, options) => {
  it.each(WAYS)('%s', async (_way, end, expected) => {
    let onDecode = () => {};
    const codec: Codec<string> = {
      encode: (value) => text.encode.encode(value),
      decode: (bytes) => {
        const act = onDecode;
        onDecode = () => {};
        act();
        return text.decode.decode(bytes);
      },
    };
    const { store } = await openTestStore<string>({ codec });
    for (const key of ['a', 'b', 'c']) await store.put(key, key);
    const abort = new AbortController();
    const watch = store.watch({ prefix: '' }, { ...options, signal: abort.signal });
    onDecode = () => end({ store, watch, abort });
    const { progressRevision } = watch;
    expect(await outcome(watch)).toBe(expected);
    expect(watch.progressRevision).toBe(progressRevision);
    if (expected !== 'ClosedError') {
      expect(store.stats().watchers).toEqual({ idle: 0, pending: 0 });
      await store.put('d', 'd');
      expect(store.stats().watchers).toEqual({ idle: 0, pending: 0 });
    }
    expect(await outcome(watch)).toBe('done');
  });
});
