import { describe, expect, it } from 'vitest';
import { type OpenStoreOptions, openStore } from '../../../src/open-store.ts';
import { jsonCodec } from '../../../src/store/codecs.ts';
import {
  ClosedError,
  CompactedError,
  ConflictError,
  FutureRevisionError,
  InvalidKeyError,
  LimitExceededError,
} from '../../../src/types/errors.ts';
import type { Key } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import { errorOf } from '../../support/error-of.ts';
import { openTestStore } from './fixture.ts';

/**
 * Wrong calls: which error, how its message begins, and that nothing was written. Arguments are `never` here because
 * the types forbid most of them; callers from plain JavaScript make them all the same.
 */
type ErrorClass = new (...parameters: never[]) => Error;
type Call = (store: Store<unknown, Key>) => unknown;

const LONG = 'x'.repeat(65_536);
const bad = (value: unknown) => value as never;

/** What is a yes or a no, in each call that has it. */
const FLAGS: readonly [string, Call, string][] = [
  ...['prevKv', 'ignoreValue', 'ignoreLease'].flatMap((name): [string, Call, string][] => [
    [name, (s) => s.put('a', 1, bad({ [name]: 'yes' })), 'put a key'],
    [name, (s) => s.txn({ else: [bad({ type: 'put', key: 'a', value: 1, [name]: 'yes' })] }), 'run a transaction'],
  ]),
  ['ignoreLease', (s) => s.putAll([{ key: 'a', value: 1, ignoreLease: bad('yes') }]), 'put keys'],
  ['prevKv', (s) => s.delete('a', { prevKv: bad('yes') }), 'delete keys'],
  ['prevKv', (s) => s.txn({ then: [{ type: 'delete', key: 'a', prevKv: bad('yes') }] }), 'run a transaction'],
  ['keysOnly', (s) => s.range({ prefix: '', keysOnly: bad('yes') }), 'range over keys'],
  ['countOnly', (s) => s.range({ prefix: '', countOnly: bad('yes') }), 'range over keys'],
  ['initial', (s) => s.watch({ key: 'a' }, { initial: bad('yes') }), 'watch'],
  ['prevKv', (s) => s.watch({ key: 'a' }, { prevKv: bad('yes') }), 'watch'],
  ['keys', (s) => s.leaseTimeToLive('1', { keys: bad('yes') }), 'read a lease'],
];

const BAD_IDS: readonly [unknown, ErrorClass, string][] = [
  ['0', RangeError, '"0"'],
  ['01', RangeError, '"01"'],
  ['junk', RangeError, '"junk"'],
  ['9223372036854775808', RangeError, '"9223372036854775808"'],
  [7, TypeError, 'of type number'],
];

const CALLS: [string, Call, ErrorClass, string][] = [
  ['get: no options', (s) => s.get('a', bad(null)), TypeError, 'Cannot get a key: the options are not an object'],
  ['get: a misspelt option', (s) => s.get('a', bad({ rev: 3 })), TypeError, 'Cannot get a key: unknown option rev'],
  [
    'range: a misspelt shape',
    (s) => s.range(bad({ prefx: 'a' })),
    TypeError,
    'Cannot range over keys: unknown option prefx',
  ],
  [
    'range: a misspelt option',
    (s) => s.range(bad({ prefix: 'a', limits: 3 })),
    TypeError,
    'Cannot range over keys: unknown option limits',
  ],
  [
    'range: a sort target that does not exist',
    (s) => s.range({ prefix: 'a', sortTarget: bad('name') }),
    TypeError,
    'Cannot range over keys: sortTarget is name, allowed are key, version, create, mod and value',
  ],
  [
    'range: a sort order that does not exist',
    (s) => s.range({ prefix: 'a', sortOrder: bad('none') }),
    TypeError,
    'Cannot range over keys: sortOrder is none, allowed are ascend and descend',
  ],
  ...['minModRevision', 'maxModRevision', 'minCreateRevision', 'maxCreateRevision'].flatMap((name) =>
    [-1, 1.5, Number.NaN, '3'].map((value): [string, Call, ErrorClass, string] => [
      `range: ${name} ${String(value)}`,
      (s) => s.range(bad({ prefix: 'a', [name]: value })),
      typeof value === 'string' ? TypeError : RangeError,
      `Cannot range over keys: ${name} is ${typeof value === 'string' ? 'of type string' : value}, allowed is a safe integer from 0 on`,
    ]),
  ),
  [
    'put: a value beside ignoreValue',
    (s) => s.put('a', 1, { ignoreValue: true }),
    TypeError,
    'Cannot put a key: ignoreValue excludes a value, which must be undefined',
  ],
  ...(
    [
      [{}, 'has no method encode'],
      [{ encode: () => Uint8Array.of() }, 'has no method decode'],
      [{ decode: () => 1 }, 'has no method encode'],
      [5, 'is not an object'],
      [null, 'is not an object'],
    ] as const
  ).map(([codec, reason]): [string, Call, ErrorClass, string] => [
    `prefix: half a codec, or none: ${JSON.stringify(Object.keys(codec ?? {}))} ${typeof codec}`,
    (s) => s.prefix('a', { codec: bad(codec) }),
    TypeError,
    `Cannot open a prefix: codec ${reason}`,
  ]),
  ...['ttl', 'leaseId', 'expects', 'if'].map((name): [string, Call, ErrorClass, string] => [
    `put: the option ${name}`,
    (s) => s.put('a', 1, bad({ [name]: 1 })),
    TypeError,
    `Cannot put a key: unknown option ${name}`,
  ]),
  ...['constructor', '__proto__', 'hasOwnProperty'].map((type): [string, Call, ErrorClass, string] => [
    `txn: an operation of the type ${type}`,
    (s) => s.txn({ then: [bad({ type })] }),
    TypeError,
    `Cannot run a transaction: the type of an operation is ${type}`,
  ]),
  [
    'txn: a hole among the operations',
    (s) => s.txn({ then: bad([undefined, { type: 'delete', key: 'a' }]) }),
    TypeError,
    'Cannot run a transaction: an operation is not an object',
  ],
  [
    'txn: a hole among the compares',
    (s) => s.txn({ compare: bad([undefined]) }),
    TypeError,
    'Cannot run a transaction: a compare',
  ],
  ['putAll: a hole', (s) => s.putAll(bad([undefined])), TypeError, 'Cannot put keys: an entry is not an object'],
  [
    'put: options that are an array',
    (s) => s.put('a', 1, bad([])),
    TypeError,
    'Cannot put a key: the options are not an',
  ],
  [
    'put: half a signal',
    (s) => s.put('a', 1, { signal: bad({ aborted: false }) }),
    TypeError,
    'Cannot put a key: the signal is not an AbortSignal',
  ],
  [
    'put: no signal',
    (s) => s.put('a', 1, { signal: bad(5) }),
    TypeError,
    'Cannot put a key: the signal is not an AbortSignal',
  ],
  [
    'put: a signal that is null',
    (s) => s.put('a', 1, { signal: bad(null) }),
    TypeError,
    'Cannot put a key: the signal is not an AbortSignal',
  ],
  ...[5, null, undefined, [], true].map((range): [string, Call, ErrorClass, string] => [
    `delete: no range: ${JSON.stringify(range)}`,
    (s) => s.delete(bad(range)),
    TypeError,
    'Cannot delete keys: the range is not an object',
  ]),
  ['put: no expect', (s) => s.put('a', 1, { expect: bad(null) }), TypeError, 'Cannot put a key: expect is not an'],
  [
    'put: a misspelt expect',
    (s) => s.put('a', 1, { expect: bad({ revision: 2 }) }),
    TypeError,
    'Cannot put a key: unknown member of expect revision',
  ],
  [
    'delete: a misspelt option',
    (s) => s.delete('a', bad({ prevKV: true })),
    TypeError,
    'Cannot delete keys: unknown option prevKV',
  ],
  [
    'delete: a range that would be smaller',
    (s) => s.delete(bad({ prefix: 'a', limit: 1 })),
    TypeError,
    'Cannot delete keys: unknown member of a range limit',
  ],
  [
    'txn: if instead of compare',
    (s) => s.txn(bad({ if: [] })),
    TypeError,
    'Cannot run a transaction: unknown member if',
  ],
  [
    'txn: a misspelt option',
    (s) => s.txn({}, bad({ timeoutMs: 1 })),
    TypeError,
    'Cannot run a transaction: unknown option timeoutMs',
  ],
  [
    'txn: a put with a lease',
    (s) => s.txn({ then: [bad({ type: 'put', key: 'a', value: 1, lease: 7 })] }),
    TypeError,
    'Cannot run a transaction: lease is of type number, allowed is a decimal string',
  ],
  [
    'txn: a compare of a range',
    (s) => s.txn({ compare: [bad({ key: 'a', end: 'b', target: 'mod', result: '=', value: 1 })] }),
    TypeError,
    'Cannot run a transaction: a range has exactly one of key,',
  ],
  [
    'compact: a misspelt option',
    (s) => s.compact(2, bad({ physical: true })),
    TypeError,
    'Cannot compact: unknown option physical',
  ],
  [
    'watch: no options',
    (s) => s.watch({ key: 'a' }, bad(null)),
    TypeError,
    'Cannot watch: the options are not an object',
  ],
  [
    'watch: a misspelt option',
    (s) => s.watch({ key: 'a' }, bad({ onslow: 'close' })),
    TypeError,
    'Cannot watch: unknown option onslow',
  ],
  [
    'watch: a range that would be smaller',
    (s) => s.watch(bad({ prefix: 'a', limit: 1 })),
    TypeError,
    'Cannot watch: unknown member of a range limit',
  ],
  [
    'watch: no signal',
    (s) => s.watch({ key: 'a' }, { signal: bad({}) }),
    TypeError,
    'Cannot watch: the signal is not an AbortSignal',
  ],
  [
    'ready: no options',
    (s) => s.ready(bad(null)),
    TypeError,
    'Cannot wait for the store: the options are not an object',
  ],
  ['get: an empty key', (s) => s.get(''), InvalidKeyError, 'Cannot get a key: the key is empty'],
  ['get: no string', (s) => s.get(bad(7)), TypeError, 'Cannot get a key: the key is not a string'],
  [
    'get: bytes in a store of text',
    (s) => s.get(Uint8Array.of(97)),
    TypeError,
    'Cannot get a key: the key is not a string',
  ],
  ['get: a lone surrogate', (s) => s.get('a\udc00'), TypeError, 'Cannot get a key: the key has a lone surrogate'],
  ['get: too long', (s) => s.get(LONG), LimitExceededError, 'Cannot get a key: keyBytes is at most 65535, got 65536'],
  [
    'get: too long in bytes only',
    (s) => s.get('\u00e9'.repeat(32_768)),
    LimitExceededError,
    'Cannot get a key: keyBytes is at most 65535, got 65536',
  ],
  [
    'get: a broken revision',
    (s) => s.get('a', { revision: 1.5 }),
    RangeError,
    'Cannot get a key: the revision is 1.5, allowed is a safe integer',
  ],
  [
    'get: a revision that is NaN',
    (s) => s.get('a', { revision: Number.NaN }),
    RangeError,
    'Cannot get a key: the revision is NaN, allowed is a safe integer',
  ],
  [
    'get: a revision above 2^53',
    (s) => s.get('a', { revision: 2 ** 53 }),
    RangeError,
    'Cannot get a key: the revision is 9007199254740992, allowed is a safe integer',
  ],
  [
    'get: a revision as text',
    (s) => s.get('a', { revision: bad('2') }),
    TypeError,
    'Cannot get a key: the revision is of type string, allowed is a safe integer',
  ],
  [
    'get: the future',
    (s) => s.get('a', { revision: 99 }),
    FutureRevisionError,
    'Cannot get a key: revision 99 is in the future, the store is at 4',
  ],
  [
    'get: compacted',
    (s) => s.get('a', { revision: 1 }),
    CompactedError,
    'Cannot get a key: compacted, the smallest legal revision is 2',
  ],
  ['range: no object', (s) => s.range(bad('a')), TypeError, 'Cannot range over keys: the range is not an object'],
  ['range: null', (s) => s.range(bad(null)), TypeError, 'Cannot range over keys: the range is not an object'],
  ['range: no shape', (s) => s.range(bad({})), TypeError, 'Cannot range over keys: a range has exactly one of'],
  [
    'range: two shapes',
    (s) => s.range(bad({ key: 'a', prefix: 'a' })),
    TypeError,
    'Cannot range over keys: a range has exactly one of',
  ],
  [
    'range: an end alone',
    (s) => s.range(bad({ end: 'a' })),
    TypeError,
    'Cannot range over keys: a range has exactly one of',
  ],
  [
    'range: a prefix with an end',
    (s) => s.range(bad({ prefix: 'a', end: 'b' })),
    TypeError,
    'Cannot range over keys: a range has exactly one of',
  ],
  ['range: an empty key', (s) => s.range({ key: '' }), InvalidKeyError, 'Cannot range over keys: the key is empty'],
  [
    'range: a prefix that is no string',
    (s) => s.range({ prefix: bad(undefined) }),
    TypeError,
    'Cannot range over keys: the prefix is not a string',
  ],
  [
    'range: a start that is no string',
    (s) => s.range({ start: bad(1) }),
    TypeError,
    'Cannot range over keys: the start is not a string',
  ],
  [
    'range: an end that is no string',
    (s) => s.range({ start: 'a', end: bad(1) }),
    TypeError,
    'Cannot range over keys: the end is not a string',
  ],
  [
    'range: an end with a lone surrogate',
    (s) => s.range({ start: 'a', end: '\ud800' }),
    TypeError,
    'Cannot range over keys: the end has a lone surrogate',
  ],
  [
    'range: a broken limit',
    (s) => s.range({ prefix: '', limit: 0.5 }),
    RangeError,
    'Cannot range over keys: the limit is 0.5, allowed is a safe integer',
  ],
  [
    'range: a limit that is no number',
    (s) => s.range({ prefix: '', limit: bad('1') }),
    TypeError,
    'Cannot range over keys: the limit is of type string',
  ],
  [
    'range: the future',
    (s) => s.range({ prefix: '', revision: 5 }),
    FutureRevisionError,
    'Cannot range over keys: revision 5 is in the future',
  ],
  [
    'range: a malformed token',
    (s) => s.range({ prefix: '', continue: 'x' }),
    RangeError,
    'Cannot range over keys: the continue token is malformed',
  ],
  [
    'range: an empty token',
    (s) => s.range({ prefix: '', continue: '' }),
    RangeError,
    'Cannot range over keys: the continue token is malformed',
  ],
  [
    'range: a token at revision 0',
    (s) => s.range({ prefix: '', continue: '1::0:a' }),
    RangeError,
    'Cannot range over keys: the continue token is malformed',
  ],
  [
    'range: a token in an array',
    (s) => s.range({ prefix: '', continue: bad(['1::4:a']) }),
    TypeError,
    'Cannot range over keys: continue is of type object, allowed is the continue token of a page',
  ],
  [
    'range: a token at a revision that is no safe integer',
    (s) => s.range({ prefix: '', continue: '1::9999999999999999:a' }),
    RangeError,
    'Cannot range over keys: the continue token is malformed',
  ],
  [
    'range: a token whose key is no text',
    (s) => s.range({ prefix: '', continue: '1::4:\ud800' }),
    RangeError,
    'Cannot range over keys: the continue token is malformed',
  ],
  [
    'range: a token with bad escapes',
    (s) => s.range({ prefix: '', continue: '1::4:%' }),
    RangeError,
    'Cannot range over keys: the continue token is malformed',
  ],
  [
    'range: a token of another range',
    (s) => s.range({ prefix: 'b', continue: '1::4:a' }),
    RangeError,
    'Cannot range over keys: the continue token is of another range',
  ],
  [
    'range: a token for a point',
    (s) => s.range({ key: 'a', continue: '1::4:a' }),
    RangeError,
    'Cannot range over keys: a single key has no next page',
  ],
  [
    'range: a token and another revision',
    (s) => s.range({ prefix: '', revision: 3, continue: '1::4:a' }),
    RangeError,
    'Cannot range over keys: the continue token is for revision 4, not 3',
  ],
  [
    'range: a token and a broken revision',
    (s) => s.range({ prefix: '', revision: Number.NaN, continue: '1::4:a' }),
    RangeError,
    'Cannot range over keys: the revision is NaN, allowed is a safe integer',
  ],
  ['put: an empty key', (s) => s.put('', 1), InvalidKeyError, 'Cannot put a key: the key is empty'],
  ['put: no string', (s) => s.put(bad(null), 1), TypeError, 'Cannot put a key: the key is not a string'],
  [
    'put: no value',
    (s) => s.put('a', undefined),
    TypeError,
    'Cannot put a key: the value is undefined and ignoreValue',
  ],
  [
    'putAll: no value',
    (s) => s.putAll([bad({ key: 'a' })]),
    TypeError,
    'Cannot put keys: the value is undefined and ignoreValue',
  ],
  ...[{ lease: '1' }, { ttlMs: 1000 }].map((more): [string, Call, ErrorClass, string] => [
    `put: ignoreLease and ${Object.keys(more)}`,
    (s) => s.put('a', 1, bad({ ignoreLease: true, ...more })),
    TypeError,
    'Cannot put a key: ignoreLease excludes lease and ttlMs',
  ]),
  ...['put', 'delete', 'range', 'txn'].map((type): [string, Call, ErrorClass, string] => [
    `txn: a misspelt member of a ${type}`,
    (s) => s.txn({ else: [bad({ type, ...(type === 'txn' ? {} : { key: 'a' }), limits: 1 })] }),
    TypeError,
    `Cannot run a transaction: unknown member of a ${type} limits`,
  ]),
  [
    'txn: a range at half a revision, in the branch that does not run',
    (s) => s.txn({ else: [{ type: 'range', key: 'a', revision: 1.5 }] }),
    RangeError,
    'Cannot run a transaction: the revision is 1.5, allowed is a safe integer',
  ],
  [
    'txn: a put without a value',
    (s) => s.txn({ then: [bad({ type: 'put', key: 'a' })] }),
    TypeError,
    'Cannot run a transaction: the value is undefined and ignoreValue',
  ],
  [
    'compare: no value',
    (s) => s.txn({ compare: [{ key: 'a', target: 'value', result: '=', value: undefined }] }),
    TypeError,
    'Cannot run a transaction: the value is undefined',
  ],
  ...FLAGS.map(([name, call, action]): [string, Call, ErrorClass, string] => [
    `${action}: ${name} is no boolean`,
    call,
    TypeError,
    `Cannot ${action}: ${name} is yes, allowed are true and false`,
  ]),
  ...(['revoke a lease', 'keep a lease alive', 'read a lease', 'grant a lease'] as const).flatMap((action) =>
    BAD_IDS.map(([id, expected, reason]): [string, Call, ErrorClass, string] => [
      `${action}: the id ${JSON.stringify(id)}`,
      (s) => {
        if (action === 'revoke a lease') return s.revokeLease(bad(id));
        if (action === 'keep a lease alive') return s.keepAliveLease(bad(id));
        return action === 'read a lease' ? s.leaseTimeToLive(bad(id)) : s.grantLease({ ttlMs: 1, id: bad(id) });
      },
      expected,
      `Cannot ${action}: the lease id is ${reason}, allowed is a decimal string from '1'`,
    ]),
  ),
  [
    'put: a conflict',
    (s) => s.put('a', 1, { expect: { modRevision: 9 } }),
    ConflictError,
    'Cannot put a key: expected mod revision 9 of "a", found 2',
  ],
  [
    'put: a conflict with absence',
    (s) => s.put('none', 1, { expect: { modRevision: 1 } }),
    ConflictError,
    'Cannot put a key: expected mod revision 1 of "none", found 0',
  ],
  [
    'put: must not exist',
    (s) => s.put('a', 1, { expect: { modRevision: 0 } }),
    ConflictError,
    'Cannot put a key: expected mod revision 0 of "a", found 2',
  ],
  [
    'put: a broken expectation',
    (s) => s.put('a', 1, { expect: { modRevision: 0.5 } }),
    RangeError,
    'Cannot put a key: expect.modRevision is 0.5, allowed is a safe integer from 0 on',
  ],
  [
    'put: a negative expectation',
    (s) => s.put('a', 1, { expect: { modRevision: -1 } }),
    RangeError,
    'Cannot put a key: expect.modRevision is -1, allowed is a safe integer from 0 on',
  ],
  [
    'put: an empty expectation',
    (s) => s.put('a', 1, { expect: bad({}) }),
    TypeError,
    'Cannot put a key: expect.modRevision is of type undefined',
  ],
  [
    'put: aborted before',
    (s) => s.put('a', 1, { signal: AbortSignal.abort(new Error('Cannot wait')) }),
    Error,
    'Cannot wait',
  ],
  ['delete: an empty key', (s) => s.delete(''), InvalidKeyError, 'Cannot delete keys: the key is empty'],
  ['delete: no range', (s) => s.delete(bad(undefined)), TypeError, 'Cannot delete keys: the range is not an object'],
  ['delete: no shape', (s) => s.delete(bad({})), TypeError, 'Cannot delete keys: a range has exactly one of'],
  [
    'delete: a conflict',
    (s) => s.delete('a', { expect: { modRevision: 3 } }),
    ConflictError,
    'Cannot delete keys: expected mod revision 3 of "a", found 2',
  ],
  [
    'delete: a range with an expectation',
    (s) => s.delete({ prefix: 'a' }, { expect: { modRevision: 2 } }),
    TypeError,
    'Cannot delete keys: expect needs a single key',
  ],
  [
    'delete: aborted before',
    (s) => s.delete('a', { signal: AbortSignal.abort(new Error('Cannot wait')) }),
    Error,
    'Cannot wait',
  ],
  ['txn: no object', (s) => s.txn(bad(undefined)), TypeError, 'Cannot run a transaction: the request is not an object'],
  [
    'txn: no array',
    (s) => s.txn({ then: bad({ type: 'put' }) }),
    TypeError,
    'Cannot run a transaction: then is not an array',
  ],
  [
    'txn: compare as text',
    (s) => s.txn({ compare: bad('x') }),
    TypeError,
    'Cannot run a transaction: compare is not an array',
  ],
  [
    'txn: a null operation',
    (s) => s.txn({ else: [bad(null)] }),
    TypeError,
    'Cannot run a transaction: an operation is not an object',
  ],
  [
    'txn: a null compare',
    (s) => s.txn({ compare: [bad(null)] }),
    TypeError,
    'Cannot run a transaction: a compare is not an object',
  ],
  [
    'txn: an unknown operation',
    (s) => s.txn({ then: [bad({ type: 'get', key: 'a' })] }),
    TypeError,
    'Cannot run a transaction: the type of an operation is get',
  ],
  [
    'txn: an empty key',
    (s) => s.txn({ then: [{ type: 'put', key: '', value: 1 }] }),
    InvalidKeyError,
    'Cannot run a transaction: the key is empty',
  ],
  [
    'txn: an empty key in the branch not taken',
    (s) => s.txn({ else: [{ type: 'delete', key: '' }] }),
    InvalidKeyError,
    'Cannot run a transaction: the key is empty',
  ],
  [
    'txn: a bad range',
    (s) => s.txn({ then: [bad({ type: 'delete' })] }),
    TypeError,
    'Cannot run a transaction: a range has exactly one of',
  ],
  [
    'txn: a bad limit',
    (s) => s.txn({ then: [{ type: 'range', key: 'a', limit: 0.1 }] }),
    RangeError,
    'Cannot run a transaction: the limit is 0.1, allowed is a safe integer',
  ],
  [
    'txn: an unknown result',
    (s) => s.txn({ compare: [bad({ key: 'a', target: 'mod', result: '==', value: 2 })] }),
    TypeError,
    'Cannot run a transaction: compare.result is ==',
  ],
  [
    'txn: an unknown target',
    (s) => s.txn({ compare: [bad({ key: 'a', target: 'age', result: '=', value: 2 })] }),
    TypeError,
    'Cannot run a transaction: compare.target is age',
  ],
  [
    'txn: a number as text',
    (s) => s.txn({ compare: [bad({ key: 'a', target: 'mod', result: '=', value: '2' })] }),
    TypeError,
    'Cannot run a transaction: compare.value is of type string, allowed is a safe integer',
  ],
  [
    'txn: a lease that is no id',
    (s) => s.txn({ compare: [{ key: 'a', target: 'lease', result: '=', value: '-1' }] }),
    RangeError,
    'Cannot run a transaction: compare.value is "-1", allowed is a decimal string',
  ],
  [
    'txn: aborted before',
    (s) => s.txn({}, { signal: AbortSignal.abort(new Error('Cannot wait')) }),
    Error,
    'Cannot wait',
  ],
  ['watch: no object', (s) => s.watch(bad('a')), TypeError, 'Cannot watch: the range is not an object'],
  ['watch: an empty key', (s) => s.watch({ key: '' }), InvalidKeyError, 'Cannot watch: the key is empty'],
  ['watch: an empty range', (s) => s.watch({ start: 'b', end: 'a' }), RangeError, 'Cannot watch: the range is empty'],
  [
    'watch: a negative start',
    (s) => s.watch({ key: 'a' }, { fromRevision: -1 }),
    RangeError,
    'Cannot watch: fromRevision is -1',
  ],
  [
    'watch: a broken start',
    (s) => s.watch({ key: 'a' }, { fromRevision: 1.5 }),
    RangeError,
    'Cannot watch: fromRevision is 1.5',
  ],
  [
    'watch: a start above 2^53',
    (s) => s.watch({ key: 'a' }, { fromRevision: 2 ** 53 }),
    RangeError,
    'Cannot watch: fromRevision is',
  ],
  [
    'watch: initial and a start',
    (s) => s.watch({ key: 'a' }, { fromRevision: 2, initial: true }),
    TypeError,
    'Cannot watch: initial and fromRevision exclude each other',
  ],
  [
    'watch: identity that is no text',
    (s) => s.watch({ key: 'a' }, { fromRevision: 1, identity: 7 as never }),
    TypeError,
    'Cannot watch: identity is of type number, allowed is a string',
  ],
  [
    'watch: identity without a start',
    (s) => s.watch({ key: 'a' }, { identity: 'x' }),
    TypeError,
    'Cannot watch: identity belongs to a fromRevision',
  ],
  [
    'watch: a bound of 0',
    (s) => s.watch({ key: 'a' }, { lagEventsMax: 0 }),
    RangeError,
    'Cannot watch: lagEventsMax is 0',
  ],
  [
    'watch: an unknown policy',
    (s) => s.watch({ key: 'a' }, { onSlow: bad('drop') }),
    TypeError,
    'Cannot watch: onSlow is drop',
  ],
  [
    'watch: an unknown filter',
    (s) => s.watch({ key: 'a' }, { filter: bad('nothing') }),
    TypeError,
    'Cannot watch: filter is nothing',
  ],
  ['watch: a signal that is none', (s) => s.watch({ key: 'a' }, { signal: bad({}) }), TypeError, ''],
  [
    'compact: twice',
    (s) => s.compact(2),
    CompactedError,
    'Cannot compact: compacted, the smallest legal revision is 3',
  ],
  [
    'compact: the future',
    (s) => s.compact(5),
    FutureRevisionError,
    'Cannot compact: revision 5 is in the future, the store is at 4',
  ],
  ['compact: a negative revision', (s) => s.compact(-1), RangeError, 'Cannot compact: the revision is -1'],
  ['compact: a broken revision', (s) => s.compact(2.5), RangeError, 'Cannot compact: the revision is 2.5'],
  [
    'compact: no revision',
    (s) => s.compact(bad(undefined)),
    TypeError,
    'Cannot compact: the revision is of type undefined',
  ],
  [
    'ready: aborted before',
    (s) => s.ready({ signal: AbortSignal.abort(new Error('Cannot wait')) }),
    Error,
    'Cannot wait',
  ],
];

/** a at 2, b at 3, c at 4; compacted to 2. */
async function openAbc(): Promise<Store<unknown, Key>> {
  const { store } = await openTestStore<unknown, Key>({ keys: bad('utf8') });
  for (const key of ['a', 'b', 'c']) await store.put(key, 1);
  await store.compact(2);
  return store;
}

describe('wrong calls', () => {
  it.each(CALLS)('%s', async (_, call, expected, message) => {
    const store = await openAbc();
    const before = [store.range({ prefix: '' }), store.compactRevision, store.stats()];
    const error = await errorOf(() => call(store));
    expect(error).toBeInstanceOf(expected);
    expect(error.message.slice(0, message.length)).toBe(message);
    expect([store.range({ prefix: '' }), store.compactRevision, store.stats()]).toEqual(before);
  });

  it.each<[string, Call]>([
    ['get', (s) => s.get('a')],
    ['range', (s) => s.range({ prefix: '' })],
    ['put', (s) => s.put('a', 1)],
    ['delete', (s) => s.delete('a')],
    ['txn', (s) => s.txn({})],
    ['watch', (s) => s.watch({ key: 'a' })],
    ['compact', (s) => s.compact(3)],
    ['ready', (s) => s.ready()],
    ['stats', (s) => s.stats()],
    ['revision', (s) => s.revision],
    ['compactRevision', (s) => s.compactRevision],
  ])('%s after close() is a ClosedError; closing again is not', async (_, call) => {
    const store = await openAbc();
    await store.close();
    const error = await errorOf(() => call(store));
    expect(error).toBeInstanceOf(ClosedError);
    expect(error.message).toMatch(/^Cannot .*: closed$/);
    await store.close();
    await store[Symbol.asyncDispose]();
  });

  it('bytes: strings and empty keys are refused', async () => {
    const { store } = await openTestStore<unknown, Uint8Array>({ keys: 'bytes' });
    const calls: [() => unknown, ErrorClass, string][] = [
      [() => store.get(bad('a')), TypeError, 'Cannot get a key: the key is not a Uint8Array'],
      [() => store.put(new Uint8Array(0), 1), InvalidKeyError, 'Cannot put a key: the key is empty'],
      [() => store.put(bad([1]), 1), TypeError, 'Cannot put a key: the key is not a Uint8Array'],
      [
        () => store.put(new Uint8Array(65_536), 1),
        LimitExceededError,
        'Cannot put a key: keyBytes is at most 65535, got 65536',
      ],
      [
        () => store.range({ prefix: new Uint8Array(0), continue: '1::1:%E2%82%AC' }),
        RangeError,
        'Cannot range over keys: the continue token is malformed',
      ],
    ];
    for (const [call, expected, message] of calls) {
      const error = await errorOf(call);
      expect([error instanceof expected, error.message]).toEqual([true, message]);
    }
    expect(store.revision).toBe(1);
  });

  it('the longest key works, as text and as bytes', async () => {
    const { store } = await openTestStore();
    const key = 'k'.repeat(65_535);
    await store.put(key, 1);
    await store.put(`${key.slice(1)}l`, 1);
    const page = store.range({ prefix: '', limit: 1 });
    expect([page.kvs[0]?.key, store.range({ prefix: '', continue: page.continue ?? '' }).count]).toEqual([key, 1]);
    const { store: bytes } = await openTestStore<number, Uint8Array>({ keys: 'bytes' });
    await bytes.put(new Uint8Array(65_535).fill(255), 1);
    expect(bytes.range({ prefix: Uint8Array.of(255) }).count).toBe(1);
  });
});

describe('openStore', () => {
  it.each<[OpenStoreOptions<unknown>, ErrorClass, string]>([
    [bad({ revisions: 1 }), TypeError, 'Cannot open a store: unknown option revisions'],
    [{ keys: bad('text') }, TypeError, 'Cannot open a store: keys is text'],
    [{ values: bad('shared') }, TypeError, 'Cannot open a store: values is shared'],
    [{ values: 'trusted', codec: jsonCodec() }, TypeError, 'Cannot open a store: values: trusted and a codec'],
    [{ memoryBytesMax: 100 }, RangeError, 'Cannot open a store: memoryBytesMax is 100'],
    [{ memoryBytesMax: Number.NaN }, RangeError, 'Cannot open a store: memoryBytesMax is NaN'],
    [
      { memoryBytesMax: bad('2000000') },
      TypeError,
      'Cannot open a store: memoryBytesMax is of type string, allowed is an integer from 1048576 to 2147418112',
    ],
    [bad([]), TypeError, 'Cannot open a store: the options are not an object'],
    [{ memoryBytesMax: 1_048_576.5 }, RangeError, 'Cannot open a store: memoryBytesMax is 1048576.5'],
    [bad(null), TypeError, 'Cannot open a store: the options are not an object'],
    [{ codec: bad(null) }, TypeError, 'Cannot open a store: codec is not an object'],
    [{ codec: bad({}) }, TypeError, 'Cannot open a store: codec has no method encode'],
    [{ clock: bad({}) }, TypeError, 'Cannot open a store: clock has no method now'],
    [{ random: bad(5) }, TypeError, 'Cannot open a store: random is not a function'],
    [{ signal: bad(5) }, TypeError, 'Cannot open a store: the signal is not an AbortSignal'],
    [{ retention: bad(null) }, TypeError, 'Cannot open a store: retention is not an object'],
    [{ retention: bad(1000) }, TypeError, 'Cannot open a store: retention is not an object'],
    [{ backend: bad(null) }, TypeError, 'Cannot open a store: backend is not an object'],
    [{ backend: bad({}) }, TypeError, 'Cannot open a store: backend has no method range'],
    [{ logger: bad({ warn() {} }) }, TypeError, 'Cannot open a store: logger has no method debug'],
    [{ prefixes: ['a'] }, TypeError, 'Cannot open a store: prefixes needs a backend'],
    [{ waitReady: false }, TypeError, 'Cannot open a store: waitReady needs a backend'],
    [{ retention: { events: 0 } }, RangeError, 'Cannot open a store: retention.events is 0'],
    [{ retention: { events: bad('5') } }, TypeError, 'Cannot open a store: retention.events is of type string'],
    [{ retention: bad([]) }, TypeError, 'Cannot open a store: retention is not an object'],
    [{ retention: { bytes: -1 } }, RangeError, 'Cannot open a store: retention.bytes is -1'],
    [{ retention: { ageMs: Number.NaN } }, RangeError, 'Cannot open a store: retention.ageMs is NaN'],
    [{ retention: bad({ age: 5 }) }, TypeError, 'Cannot open a store: unknown option retention.age'],
    [{ signal: AbortSignal.abort(new Error('Cannot wait')) }, Error, 'Cannot wait'],
  ])('%j', async (options, expected, message) => {
    const error = await errorOf(() => openStore(options));
    expect(error).toBeInstanceOf(expected);
    expect(error.message.slice(0, message.length)).toBe(message);
  });
});
