import { BackendError, CompactedError, IdentityChangedError, openStore, type Watch } from 'plimsoll';
import { createCommitHistory, createMemoryBackend } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';
import { bytes, openReplica, pass } from './replica-support.ts';

async function nextBatch(watch: Watch<string>): Promise<string> {
  const { value } = await watch.next();
  if (value === undefined) return 'the end';
  const events = value.events.map((event) => `${event.type} ${event.kv.key}@${event.kv.modRevision}`);
  return [value.span === true ? `(${value.after},${value.revision}]` : value.revision, ...events].join(' ');
}

test('replica: a watch brings each commit once, from the start on', async () => {
  const { store, data, backend, clock } = await openReplica();
  await store.put('a', '1');
  const watch = store.watch({ prefix: '' }, { fromRevision: 2 });
  await data.delete(bytes('a'));
  backend.repeatItems();
  backend.disconnect();
  await data.put(bytes('b'), bytes('1'));
  await pass(clock, 1_000);
  equal([await nextBatch(watch), await nextBatch(watch)], ['2 put a@2', '3 delete a@3']);
  equal(await nextBatch(watch), '4 put b@4');
  await watch.return();
  await store.close();
});

test('replica: what was compacted away meanwhile comes as one span, and leaves a hole', async () => {
  const { store, data, backend, clock } = await openReplica();
  await store.put('gone', '1');
  await store.put('kept', '1');
  const watch = store.watch({ prefix: '' });
  backend.offline();
  await data.delete(bytes('gone'));
  await data.put(bytes('brief'), bytes('1'));
  await data.delete(bytes('brief'));
  await data.put(bytes('kept'), bytes('2'));
  await data.compact(7);
  backend.online();
  await pass(clock, 60_000);
  equal(await nextBatch(watch), '(3,7] delete gone@7 put kept@7');
  await rejects(
    Promise.resolve().then(() => store.get('kept', { revision: 5 })),
    { class: CompactedError },
  );
  const inside = store.watch({ prefix: '' }, { fromRevision: 6 });
  equal((await rejects(inside.next(), { class: CompactedError })).minRevision, 8);
  equal([store.get('kept', { revision: 3 })?.value, store.stats().replica?.relists], ['1', 1]);
  await store.close();
});

test('replica: an initial batch, then changes', async () => {
  const { store } = await openReplica();
  await store.put('a', '1');
  const watch = store.watch({ prefix: '' }, { initial: true });
  const first = (await watch.next()).value;
  equal([first?.initial, first?.revision, first?.events.length], [true, 2, 1]);
  await store.put('b', '1');
  equal(await nextBatch(watch), '3 put b@3');
  await store.close();
});

test('replica: other data behind it end every watch and raise the epoch', async () => {
  const { store, backend, clock } = await openReplica();
  await store.put('a', '1');
  const watch = store.watch({ prefix: '' });
  const ended = rejects(watch.next(), { class: IdentityChangedError, code: 'IDENTITY_CHANGED' });
  const other = createCommitHistory({ identity: 'other' });
  other.commit([{ key: 'z', value: '1' }]);
  backend.replace(other);
  await pass(clock, 10_000);
  equal((await ended).epoch, 2);
  equal([store.epoch, store.identity, store.get('a'), store.get('z')?.value], [2, 'other', undefined, '1']);
  const stale = store.watch({ prefix: '' }, { fromRevision: 2, identity: 'gone' });
  await rejects(stale.next(), { class: IdentityChangedError });
  await store.close();
});

test('replica: a broken promise is counted and repaired', async () => {
  const { store, data, backend, clock } = await openReplica();
  backend.holdItems();
  await data.put(bytes('late'), bytes('1'));
  await data.put(bytes('k'), bytes('1'));
  backend.injectProgress(2);
  await pass(clock, 0);
  equal([store.revision, store.get('late')], [2, undefined]);
  backend.releaseItems();
  await pass(clock, 1_000);
  equal([store.stats().replica?.violations, store.get('late')?.value, store.revision], [1, '1', 3]);
  await store.close();
});

test('replica: a permanent failure before the first snapshot rejects openStore', async () => {
  const permanent = new BackendError('list', 'no credentials', { permanent: true });
  const opened = openReplica({ before: (backend) => backend.fail('range', { error: permanent }) });
  equal(await rejects(opened, { class: BackendError }), permanent);
});

test('replica: two of them follow each other', async () => {
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' });
  const backend = createMemoryBackend(data);
  const one = await openStore<number>({ backend });
  const two = await openStore<number>({ backend });
  const watch = two.watch({ key: 'n' });
  for (let count = 1; count <= 20; count++) await one.put('n', count);
  const seen: number[] = [];
  while (seen.length < 20) {
    for (const event of (await watch.next()).value?.events ?? []) if (event.type === 'put') seen.push(event.kv.value);
  }
  equal(
    seen,
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  await two.delete('none');
  equal([two.get('n')?.version, two.revision], [20, one.revision]);
  await one.close();
  await two.close();
});
