import { describe, expect, it } from 'vitest';
import { ClosedError } from '../../../src/types/errors.ts';
import type { Key } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import { errorOf } from '../../support/error-of.ts';
import { openLeaseRig } from '../cache/lease-rig.ts';
import { openTestStore } from './fixture.ts';

/**
 * What every call does before anything else, in one table, so that a new call cannot forget it: options of another name, or
 * that are none, a signal that has aborted, a store or a prefix that is closed. Nothing is changed by any of them.
 */
type AnyStore = Store<unknown, Key>;
type CallWith = (store: AnyStore, options: never) => unknown;

/** Calls that take options with a signal: as they name themselves in errors. */
const CALLS: readonly [string, string, CallWith][] = [
  ['ready', 'wait for the store', (s, o) => s.ready(o)],
  ['put', 'put a key', (s, o) => s.put('n', '1', o)],
  ['putAll', 'put keys', (s, o) => s.putAll([{ key: 'n', value: '1' }], o)],
  ['delete', 'delete keys', (s, o) => s.delete('a', o)],
  ['txn', 'run a transaction', (s, o) => s.txn({ then: [{ type: 'put', key: 'n', value: '1' }] }, o)],
  ['update', 'update', (s, o) => s.update((txn) => txn.put('n', '1'), o)],
  ['compact', 'compact', (s, o) => s.compact(3, o)],
  ['grantLease', 'grant a lease', (s, o) => s.grantLease({ ttlMs: 1000, ...(o as object) })],
  ['revokeLease', 'revoke a lease', (s, o) => s.revokeLease('7', o)],
  ['keepAliveLease', 'keep a lease alive', (s, o) => s.keepAliveLease('7', o)],
  ['leaseTimeToLive', 'read a lease', (s, o) => s.leaseTimeToLive('7', o)],
  ['leases', 'list leases', (s, o) => s.leases(o)],
  ['createSnapshot', 'create a snapshot', (s, o) => s.createSnapshot(o)],
];

/** Calls that take no signal. */
const MORE: readonly [string, (store: AnyStore) => unknown][] = [
  ['revision', (s) => s.revision],
  ['compactRevision', (s) => s.compactRevision],
  ['get', (s) => s.get('a')],
  ['range', (s) => s.range({ prefix: '' })],
  ['watch', (s) => s.watch({ key: 'a' })],
  ['pin', (s) => s.pin(3, { owner: 'me' })],
  ['prefix', (s) => s.prefix('a')],
  ['stats', (s) => s.stats()],
];

const bad = (value: unknown) => value as never;
const KINDS = ['embedded', 'replica'] as const;
type Kind = (typeof KINDS)[number];

/** a at 2, b at 3 under lease 7, c at 4. */
async function open(kind: Kind): Promise<{ store: AnyStore; facts: () => Promise<unknown> }> {
  const { store } =
    kind === 'embedded' ? await openTestStore<unknown, Key>({ keys: bad('utf8') }) : await openReplica();
  await store.grantLease({ ttlMs: 60_000, id: '7' });
  await store.put('a', '1');
  await store.put('b', '1', { lease: '7' });
  await store.put('c', '1');
  return { store, facts: async () => [store.range({ prefix: '' }), store.stats(), await store.leases()] };
}

/** Calls of a replica go to its backend, so what is refused there must not get so far. */
async function openReplica(): Promise<{ store: AnyStore }> {
  const { store } = await openLeaseRig();
  return { store: bad(store) };
}

describe.each(KINDS)('what is refused at the door, %s', (kind) => {
  it.each(CALLS)('%s: an option of another name', async (name, action, call) => {
    const { store, facts } = await open(kind);
    const before = await facts();
    const error = await errorOf(() => call(store, bad({ bogus: 1 })));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toBe(`TypeError: Cannot ${action}: unknown option bogus`);
    expect([name, await facts()]).toEqual([name, before]);
  });

  it('a name that is inherited is not asked for: who adds one to Object.prototype can still use the store', async () => {
    const { store } = await open(kind);
    const inherited = Object.create({ bogus: 1 }, { prefix: { value: 'a', enumerable: true } });
    expect(store.range(inherited).kvs.map(({ key }) => key)).toEqual(['a']);
    const own = Object.create({}, { prefix: { value: 'a' }, bogus: { value: 1, enumerable: true } });
    expect(() => store.range(own)).toThrow('unknown option bogus');
  });

  it.each(CALLS.filter(([name]) => name !== 'grantLease'))(
    '%s: options that are no object',
    async (_, action, call) => {
      const { store, facts } = await open(kind);
      const before = await facts();
      for (const options of [null, 7, 'signal']) {
        const error = await errorOf(() => call(store, bad(options)));
        expect(String(error)).toBe(`TypeError: Cannot ${action}: the options are not an object`);
      }
      expect(await facts()).toEqual(before);
    },
  );

  it.each(CALLS)('%s: a signal that has aborted, with its reason', async (_, __, call) => {
    const { store, facts } = await open(kind);
    const before = await facts();
    const reason = new Error('the caller gave up');
    expect(await errorOf(() => call(store, bad({ signal: AbortSignal.abort(reason) })))).toBe(reason);
    expect(await facts()).toEqual(before);
  });

  it.each([undefined, null, 5, 'ab', { length: 1 }, new Set([{ key: 'n', value: '1' }])])(
    'putAll: entries that are no array: %j',
    async (entries) => {
      const { store, facts } = await open(kind);
      const before = await facts();
      const error = await errorOf(() => store.putAll(bad(entries)));
      expect(String(error)).toBe('TypeError: Cannot put keys: the entries are not an array');
      expect(await facts()).toEqual(before);
    },
  );

  it('prefix: options that are none, or of another name', async () => {
    const { store } = await open(kind);
    expect(() => store.prefix('a', bad(null))).toThrow(
      new TypeError('Cannot open a prefix: the options are not an object'),
    );
    expect(() => store.prefix('a', bad({ codecs: 1 }))).toThrow(
      new TypeError('Cannot open a prefix: unknown option codecs'),
    );
  });
});

describe.each(KINDS)('what is closed, %s', (kind) => {
  const all: [string, (store: AnyStore) => unknown][] = [
    ...MORE,
    ...CALLS.map(([name, , call]): [string, (store: AnyStore) => unknown] => [name, (s) => call(s, bad({}))]),
  ];

  it.each(all)('%s of a closed prefix is a ClosedError, and the store goes on', async (name, call) => {
    const { store, facts } = await open(kind);
    const part = store.prefix('a');
    await part.close();
    const before = await facts();
    const error = await errorOf(() => call(part));
    expect([name, error]).toEqual([name, expect.any(ClosedError)]);
    expect(String(error)).toMatch(/^ClosedError: Cannot .*: closed$/);
    expect(await facts()).toEqual(before);
  });

  it.each(all)('%s of a closed store is a ClosedError, of the store and of its prefixes', async (name, call) => {
    const { store } = await open(kind);
    const part = store.prefix('a');
    await store[Symbol.asyncDispose]();
    for (const one of [store, part]) {
      const error = await errorOf(() => call(one));
      expect([name, error]).toEqual([name, expect.any(ClosedError)]);
    }
  });
});

describe.each(KINDS)('putAll, %s', (kind) => {
  it('answers the leases of the entries with a ttlMs, and none where no entry has one', async () => {
    const { store } = await open(kind);
    const { leases, revision } = await store.putAll([
      { key: 'x', value: '1' },
      { key: 'y', value: '1', ttlMs: 5000 },
      { key: 'z', value: '1', lease: '7' },
    ]);
    const own = store.get('y')?.lease;
    expect(own).not.toBe('0');
    expect(leases).toEqual([undefined, own, undefined]);
    expect(revision).toBe(5);
    expect(await store.putAll([{ key: 'x', value: '2' }])).toEqual({ revision: 6 });
  });
});
