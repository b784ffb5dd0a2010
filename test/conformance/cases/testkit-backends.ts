import { BackendError, CompactedError, openStore, type Store } from 'plimsoll';
import {
  BackendAssertionError,
  createFaultyBackend,
  createMemoryBackend,
  createObjectSource,
  createSeededRandom,
  createVirtualClock,
  runBackendCases,
  testBackend,
} from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';
import { bytes, standing } from './replica-support.ts';

const ALL = { start: new Uint8Array(0), end: new Uint8Array(0) };
const PUT = { compare: [], then: [{ type: 'put', key: bytes('a'), value: bytes('1') } as const], else: [] };

async function openData() {
  const clock = createVirtualClock();
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
  return { clock, data, backend: createMemoryBackend(data) };
}

const suiteClock = createVirtualClock();
const opened = new Map<unknown, Store<Uint8Array, Uint8Array>>();
const suite = testBackend({
  capabilities: { progress: true, writable: true, leases: true },
  open: async () => {
    const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock: suiteClock });
    const backend = createMemoryBackend(data);
    opened.set(backend, data);
    return backend;
  },
  settle: () => suiteClock.settle(),
  advance: (delayMs) => suiteClock.advance(delayMs),
  destroyData: async (backend) => opened.get(backend)?.close(),
  dispose: async (backend) => {
    await opened.get(backend)?.close();
    opened.delete(backend);
  },
});

for (const { name, rule, run } of suite) test(`memory backend: ${rule} ${name}`, run);

test('backend suite: finds what a backend does not keep, and names the rule', async () => {
  const started: string[] = [];
  const forgetful = testBackend({
    capabilities: { progress: true, writable: true },
    open: async () => {
      const { backend } = await openData();
      return {
        capabilities: { progress: true, writable: true },
        range: async (request) => ({ ...(await backend.range(request)), revision: 1 }),
        status: (request) => backend.status(request),
        watch: (request) => backend.watch(request),
        txn: (request) => backend.txn(request),
        compact: (request) => backend.compact(request),
        [Symbol.asyncDispose]: async () => {},
      };
    },
  }).filter(({ rule }) => rule === 'B2');
  const { passed, failed } = await runBackendCases(forgetful, ({ name }) => started.push(name));
  equal([passed, started.length, failed[0]?.rule], [0, 2, 'B2']);
  const error = failed[0]?.error;
  equal(error instanceof BackendAssertionError && [error.code, error.rule, error.actual], ['ASSERTION', 'B2', 1]);
  throws(() => testBackend({ ...({} as Parameters<typeof testBackend>[0]) }), { class: TypeError });
});

test('memory backend: the store stays the caller’s', async () => {
  const { data, backend } = await openData();
  equal(await backend.status({}), { identity: data.identity, revision: 1 });
  await backend[Symbol.asyncDispose]();
  equal(data.revision, 1);
  await data.close();
});

test('faulty backend: calls fail before or after they had an effect', async () => {
  const { data, backend } = await openData();
  const faulty = createFaultyBackend(backend);
  faulty.fail('txn');
  equal((await rejects(faulty.txn(PUT), { class: BackendError, code: 'BACKEND' })).maybeCommitted, false);
  equal(data.revision, 1);
  faulty.fail('txn', { when: 'after' });
  equal((await rejects(faulty.txn(PUT), { class: BackendError, code: 'BACKEND' })).maybeCommitted, true);
  equal(data.revision, 2);
  const mine = new Error('mine');
  faulty.fail('range', { times: 2, error: mine });
  for (let call = 0; call < 2; call++) {
    equal((await rejects(faulty.range({ ranges: [ALL] }), { class: Error })) === mine, true);
  }
  equal((await faulty.range({ ranges: [ALL] })).count, 1);
  equal(faulty.calls, { range: 3, status: 0, watch: 0, txn: 2, compact: 0, leases: 0 });
  await data.close();
});

test('faulty backend: calls hang until they are let go, and fail while it is offline', async () => {
  const { clock, data, backend } = await openData();
  const faulty = createFaultyBackend(backend);
  const release = faulty.hang('status');
  const status = standing(faulty.status({}));
  await clock.settle();
  equal(status.state, 'pending');
  release();
  for (let turn = 0; turn < 20; turn++) await clock.settle();
  equal(status.state, 'resolved');
  faulty.offline();
  await rejects(faulty.status({}), { class: BackendError });
  faulty.heal();
  equal(await faulty.status({}), await backend.status({}));
  await data.close();
});

test('faulty backend: answers of yesterday, and verbs that need more than they were given', async () => {
  const { data, backend } = await openData();
  const faulty = createFaultyBackend(backend);
  throws(() => faulty.answerStale(), { class: TypeError });
  throws(() => faulty.delayItems(5), { class: TypeError });
  await faulty.txn(PUT);
  await faulty.remember();
  await faulty.txn(PUT);
  faulty.answerStale();
  equal([(await faulty.status({})).revision, (await faulty.status({})).revision], [2, 3]);
  await faulty[Symbol.asyncDispose]();
  await data.close();
});

test('faulty backend: streams lose, repeat and make up items, and end', async () => {
  const { clock, data, backend } = await openData();
  const faulty = createFaultyBackend(backend);
  const items: string[] = [];
  const ended = (async () => {
    const stream = faulty.watch({ ranges: [ALL], fromRevision: 1 });
    for await (const item of stream) items.push(`${item.type} ${item.revision}`);
  })();
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await clock.settle();
  };
  await settle();
  equal(faulty.openStreams, 1);
  await backend.txn(PUT);
  await settle();
  faulty.dropItems();
  await backend.txn(PUT);
  await settle();
  faulty.repeatItems();
  faulty.injectProgress(9);
  await settle();
  faulty.holdItems();
  await backend.txn(PUT);
  await settle();
  equal(items.slice(0, 2), ['open 1', 'change 2']);
  equal(items.slice(2).sort(), ['change 2', 'progress 9']);
  faulty.releaseItems();
  await settle();
  equal(items.at(-1), 'change 4');
  const cut = new Error('cut');
  faulty.disconnect(cut);
  equal((await rejects(ended, { class: Error })) === cut, true);
  equal(faulty.openStreams, 0);
  await data.close();
});

test('object source: has verbs to change its objects and to misbehave', async () => {
  const clock = createVirtualClock();
  const source = createObjectSource<number[]>({ clock, random: createSeededRandom(1), historyMax: 5 });
  const items: string[] = [];
  const open = async (after: string, signal?: AbortSignal): Promise<void> => {
    for await (const item of source.watch(signal === undefined ? { after } : { after, signal })) {
      if (item.type === 'bookmark') items.push(`bookmark ${item.resourceVersion}`);
      else if (item.type === 'deleted') items.push(`deleted ${item.uid} ${item.resourceVersion}`);
      else items.push(`${item.type} ${item.object.uid} ${item.object.resourceVersion} ${item.object.deleting}`);
    }
  };
  const { uid, object } = source.put('a', [1]);
  equal([uid, Object.isFrozen(object), source.resourceVersion, source.objects.length], ['uid-1', true, '1', 1]);
  const stop = new AbortController();
  const watched = rejects(open('1', stop.signal), { class: DOMException });
  source.startDeletion('a');
  source.delete('a');
  source.delete('none');
  source.put('a', [2]);
  source.bookmark();
  source.replay(1);
  for (let turn = 0; turn < 20; turn++) await clock.settle();
  equal(items, [
    'modified uid-1 2 true',
    'deleted uid-1 3',
    'added uid-2 4 false',
    'bookmark 4',
    'added uid-1 1 false',
  ]);
  equal((await source.get('a', {}))?.object, [2]);
  equal([(await source.list({})).resourceVersion, source.compare('4', '10') < 0, source.watches], ['4', true, 1]);
  stop.abort();
  await watched;
  source.compact();
  await rejects(open('1'), { class: CompactedError, code: 'COMPACTED' });
  source.setFaults({ readErrorRate: 1 });
  await rejects(source.get('a', {}), { class: BackendError, code: 'BACKEND' });
  equal(source.watches, 0);
});
