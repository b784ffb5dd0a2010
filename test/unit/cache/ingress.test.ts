import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendKeyValue, BackendRangeResponse } from '../../../src/types/backend.ts';
import { BackendError } from '../../../src/types/errors.ts';
import { openRig, probe } from '../../support/replica-rig.ts';

/** Wrong data from a backend: what comes in is refused with its name, and never taken for something else. */

const bytes = (text: string) => new TextEncoder().encode(text);
const bad = (value: unknown) => value as never;

/** A good row, and what is wrong with it. */
const row = (wrong: Record<string, unknown> = {}): BackendKeyValue => ({
  key: bytes('p/k'),
  value: bytes('v'),
  createRevision: 2,
  modRevision: 2,
  version: 1,
  lease: '0',
  ...wrong,
});

const ROWS: [string, BackendKeyValue, string][] = [
  ['a row that is none', bad(null), 'a row is null, not an object'],
  ['a value that is text', row({ value: 'hello' }), 'a value is "hello", not a Uint8Array'],
  ['a value that is a number', row({ value: 3 }), 'a value is 3, not a Uint8Array'],
  ['a value that is an array', row({ value: [104] }), 'a value is an array, not a Uint8Array'],
  ['a value that is an ArrayBuffer', row({ value: new ArrayBuffer(2) }), 'a value is an object, not a Uint8Array'],
  ['no value', row({ value: undefined }), 'a value is undefined, not a Uint8Array'],
  ['a key that is text', row({ key: 'p/k' }), 'a key is "p/k", not a Uint8Array'],
  ['an empty key', row({ key: new Uint8Array(0) }), 'a key is empty'],
  ['a key that is too long', row({ key: new Uint8Array(65_536) }), 'a key has 65536 bytes, the most are 65535'],
  ['a create revision above the mod revision', row({ createRevision: 3 }), 'a row was created at 3 and modified at 2'],
  ['a create revision of 0', row({ createRevision: 0 }), 'a row was created at 0 and modified at 2'],
  ['a version of 0', row({ version: 0 }), 'a row has the version 0, not 1 or above'],
  ['a version that is none', row({ version: 1.5 }), 'a version is 1.5, not a safe integer from 0 on'],
  ['a mod revision that is text', row({ modRevision: '2' }), 'a mod revision is "2", not a safe integer from 0 on'],
  ...[7, undefined, '', '007', '-1', '9223372036854775808'].map((lease): [string, BackendKeyValue, string] => [
    `the lease ${JSON.stringify(lease)}`,
    row({ lease }),
    `a lease id is ${JSON.stringify(lease)}, neither '0' nor a decimal string of 64 bits`,
  ]),
];

/** A replica of `p/` whose backend is bent by the functions given. */
async function openBent(bent: Partial<Backend>) {
  const history = createCommitHistory();
  const clock = createVirtualClock();
  const logged: string[] = [];
  const note = (_: string, fields?: Readonly<Record<string, unknown>>) => {
    logged.push((fields?.error as Error | undefined)?.message ?? '');
  };
  const backend: Backend = {
    capabilities: history.capabilities,
    range: (request) => history.range(request),
    status: (request) => history.status(request),
    watch: (request) => history.watch(request),
    txn: (request) => history.txn(request),
    compact: (request) => history.compact(request),
    [Symbol.asyncDispose]: () => history[Symbol.asyncDispose](),
    ...bent,
  };
  const store = await openStore<string>({
    backend,
    clock,
    random: () => 0,
    codec: textCodec(),
    prefixes: ['p/'],
    logger: { debug: note, info: note, warn: note, error: note },
    waitReady: false,
  });
  await clock.settle();
  return { store, history, clock, logged };
}

const refused = (reason: string) => `Cannot apply what the backend sent: ${reason}`;

describe('a list', () => {
  const list = (kvs: unknown, wrong: Record<string, unknown> = {}): BackendRangeResponse =>
    ({ identity: 'history', revision: 9, count: 1, kvs, ...wrong }) as BackendRangeResponse;

  it.each<[string, unknown, string]>([
    ...ROWS.map(([name, kv, reason]): [string, unknown, string] => [name, list([kv]), reason]),
    ['no object', undefined, 'an answer is undefined, not an object'],
    ['an identity that is no text', list([], { identity: 5 }), 'the identity is 5, not a string'],
    ['a revision that is none', list([], { revision: -1 }), 'a revision is -1, not a safe integer from 0 on'],
    ['no rows', list(undefined), 'a list has no array of rows'],
    ['a row from the future', list([row({ modRevision: 10 })]), 'a row of a list at 9 has the mod revision 10'],
    [
      'a row outside the prefixes',
      list([row({ key: bytes('q') })]),
      'a row of a list is outside the prefixes that were asked for',
    ],
    ['a key twice', list([row(), row()]), 'the rows of a list do not ascend by the bytes of their keys, each key once'],
    [
      'keys sorted as JavaScript does',
      list([row({ key: bytes('p/\u{1f600}') }), row({ key: bytes('p/\uffff') })]),
      'the rows of a list do not ascend by the bytes of their keys, each key once',
    ],
  ])('%s is refused and asked for again', async (_, answer, reason) => {
    let isBent = true;
    const { store, history, clock, logged } = await openBent({
      range: async (request) => (isBent ? (answer as BackendRangeResponse) : history.range(request)),
    });
    history.commit([{ key: 'p/k', value: 'good' }]);
    await clock.advance(1_000);
    expect(new Set(logged)).toEqual(new Set([refused(reason)]));
    expect(logged.length).toBeGreaterThan(1);
    expect(() => store.revision).toThrow('the first snapshot is not there yet');
    isBent = false;
    await clock.advance(20_000);
    expect(store.get('p/k')?.value).toBe('good');
    await store.close();
  });
});

describe('a stream', () => {
  const change = (event: unknown, revision = 2) => ({ type: 'change', revision, events: [event] });

  it.each<[string, unknown, string]>([
    ...ROWS.map(([name, kv, reason]): [string, unknown, string] => [name, change({ type: 'put', kv }), reason]),
    ['an item that is none', 'open', 'an item of a stream is "open", not an object'],
    [
      'an item of an unknown type',
      { type: 'heartbeat', revision: 9 },
      'an item of a stream has the type "heartbeat", allowed are open, change and progress',
    ],
    ['a change without events', { type: 'change', revision: 2 }, 'the change at 2 has no array of events'],
    ['a change without a revision', { type: 'change', events: [] }, 'a revision is undefined, not a safe integer'],
    ['a progress of no revision', { type: 'progress', revision: 0.5 }, 'a revision is 0.5, not a safe integer'],
    ['an event that is none', change(7), 'an event is 7, not an object'],
    [
      'an event of an unknown type',
      change({ type: 'PUT', key: bytes('p/k'), modRevision: 2, kv: row() }),
      'an event has the type "PUT", allowed are put and delete',
    ],
    [
      'a put of another revision',
      change({ type: 'put', kv: row({ modRevision: 40 }) }),
      'an event of the change at 2 has the mod revision 40',
    ],
    [
      'a delete of another revision',
      change({ type: 'delete', key: bytes('p/k'), modRevision: 1 }),
      'an event of the change at 2 has the mod revision 1',
    ],
    [
      'a delete without a revision',
      change({ type: 'delete', key: bytes('p/k') }),
      'an event of the change at 2 has the mod revision undefined',
    ],
    ['a delete without a key', change({ type: 'delete', modRevision: 2 }), 'a key is undefined, not a Uint8Array'],
  ])('%s is refused, changes nothing, and the stream is opened again', async (_, item, reason) => {
    const errors: unknown[] = [];
    const rig = await openRig({
      prefixes: ['p/'],
      logger: { debug() {}, info() {}, error() {}, warn: (_message, fields) => errors.push(fields?.error) },
    });
    rig.backend.inject(bad(item));
    await rig.clock.settle();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(BackendError);
    expect((errors[0] as Error).message.startsWith(refused(reason))).toBe(true);
    expect([rig.store.revision, rig.store.range({ prefix: 'p/' }).count]).toEqual([1, 0]);
    rig.history.commit([{ key: 'p/k', value: 'good' }]);
    await rig.clock.advance(1_000);
    expect([rig.store.get('p/k')?.value, rig.store.stats().replica?.connections]).toEqual(['good', 2]);
    await rig.store.close();
  });

  it('events outside the prefixes are dropped: a backend may send the whole commit', async () => {
    const { store, backend, clock } = await openRig({ prefixes: ['p/'] });
    const events = [row(), row({ key: bytes('q/k') })].map((kv) => ({ type: 'put', kv }) as const);
    backend.inject({ type: 'change', revision: 2, events });
    await clock.settle();
    expect([store.revision, store.range({ prefix: 'p/' }).count, store.stats().keys]).toEqual([2, 1, 1]);
  });
});

describe('the answer of a transaction', () => {
  const answer = (wrong: Record<string, unknown>) => ({
    identity: 'history',
    revision: 5,
    succeeded: true,
    responses: [{ type: 'put' }],
    ...wrong,
  });

  it.each<[string, unknown, string]>([
    ['no object', null, 'an answer is null, not an object'],
    ['without succeeded', answer({ succeeded: undefined }), 'succeeded is undefined, not a boolean'],
    ['of a compare that nobody made', answer({ succeeded: false }), 'a transaction without compares did not succeed'],
    ['without responses', answer({ responses: undefined }), 'a transaction was answered without an array of responses'],
    ['with too few', answer({ responses: [] }), '1 operations were answered by 0 responses'],
    ['with too many', answer({ responses: [{ type: 'put' }, { type: 'put' }] }), '1 operations were answered by 2'],
    ['with one that is none', answer({ responses: [null] }), 'a response is null, not an object'],
    [
      'with one to another question',
      answer({ responses: [{ type: 'range', count: 0, kvs: [] }] }),
      'a put was answered by the type "range"',
    ],
    [
      'with a state before that is none',
      answer({ responses: [{ type: 'put', prevKv: row({ value: 'v' }) }] }),
      'a value',
    ],
  ])('%s: maybe committed', async (_, wrong, reason) => {
    const { store, clock } = await openBent({ txn: async () => bad(wrong) });
    const put = probe(store.put('p/k', 'v', { prevKv: true }));
    await clock.settle();
    expect(put.error).toBeInstanceOf(BackendError);
    expect(put.error).toMatchObject({ message: 'Cannot put a key: the answer cannot be read', maybeCommitted: true });
    const { cause } = put.error as { cause: Error };
    expect(cause.message.startsWith(refused(reason))).toBe(true);
    await store.close();
  });

  it.each<[string, unknown, string]>([
    ['no number of keys', { type: 'delete' }, 'the number of deleted keys is undefined'],
    ['other states before than keys', { type: 'delete', deleted: 2, prevKvs: [row()] }, '2 keys were deleted, the'],
    ['no states before', { type: 'delete', deleted: 1 }, '1 keys were deleted, the states before of 0 were told'],
  ])('of a delete with %s: maybe committed', async (_, response, reason) => {
    const { store, clock } = await openBent({ txn: async () => bad(answer({ responses: [response] })) });
    const gone = probe(store.delete({ prefix: 'p/' }, { prevKv: true }));
    await clock.settle();
    expect(gone.error).toMatchObject({ maybeCommitted: true });
    expect((gone.error as { cause: Error }).cause.message.startsWith(refused(reason))).toBe(true);
  });

  it.each<[string, unknown, string]>([
    ['no count', { type: 'range', kvs: [] }, 'the count of a range is undefined'],
    ['no rows', { type: 'range', count: 0 }, 'a range was answered without an array of rows'],
    ['more rows than keys', { type: 'range', count: 0, kvs: [row()] }, 'a range of 0 keys was answered by 1 rows'],
  ])('of a range with %s: maybe committed', async (_, response, reason) => {
    const { store, clock } = await openBent({ txn: async () => bad(answer({ responses: [response] })) });
    const read = probe(store.txn({ then: [{ type: 'range', prefix: 'p/' }] }));
    await clock.settle();
    expect(read.error).toMatchObject({ maybeCommitted: true });
    expect((read.error as { cause: Error }).cause.message.startsWith(refused(reason))).toBe(true);
  });
});
