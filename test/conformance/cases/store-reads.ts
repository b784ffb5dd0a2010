import { CompactedError, FutureRevisionError, type KeyRange, openStore } from 'plimsoll';
import { equal, test, throws } from '../harness.ts';
import { numbers, storeOf } from './store-support.ts';

const LIVE = ['a', 'a/', 'a/b', 'a/bc', 'ab', 'b'];

test('store: two stores have two identities', async () => {
  const [first, second] = [await openStore(), await openStore()];
  equal(first.identity === second.identity, false);
});

test('store: ready() resolves', async () => {
  equal(await (await openStore()).ready(), undefined);
});

test('get: key, value, revisions, version and lease', async () => {
  const store = await storeOf('x', 'a');
  await store.put('a', 'again');
  equal(store.get('a'), { key: 'a', value: 'again', createRevision: 3, modRevision: 4, version: 2, lease: '0' });
});

test('get: the state at a revision is the newest one up to it', async () => {
  const store = await storeOf('a', 'b');
  await store.put('a', 'x');
  await store.delete('a');
  equal(
    [1, 2, 3, 4, 5].map((revision) => numbers(store, 'a', revision)),
    ['none', 'a(2,2,1)', 'a(2,2,1)', 'a(2,4,2)', 'none'],
  );
});

test('get: revisions 0 and below are the newest', async () => {
  const store = await storeOf('a');
  equal([numbers(store, 'a', 0), numbers(store, 'a', -7)], ['a(2,2,1)', 'a(2,2,1)']);
});

test('get: the future is a FutureRevisionError with both revisions', async () => {
  const store = await storeOf('a');
  const error = throws(() => store.get('a', { revision: 3 }), { class: FutureRevisionError, code: 'FUTURE_REVISION' });
  equal([error.revision, error.currentRevision], [3, 2]);
});

const RANGES: [string, KeyRange, string[]][] = [
  ['a point', { key: 'a/' }, ['a/']],
  ['an absent point', { key: 'c' }, []],
  ['everything', { prefix: '' }, LIVE],
  ['a prefix is one of bytes', { prefix: 'a/b' }, ['a/b', 'a/bc']],
  ['a prefix without a key', { prefix: 'z' }, []],
  ['half open', { start: 'a/', end: 'ab' }, ['a/', 'a/b', 'a/bc']],
  ['no end', { start: 'ab' }, ['ab', 'b']],
  ['an empty start', { start: '' }, LIVE],
  ['start = end', { start: 'a', end: 'a' }, []],
  ['start > end', { start: 'b', end: 'a' }, []],
];

for (const [name, range, keys] of RANGES) {
  test(`range: ${name}`, async () => {
    const { kvs, count, more } = (await storeOf(...[...LIVE].reverse())).range(range);
    equal([kvs.map(({ key }) => key), count, more], [keys, keys.length, false]);
  });
}

test('range: keys come in the order of their UTF-8 bytes', async () => {
  const store = await storeOf('\u{1f600}', '\uffff', '\ue000', '\u00e9', 'z', '\0', '\u{10ffff}', 'a\0', 'a');
  equal(
    store.range({ prefix: '' }).kvs.map(({ key }) => key),
    ['\0', 'a', 'a\0', 'z', '\u00e9', '\ue000', '\uffff', '\u{1f600}', '\u{10ffff}'],
  );
});

test('range: a range whose ends JavaScript orders the other way', async () => {
  const store = await storeOf('\ue000', '\u{1f600}');
  equal(
    store.range({ start: '\uffff', end: '\u{10ffff}' }).kvs.map(({ key }) => key),
    ['\u{1f600}'],
  );
});

test('range: byte keys sort by unsigned bytes, and prefixes of 0xff work', async () => {
  const store = await openStore<number, Uint8Array>({ keys: 'bytes' });
  for (const bytes of [[255, 255], [255], [128], [127], [0], [0, 0]])
    await store.put(Uint8Array.from(bytes), bytes.length);
  const keys = (range: KeyRange<Uint8Array>) => store.range(range).kvs.map(({ key }) => [...key].join('.'));
  equal(keys({ prefix: new Uint8Array(0) }), ['0', '0.0', '127', '128', '255', '255.255']);
  equal(keys({ prefix: Uint8Array.of(255) }), ['255', '255.255']);
  equal(keys({ start: Uint8Array.of(0, 0), end: Uint8Array.of(128) }), ['0.0', '127']);
});

test('range: pages hold still while the store is written', async () => {
  const store = await storeOf(...LIVE);
  const seen: string[] = [];
  let page = store.range({ prefix: '', limit: 2 });
  for (;;) {
    seen.push(...page.kvs.map(({ key, modRevision }) => `${key}@${modRevision}`));
    if (page.continue === undefined) break;
    await store.put('a/new', 'x');
    await store.delete('ab');
    page = store.range({ prefix: '', limit: 2, continue: page.continue });
  }
  equal(seen, ['a@2', 'a/@3', 'a/b@4', 'a/bc@5', 'ab@6', 'b@7']);
});

test('range: a page whose revision is compacted is a CompactedError', async () => {
  const store = await storeOf(...LIVE);
  const next = store.range({ prefix: '', limit: 2 }).continue ?? '';
  await store.put('x', 'x');
  await store.compact(8);
  const error = throws(() => store.range({ prefix: '', continue: next }), { class: CompactedError, code: 'COMPACTED' });
  equal(error.minRevision, 8);
});

test('answers are frozen', async () => {
  const store = await storeOf('a');
  const answer = store.range({ prefix: '' });
  equal([Object.isFrozen(answer), Object.isFrozen(answer.kvs), Object.isFrozen(answer.kvs[0])], [true, true, true]);
});

test('stats: keys, versions, log entries and watchers', async () => {
  const store = await storeOf('a', 'b');
  await store.put('a', 'x');
  await store.delete('b');
  const watch = store.watch({ key: 'a' });
  const { keys, storedVersions, logEntries, watchers, memoryBytes } = store.stats();
  equal([keys, storedVersions, logEntries, watchers], [1, 4, 4, { idle: 1, pending: 0 }]);
  equal(memoryBytes > 0, true);
  await watch.return();
});
