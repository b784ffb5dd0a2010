import { describe, expect, it } from 'vitest';
import { createWriterLease } from '../../../src/lease/writer-lease.ts';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createLeaderElector } from '../../../src/lock/leader-elector.ts';
import { createStoreLeaseRecord } from '../../../src/lock/lease-record-store.ts';
import { createWebLock } from '../../../src/lock/web-locks.ts';
import { openStore } from '../../../src/open-store.ts';
import { bytesCodec } from '../../../src/store/codecs.ts';
import { InvalidKeyError, PlimsollError, ValueError } from '../../../src/types/errors.ts';
import type { Key } from '../../../src/types/revision.ts';
import { shown } from '../../../src/types/shown.ts';
import type { Store } from '../../../src/types/store.ts';
import { errorOf } from '../../support/error-of.ts';
import { openLeaseRig } from '../cache/lease-rig.ts';
import { openTestStore } from './fixture.ts';

/** Wrong values that are hard to refuse well: those that cannot be printed, that are right by half, whose memory is gone. */
type AnyStore = Store<unknown, Key>;
const bad = (value: unknown) => value as never;

const hostile = () => {
  throw new Error('user code ran');
};
const HOSTILE: readonly [string, unknown][] = [
  ['an object without toString', Object.create(null)],
  ['an object whose toString throws', { toString: hostile, valueOf: hostile, toJSON: hostile }],
  ['an object that throws for all', new Proxy({}, { get: hostile, has: hostile, getPrototypeOf: hostile })],
  ['an array', ['lag']],
  ['a symbol', Symbol('x')],
  ['a function', () => true],
  ['a bigint', 5n],
  ['null', null],
  ['a number', 1],
  ['long text', 'x'.repeat(100_000)],
  ['no text', ''],
];

/** Every yes or no and every word of the store's calls: the name in the message, and the call. */
const CHOICES: readonly [string, (store: AnyStore, value: never) => unknown][] = [
  ...['keysOnly', 'countOnly', 'sortTarget', 'sortOrder'].flatMap((name): [string, (typeof CHOICES)[number][1]][] => [
    [name, (s, v) => s.range(bad({ prefix: '', [name]: v }))],
    [name, (s, v) => s.txn({ else: [bad({ type: 'range', prefix: '', [name]: v })] })],
  ]),
  ...['prevKv', 'ignoreValue', 'ignoreLease'].flatMap((name): [string, (typeof CHOICES)[number][1]][] => [
    [name, (s, v) => s.put('a', '1', bad({ [name]: v }))],
    [name, (s, v) => s.txn({ else: [bad({ type: 'put', key: 'a', value: '1', [name]: v })] })],
  ]),
  ['prevKv', (s, v) => s.delete('a', { prevKv: v })],
  ['prevKv', (s, v) => s.txn({ then: [{ type: 'delete', key: 'a', prevKv: v }] })],
  ['ignoreLease', (s, v) => s.putAll([{ key: 'a', value: '1', ignoreLease: v }])],
  ['ignoreLease', (s, v) => s.update((txn) => txn.put('a', '1', { ignoreLease: v }))],
  ['isolation', (s, v) => s.update(() => 1, { isolation: v })],
  ...['initial', 'prevKv', 'filter', 'onSlow'].map((name): [string, (typeof CHOICES)[number][1]] => [
    name,
    (s, v) => s.watch({ prefix: '' }, bad({ [name]: v })),
  ]),
  ['compare.target', (s, v) => s.txn({ compare: [bad({ key: 'a', target: v, result: '=', value: 1 })] })],
  ['compare.result', (s, v) => s.txn({ compare: [bad({ key: 'a', target: 'mod', result: v, value: 1 })] })],
  ['the type of an operation', (s, v) => s.txn({ then: [bad({ type: v, key: 'a', value: '1' })] })],
  ['keepAlive', (s, v) => s.grantLease({ ttlMs: 1000, keepAlive: v })],
  ['keepAlive', (s, v) => s.resumeLease('7', { keepAlive: v })],
  ['keys', (s, v) => s.leaseTimeToLive('7', { keys: v })],
  ['keys', (_, v) => openStore({ keys: v })],
  ['values', (_, v) => openStore({ values: v })],
];

async function open(): Promise<AnyStore> {
  const { store } = await openTestStore<unknown, Key>({ keys: bad('utf8') });
  await store.put('a', '1');
  await store.grantLease({ ttlMs: 60_000, id: '7' });
  return store;
}

describe('a message that has to print a wrong value', () => {
  it.each(HOSTILE)(
    '%s: a TypeError that names the member, short, and nothing of the value is run',
    async (_, value) => {
      const store = await open();
      for (const [name, call] of CHOICES) {
        const error = await errorOf(() => call(store, bad(value)));
        expect([name, error.constructor.name]).toEqual([name, 'TypeError']);
        expect(error.message).toMatch(/^Cannot [a-z ]+: /);
        expect(error.message).toContain(`: ${name} is `);
        expect(error.message).toContain('allowed are ');
        expect(error.message.length).toBeLessThan(250);
      }
      expect([store.revision, (await store.leases()).length]).toEqual([2, 1]);
    },
  );

  it('shows what is short as it is, and of all else the type', () => {
    const all = ['yes', '', 1.5, Number.NaN, true, undefined, null, 5n, Symbol('x'), hostile, [], 'x'.repeat(81)];
    expect(all.map(shown)).toEqual([
      ...['yes', '""', '1.5', 'NaN', 'true', 'undefined', 'null', 'of type bigint', 'of type symbol'],
      ...['of type function', 'of type object', `${'x'.repeat(80)}...`],
    ]);
  });

  it('an unknown option with an endless name makes no endless message', async () => {
    const store = await open();
    const error = await errorOf(() => store.get('a', bad({ ['x'.repeat(100_000)]: 1 })));
    expect(error.message.length).toBeLessThan(200);
  });
});

const whole = new AbortController().signal;
const half = (...names: string[]) =>
  Object.fromEntries(['aborted', ...names].map((name) => [name, name === 'aborted' ? false : () => {}]));
const HALF_SIGNALS: readonly [string, unknown][] = [
  ['null', null],
  ['a number', 5],
  ['no members', {}],
  ['no prototype', Object.create(null)],
  ['a controller', new AbortController()],
  ['aborted alone', { aborted: false }],
  ['no listeners', half('throwIfAborted')],
  ['no removeEventListener', half('throwIfAborted', 'addEventListener')],
  ['no addEventListener', half('throwIfAborted', 'removeEventListener')],
  ['no throwIfAborted', half('addEventListener', 'removeEventListener')],
  ['no aborted', { throwIfAborted() {}, addEventListener() {}, removeEventListener() {} }],
  ['a function', Object.assign(() => {}, half('throwIfAborted', 'addEventListener', 'removeEventListener'))],
];

/** Every call that takes a signal, of the store and of what is built on it. */
const WITH_SIGNAL: readonly [string, (store: AnyStore, signal: never) => unknown][] = [
  ['openStore', (_, signal) => openStore({ signal })],
  ['ready', (s, signal) => s.ready({ signal })],
  ['put', (s, signal) => s.put('n', '1', { signal })],
  ['putAll', (s, signal) => s.putAll([{ key: 'n', value: '1' }], { signal })],
  ['putAll of nothing', (s, signal) => s.putAll([], { signal })],
  ['delete', (s, signal) => s.delete('a', { signal })],
  ['txn', (s, signal) => s.txn({}, { signal })],
  ['update', (s, signal) => s.update((txn) => txn.put('n', '1'), { signal })],
  ['watch', (s, signal) => s.watch({ prefix: '' }, { signal })],
  ['compact', (s, signal) => s.compact(2, { signal })],
  ['grantLease', (s, signal) => s.grantLease({ ttlMs: 1000, signal })],
  ['grantLease, keepAlive', (s, signal) => s.grantLease({ ttlMs: 1000, keepAlive: true, signal })],
  ['resumeLease', (s, signal) => s.resumeLease('7', { keepAlive: true, signal })],
  ['keepAliveLease', (s, signal) => s.keepAliveLease('7', { signal })],
  ['leaseTimeToLive', (s, signal) => s.leaseTimeToLive('7', { signal })],
  ['revokeLease', (s, signal) => s.revokeLease('7', { signal })],
  ['leases', (s, signal) => s.leases({ signal })],
  ['createSnapshot', (s, signal) => s.createSnapshot({ signal })],
  ['handle: keepAlive', async (s, signal) => (await s.resumeLease('7')).keepAlive({ signal })],
  ['handle: timeToLive', async (s, signal) => (await s.resumeLease('7')).timeToLive({ signal })],
  ['handle: revoke', async (s, signal) => (await s.resumeLease('7')).revoke({ signal })],
  ['acquireLock', (s, signal) => s.acquireLock('l', { signal })],
  ['tryLock', (s, signal) => s.tryLock('l', { signal })],
  ['campaign', (s, signal) => s.campaign('l', '1', { signal })],
  ['observe', (s, signal) => s.observe('l', { signal })],
  ['resumeLock', (s, signal) => s.resumeLock(bad({}), { signal })],
  ['resumeLeadership', (s, signal) => s.resumeLeadership(bad({}), { signal })],
  ['keyed lock', (_, signal) => createKeyedLock().acquire('k', 'write', { signal })],
  ['web lock', (_, signal) => createWebLock({ locks: { request: hostile } }).acquire('k', 'write', { signal })],
  ['leader elector', (s, signal) => electorOf(s).run({ signal })],
  ['writer lease', (_, signal) => createWriterLease().wait({ signal })],
  ['classic writer lease', (_, signal) => createWriterLease({ strategy: 'classic' }).wait({ signal })],
];

function electorOf(store: AnyStore) {
  const record = createStoreLeaseRecord(store, 'leader');
  return createLeaderElector({ record, identity: 'me', onStartedLeading: () => {}, onStoppedLeading: () => {} });
}

describe.each(['embedded', 'replica'] as const)('half a signal, %s', (kind) => {
  it.each(HALF_SIGNALS)('%s: a TypeError that names the signal, at the door of each call', async (_, signal) => {
    const store = kind === 'embedded' ? await open() : await openReplica();
    for (const [name, call] of WITH_SIGNAL) {
      const before = [store.revision, await store.leases()];
      const error = await errorOf(() => call(store, bad(signal)));
      expect([name, error.constructor.name]).toEqual([name, 'TypeError']);
      expect(error.message).toMatch(/^Cannot [a-z ]+: the signal is not an AbortSignal$/);
      expect([name, store.revision, await store.leases()]).toEqual([name, ...before]);
      expect([name, store.stats().watchers]).toEqual([name, { idle: 0, pending: 0 }]);
    }
  });
});

async function openReplica(): Promise<AnyStore> {
  const { store } = await openLeaseRig();
  await store.put('a', '1');
  await store.grantLease({ ttlMs: 60_000, id: '7' });
  return bad(store);
}

describe('bytes whose buffer is detached', () => {
  const gone = () => {
    const bytes = Uint8Array.of(1, 2);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    return bytes;
  };

  it.each<[string, object]>([
    ['copied', {}],
    ['trusted', { values: 'trusted' }],
    ['a codec', { codec: bytesCodec() }],
    ['a codec that returns them', { codec: { encode: gone, decode: (bytes: Uint8Array) => bytes } }],
  ])('as a value, %s: a ValueError that says so', async (_, options) => {
    const { store } = await openTestStore<unknown>(options);
    const calls = {
      put: () => store.put('a', gone()),
      putAll: () => store.putAll([{ key: 'a', value: gone() }]),
      txn: () => store.txn({ else: [{ type: 'put', key: 'a', value: gone() }] }),
      compare: () => store.txn({ compare: [{ key: 'a', target: 'value', result: '=', value: gone() }] }),
      update: () => store.update((txn) => txn.put('a', gone())),
    };
    for (const [name, call] of Object.entries(calls)) {
      const error = await errorOf(call);
      expect([name, error]).toEqual([name, expect.any(ValueError)]);
      expect(error.message).toMatch(/^Cannot [a-z ]+: the value .*buffer is detached/);
    }
    expect(store.revision).toBe(1);
  });

  it('as a key: no key, and never the empty prefix, which is every key', async () => {
    const { store } = await openTestStore<string, Uint8Array>({ keys: 'bytes' });
    await store.put(Uint8Array.of(9), 'x');
    const calls: Record<string, () => unknown> = {
      'get a key': () => store.get(gone()),
      'put a key': () => store.put(gone(), 'y'),
      'delete keys': () => store.delete({ prefix: gone() }),
      'range over keys': () => store.range({ start: gone() }),
      'open a prefix': () => store.prefix(gone()),
      'run a transaction': () => store.txn({ then: [{ type: 'delete', start: Uint8Array.of(1), end: gone() }] }),
      watch: () => store.watch({ prefix: gone() }),
    };
    for (const [action, call] of Object.entries(calls)) {
      const error = await errorOf(call);
      expect([action, error.constructor.name]).toEqual([action, 'TypeError']);
      expect(error.message).toMatch(
        new RegExp(`^Cannot ${action}: the buffer of the (key|prefix|start|end) is detached$`),
      );
    }
    for (const call of [
      () => store.update((txn) => txn.put(gone(), 'y')),
      () => store.update((txn) => txn.delete(gone())),
      () => store.update((txn) => txn.get(gone())),
    ]) {
      expect((await errorOf(call)).message).toMatch(
        /^Cannot (put|delete|get) a key: the buffer of the key is detached$/,
      );
    }
    expect([store.revision, store.range({ prefix: Uint8Array.of() }).count]).toEqual([2, 1]);
    expect(await errorOf(() => store.get(Uint8Array.of()))).toBeInstanceOf(InvalidKeyError);
  });

  it('as a snapshot: no snapshot', async () => {
    expect(await errorOf(() => openStore({ snapshot: gone() }))).toBeInstanceOf(PlimsollError);
  });
});

it('a whole signal is taken by each call', async () => {
  const store = await open();
  const taken = WITH_SIGNAL.filter(([name]) => /^(ready|put|putAll|delete|txn|update|watch|leases)$/.test(name));
  for (const [name, call] of taken)
    expect([name, (await errorOf(() => call(store, bad(whole)))).message]).toEqual([name, 'nothing was thrown']);
});
