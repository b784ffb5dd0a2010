import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { bytesCodec } from '../../../src/store/codecs.ts';
import { ClosedError } from '../../../src/types/errors.ts';
import type { Key } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import { openLeaseRig } from '../cache/lease-rig.ts';
import { openTestStore } from './fixture.ts';

/**
 * A getter may answer twice, and the second answer was never checked: a call reads each member that it is given once. In
 * these calls every member is a getter that answers right the first time, and with nonsense from then on.
 */
type AnyStore = Store<unknown, Key>;
const bad = (value: unknown) => value as never;
const NONSENSE = Object.freeze(Object.create(null));

class Getters {
  readonly #reads = new Map<string, number>();

  /** The same members, as getters, and on its prototype if `isInherited`. */
  of(members: object, isInherited = false): never {
    const made = {};
    for (const [name, value] of Object.entries(members)) {
      const get = () => {
        const reads = (this.#reads.get(name) ?? 0) + 1;
        this.#reads.set(name, reads);
        return reads === 1 ? value : NONSENSE;
      };
      Object.defineProperty(made, name, { get, enumerable: true });
    }
    return bad(isInherited ? Object.create(made) : made);
  }

  /** Members that were read more than once, or never. */
  get wrong(): string[] {
    return [...this.#reads].filter(([, reads]) => reads !== 1).map(([name, reads]) => `${name}: ${reads}`);
  }

  get names(): string[] {
    return [...this.#reads.keys()].sort();
  }
}

const { signal } = new AbortController();

/** Each call with all members that go together; `read` are those which it has to look at. */
const CALLS: readonly [string, object, (store: AnyStore, options: never) => unknown][] = [
  ['ready', { signal }, (s, o) => s.ready(o)],
  ['get', { revision: 2 }, (s, o) => s.get('a', o)],
  [
    'range',
    {
      start: 'a',
      end: 'c',
      limit: 1,
      keysOnly: true,
      countOnly: false,
      sortTarget: 'key',
      sortOrder: 'ascend',
      revision: 3,
    },
    (s, o) => s.range(o),
  ],
  [
    'range: bounds',
    { prefix: '', minModRevision: 1, maxModRevision: 9, minCreateRevision: 1, maxCreateRevision: 9 },
    (s, o) => s.range(o),
  ],
  ['range: a point', { key: 'a' }, (s, o) => s.range(o)],
  ['put', { signal, expect: { modRevision: 2 }, prevKv: true, lease: '7' }, (s, o) => s.put('a', '1', o)],
  ['put: ttlMs', { ttlMs: 1000 }, (s, o) => s.put('a', '1', o)],
  ['put: ignoreValue', { ignoreValue: true, ignoreLease: true }, (s, o) => s.put('a', undefined, o)],
  ['put: expect', { modRevision: 2 }, (s, expect) => s.put('a', '1', { expect })],
  ['putAll', { signal }, (s, o) => s.putAll([{ key: 'n', value: '1' }], o)],
  ['putAll: an entry', { key: 'n', value: '1', ttlMs: 1000 }, (s, entry) => s.putAll([entry])],
  ['delete', { signal, expect: { modRevision: 2 }, prevKv: true }, (s, o) => s.delete('a', o)],
  ['delete: a range', { start: 'a', end: 'b' }, (s, range) => s.delete(range)],
  ['txn', { signal }, (s, o) => s.txn({}, o)],
  ['txn: the request', { compare: [], then: [], else: [] }, (s, request) => s.txn(request)],
  ...['create', 'mod', 'version'].map((target): [string, object, (store: AnyStore, one: never) => unknown] => [
    `txn: a compare of ${target}`,
    { key: 'a', target, result: '=', value: 2 },
    (s, one) => s.txn({ compare: [one] }),
  ]),
  [
    'txn: a compare of value',
    { key: 'a', target: 'value', result: '=', value: '1' },
    (s, one) => s.txn({ compare: [one] }),
  ],
  [
    'txn: a compare of lease',
    { prefix: 'a', target: 'lease', result: '=', value: '0' },
    (s, one) => s.txn({ compare: [one] }),
  ],
  ['txn: a put', { type: 'put', key: 'n', value: '1', prevKv: true, lease: '7' }, (s, one) => s.txn({ then: [one] })],
  ['txn: a delete', { type: 'delete', prefix: 'a', prevKv: true }, (s, one) => s.txn({ then: [one] })],
  ['txn: a range', { type: 'range', key: 'a', revision: 2, limit: 1 }, (s, one) => s.txn({ then: [one] })],
  ['txn: a nested one', { type: 'txn', compare: [], then: [], else: [] }, (s, one) => s.txn({ then: [one] })],
  ['update', { isolation: 'serializable', retries: 1, signal }, (s, o) => s.update((txn) => txn.put('n', '1'), o)],
  ['update: a put', { ttlMs: 1000 }, (s, o) => s.update((txn) => txn.put('n', '1', o))],
  ['update: a put that keeps its lease', { ignoreLease: true }, (s, o) => s.update((txn) => txn.put('a', '1', o))],
  ['watch: the range', { start: 'a', end: 'c' }, (s, range) => s.watch(range)],
  [
    'watch',
    {
      fromRevision: 2,
      identity: '',
      initial: false,
      prevKv: true,
      filter: 'noput',
      onSlow: 'close',
      lagEventsMax: 5,
      progressMs: 100,
      signal,
    },
    (s, o) => s.watch({ prefix: '' }, o),
  ],
  ['compact', { signal }, (s, o) => s.compact(2, o)],
  ['pin', { owner: 'me', ttlMs: 1000, bytes: 5 }, (s, o) => s.pin(4, o)],
  ['grantLease', { ttlMs: 1000, id: '8', keepAlive: true, signal }, (s, o) => s.grantLease(o)],
  ['resumeLease', { keepAlive: true, signal }, (s, o) => s.resumeLease('7', o)],
  ['keepAliveLease', { signal }, (s, o) => s.keepAliveLease('7', o)],
  ['revokeLease', { signal }, (s, o) => s.revokeLease('7', o)],
  ['leaseTimeToLive', { keys: true, signal }, (s, o) => s.leaseTimeToLive('7', o)],
  ['leases', { signal }, (s, o) => s.leases(o)],
  ['handle: keepAlive', { signal }, async (s, o) => (await s.resumeLease('7')).keepAlive(o)],
  ['handle: timeToLive', { keys: true, signal }, async (s, o) => (await s.resumeLease('7')).timeToLive(o)],
  ['handle: revoke', { signal }, async (s, o) => (await s.resumeLease('7')).revoke(o)],
  ['prefix', { codec: bytesCodec() }, (s, o) => s.prefix('a', o)],
  ['acquireLock', { ttlMs: 1000, timeoutMs: 1000, signal }, (s, o) => s.acquireLock('l', o)],
  ['tryLock', { ttlMs: 1000, signal }, (s, o) => s.tryLock('l', o)],
  ['campaign', { ttlMs: 1000, timeoutMs: 1000, signal }, (s, o) => s.campaign('l', '1', o)],
  ['observe', { signal }, (s, o) => s.observe('l', o)],
];

async function open(kind: 'embedded' | 'replica'): Promise<AnyStore> {
  const store: AnyStore =
    kind === 'embedded'
      ? (await openTestStore<unknown, Key>({ keys: bad('utf8') })).store
      : bad((await openLeaseRig()).store);
  await store.grantLease({ ttlMs: 60_000, id: '7' });
  await store.put('a', '1');
  await store.put('b', '1');
  await store.put('c', '1');
  return store;
}

describe.each(['embedded', 'replica'] as const)('each member is read once, %s', (kind) => {
  it.each(CALLS)('%s', async (name, members, call) => {
    const store = await open(kind);
    const isOfIdentity = name === 'watch' ? { identity: store.identity } : {};
    const getters = new Getters();
    await call(store, getters.of({ ...members, ...isOfIdentity }));
    expect([getters.wrong, getters.names]).toEqual([[], Object.keys(members).sort()]);
    await store.close();
  });

  it.each(CALLS)('%s: inherited members count as ever', async (name, members, call) => {
    const store = await open(kind);
    const isOfIdentity = name === 'watch' ? { identity: store.identity } : {};
    const getters = new Getters();
    await call(store, getters.of({ ...members, ...isOfIdentity }, true));
    expect([getters.wrong, getters.names]).toEqual([[], Object.keys(members).sort()]);
    await store.close();
  });

  it('a page that goes on', async () => {
    const store = await open(kind);
    const { continue: token } = store.range({ prefix: '', limit: 1 });
    const getters = new Getters();
    const page = store.range(getters.of({ prefix: '', limit: 1, continue: token }));
    expect([page.kvs[0]?.key, getters.wrong]).toEqual(['b', []]);
  });

  it('the token of a lock, and of a leadership', async () => {
    const store = await open(kind);
    const lock = await store.acquireLock('l');
    const leadership = await store.campaign('e', '1');
    for (const resume of [
      (getters: Getters) => store.resumeLock(getters.of(lock.toJSON()), getters.of({ signal })),
      (getters: Getters) => store.resumeLeadership(getters.of(leadership.toJSON()), getters.of({ signal })),
    ]) {
      const getters = new Getters();
      // The claim of this process stands in the way: what matters is what was read before that was found out.
      await Promise.allSettled([resume(getters)]);
      expect(getters.wrong).toEqual([]);
      expect(getters.names).toEqual(['fencingToken', 'identity', 'leaseId', 'name', 'ownsLease', 'signal']);
    }
  });
});

/** What reads a state that is there, or makes a view of it, may answer: nothing is left behind by that. */
const READS = ['get', 'range', 'range: bounds', 'range: a point', 'prefix'];

describe.each(['embedded', 'replica'] as const)('a member that closes the store while it is read, %s', (kind) => {
  it.each([
    ...CALLS.filter(([name]) => !READS.includes(name)).map((row) => ['the store', ...row] as const),
    ...CALLS.filter(([name]) => !READS.includes(name) && !name.startsWith('handle: ')).map(
      (row) => ['a part', ...row] as const,
    ),
  ])('%s: %s', async (what, name, members, call) => {
    for (const closing of Object.keys(members)) {
      const store = await open(kind);
      const called = what === 'the store' ? store : store.prefix('');
      const { revision } = store;
      const options = { ...members, ...(name === 'watch' ? { identity: store.identity } : {}) };
      const get = (): unknown => {
        void called.close();
        return (members as Readonly<Record<string, unknown>>)[closing];
      };
      Object.defineProperty(options, closing, { enumerable: true, get });
      const answer = await Promise.resolve()
        .then(() => call(called, bad(options)))
        .catch((error: unknown) => error);
      expect(await firstOf(answer), closing).toBeInstanceOf(ClosedError);
      if (what === 'a part') expect(store.revision).toBe(revision);
      await store.close();
    }
  });
});

it('a signal that closes the store while it is read: no snapshot', async () => {
  const store = await open('embedded');
  const options = {
    get signal(): AbortSignal {
      void store.close();
      return signal;
    },
  };
  await expect(store.createSnapshot(options)).rejects.toThrow(ClosedError);
});

/** What a watch, or what else yields something, comes to. */
async function firstOf(answer: unknown): Promise<unknown> {
  const iterable = answer as Partial<AsyncIterable<unknown>> | undefined;
  if (typeof iterable?.[Symbol.asyncIterator] !== 'function') return answer;
  const { next } = bad(iterable[Symbol.asyncIterator]?.()) as AsyncIterator<unknown>;
  const ended = next.call(iterable).catch((error: unknown) => error);
  return Promise.race([ended, new Promise((resolve) => setImmediate(() => resolve('goes on')))]);
}

describe('openStore', () => {
  it('reads each option once, and those of limits and retention', async () => {
    const { store } = await openTestStore<string>();
    await store.put('a', '1');
    const snapshot = await store.createSnapshot();
    const getters = new Getters();
    const opened = await openStore<string>(
      getters.of({
        keys: 'utf8',
        values: 'trusted',
        limits: getters.of({ keyBytes: 3, leases: 1 }),
        retention: getters.of({ events: 5, bytes: 100, ageMs: 1000 }),
        memoryBytesMax: 2_000_000,
        snapshot,
        keepIdentity: true,
        random: () => 0.5,
        signal,
      }),
    );
    expect(getters.wrong).toEqual([]);
    expect(opened.get('a')?.value).toBe('1');
    await opened.close();
  });

  it('of a replica too', async () => {
    const { backend } = await openLeaseRig();
    const getters = new Getters();
    const opened = await openStore<string>(
      getters.of({
        backend,
        prefixes: ['a'],
        waitReady: false,
        limits: getters.of({ valueBytes: 30 }),
        backoff: getters.of({ baseMs: 5, factor: 2, maxMs: 50, jitter: 0 }),
        logger: { debug() {}, info() {}, warn() {}, error() {} },
      }),
    );
    expect(getters.wrong).toEqual([]);
    await opened.close();
  });
});
