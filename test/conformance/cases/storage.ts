import { openStore } from 'plimsoll';
import {
  BadRequestError,
  createStorage,
  ExpiredError,
  KeyExistsError,
  type KubernetesObject,
  ObjectNotFoundError,
  PreconditionError,
  ResourceVersionTooLargeError,
  StorageError,
  TooManyRequestsError,
  UpdateConflictError,
} from 'plimsoll/kubernetes';
import { createMemoryBackend, createVirtualClock } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';

const POD = '/pods/ns1/';
const named = (name: string): KubernetesObject => ({ metadata: { name } });

test('storage: pages of one state, a watch from it, an end that is told', async () => {
  const store = await openStore<KubernetesObject>();
  const storage = createStorage(store, { prefix: '/registry', pinsMax: 0 });
  // Beyond ASCII: a token is base64 of UTF-8.
  for (const name of ['a', 'b', 'ü', '\u{1f600}']) await storage.create(`${POD}${name}`, named(name));
  const first = await storage.list('/pods', { recursive: true, limit: 3 });
  equal([first.items.length, first.metadata.remainingItemCount, first.metadata.resourceVersion], [3, 1, '5']);
  const watch = storage.watch('/pods', { recursive: true, resourceVersion: '5', allowWatchBookmarks: true });
  await storage.delete(`${POD}\u{1f600}`);
  const token = first.metadata.continue as string;
  const rest = await storage.list('/pods', { recursive: true, continue: token });
  equal(
    rest.items.map(({ metadata }) => metadata?.name),
    ['\u{1f600}'],
  );
  const event = await watch.next();
  equal([event.value?.type, event.value?.object.metadata?.resourceVersion], ['DELETED', '6']);
  await storage.create(`${POD}z`, named('z'));
  await store.compact(7);
  const expired = await rejects(storage.list('/pods', { recursive: true, continue: token }), { class: ExpiredError });
  equal([(expired as ExpiredError).httpStatus, (expired as ExpiredError).toStatus().reason], [410, 'Expired']);
  const fresh = await storage.list('/pods', {
    recursive: true,
    continue: (expired as ExpiredError).continue as string,
  });
  equal([fresh.items.length, fresh.metadata.resourceVersion], [0, '7']);
  await storage.close();
  await store.close();
});

test('storage: every refusal has its class and status', async () => {
  const clock = createVirtualClock();
  const store = await openStore<KubernetesObject>({ clock });
  const storage = createStorage(store, { clock, attemptsMax: 1, watchesMax: 1 });
  await storage.create('/a', { metadata: { name: 'a', uid: 'u' } });
  const refused = async (call: Promise<unknown>, kind: new (...args: never[]) => StorageError, status: number) => {
    const error = await rejects(call, { class: kind });
    equal([error instanceof StorageError, (error as StorageError).httpStatus], [true, status]);
  };
  await refused(storage.create('/a', named('a')), KeyExistsError, 409);
  await refused(storage.get('/b'), ObjectNotFoundError, 404);
  await refused(storage.list('/a', { resourceVersion: 'x' }), BadRequestError, 400);
  await refused(storage.delete('/a', { preconditions: { uid: 'v' } }), PreconditionError, 409);
  const overtaken = async (object: KubernetesObject | undefined) => {
    await store.put('/a', { metadata: { name: 'a', labels: { at: String(store.revision) } } });
    return { ...object, kind: 'A' };
  };
  await refused(storage.guaranteedUpdate('/a', overtaken), UpdateConflictError, 409);
  const late = refused(storage.get('/a', { resourceVersion: '99' }), ResourceVersionTooLargeError, 504);
  await clock.advance(3000);
  await late;
  storage.watch('/a');
  const tooMany = async () => storage.watch('/a');
  await refused(tooMany(), TooManyRequestsError, 429);
  await storage.close();
  await store.close();
});

test('storage: over a replica, which sees what others have written', async () => {
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' });
  const backend = createMemoryBackend(data);
  const store = await openStore<KubernetesObject>({ backend });
  const storage = createStorage(store, { backend });
  await storage.create('/a', named('a'));
  const encode = (text: string) => new TextEncoder().encode(text);
  await data.put(encode('/b'), encode('{"metadata":{"name":"b"}}'));
  equal((await storage.get('/b')).metadata?.resourceVersion, '3');
  await storage.guaranteedUpdate('/b', (object) => ({ ...object, kind: 'B' }));
  equal(await storage.getCurrentResourceVersion(), '4');
  await storage.close();
  await store.close();
  await data.close();
});
