import * as plimsoll from 'plimsoll';
import * as testing from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';

test('errors: a class carries its code, its name and its facts', () => {
  const error = throws(
    () => {
      throw new plimsoll.CompactedError('read "a"', { minRevision: 7, compactRevision: 6 });
    },
    { class: plimsoll.CompactedError, code: 'COMPACTED' },
  );
  equal([error.name, error.minRevision, error.compactRevision], ['CompactedError', 7, 6]);
  equal(error.message, 'Cannot read "a": compacted, the smallest legal revision is 7');
  equal([error instanceof plimsoll.PlimsollError, error instanceof Error], [true, true]);
});

test('errors: every exported class is a PlimsollError with a code of its own', () => {
  const facts = { minRevision: 1, compactRevision: 1, path: '', reason: '', limit: '', max: 1, actual: 2, offset: 0 };
  const codes = new Map<string, string>();
  for (const [name, value] of Object.entries(plimsoll)) {
    if (!name.endsWith('Error') || name === 'PlimsollError') continue;
    const error: unknown = Reflect.construct(value as unknown as new () => unknown, ['do it', facts, facts]);
    equal(error instanceof plimsoll.PlimsollError, true);
    const { code } = error as plimsoll.PlimsollError;
    equal((error as Error).name, name);
    equal(codes.get(code), undefined);
    codes.set(code, name);
  }
  equal(codes.size > 10, true);
});

test('errors: the cause is kept', async () => {
  const cause = new TypeError('socket closed');
  const failing = Promise.reject(new plimsoll.BackendError('list', 'no answer', { cause, maybeCommitted: true }));
  const error = await rejects(failing, { class: plimsoll.BackendError, code: 'BACKEND' });
  equal(error.cause, cause);
  equal([error.maybeCommitted, error.permanent], [true, false]);
});

/** Every class with what it says and the facts it carries. */
const ERRORS: [plimsoll.PlimsollError, string, Record<string, unknown>][] = [
  [
    new plimsoll.FutureRevisionError('read', { revision: 9, currentRevision: 3 }),
    'Cannot read: revision 9 is in the future, the store is at 3',
    { code: 'FUTURE_REVISION', revision: 9, currentRevision: 3 },
  ],
  [
    new plimsoll.ConflictError('put', { key: 'a', expectedRevision: 2, actualRevision: 0 }),
    'Cannot put: expected mod revision 2 of "a", found 0',
    { code: 'CONFLICT', key: 'a', expectedRevision: 2, actualRevision: 0 },
  ],
  [
    new plimsoll.InvalidKeyError('put', 'the key is empty', ''),
    'Cannot put: the key is empty',
    { code: 'INVALID_KEY', key: '' },
  ],
  [
    new plimsoll.DuplicateKeyError('run', 'a'),
    'Cannot run: one transaction writes the key "a" twice',
    { code: 'DUPLICATE_KEY', key: 'a' },
  ],
  [
    new plimsoll.LimitExceededError('put', { limit: 'keyBytes', max: 4, actual: 5 }),
    'Cannot put: keyBytes is at most 4, got 5',
    { code: 'LIMIT_EXCEEDED', limit: 'keyBytes', max: 4, actual: 5 },
  ],
  [
    new plimsoll.StoreFullError('put', 64),
    'Cannot put: the core may use 64 bytes and they are in use',
    { code: 'STORE_FULL', memoryBytesMax: 64 },
  ],
  [
    new plimsoll.NotReadyError('get', { epoch: 2 }),
    'Cannot get: the first snapshot is not there yet',
    { code: 'NOT_READY', epoch: 2 },
  ],
  [
    new plimsoll.StaleError('get', { ageMs: 900, maxStaleMs: 500 }),
    'Cannot get: the state may be 900 ms old, allowed are 500 ms',
    { code: 'STALE', ageMs: 900, maxStaleMs: 500 },
  ],
  [
    new plimsoll.NotCachedError('get', { range: { prefix: 'b/' }, prefixes: ['a/'] }),
    'Cannot get: the prefix "b/" is outside the replicated prefixes "a/"',
    { code: 'NOT_CACHED', range: { prefix: 'b/' }, prefixes: ['a/'] },
  ],
  [
    new plimsoll.NotAppliedError('put', { revision: 7, result: 'r' }),
    'Committed at revision 7, but cannot see it here: put',
    { code: 'NOT_APPLIED', revision: 7, result: 'r' },
  ],
  [
    new plimsoll.IdentityChangedError('watch', 2),
    'Cannot watch: the data behind the store was replaced',
    { code: 'IDENTITY_CHANGED', epoch: 2 },
  ],
  [
    new plimsoll.SlowWatcherError({ resumeRevision: 4, lagEvents: 9 }),
    'Cannot continue the watch: it is 9 events behind',
    { code: 'SLOW_WATCHER', resumeRevision: 4, lagEvents: 9 },
  ],
  [
    new plimsoll.BackendError('list', 'refused', { permanent: true }),
    'Cannot list: refused',
    { code: 'BACKEND', maybeCommitted: false, permanent: true },
  ],
  [
    new plimsoll.UnsupportedError('put', 'writing'),
    'Cannot put: writing is not supported here',
    { code: 'UNSUPPORTED', capability: 'writing' },
  ],
  [new plimsoll.ClosedError('get'), 'Cannot get: closed', { code: 'CLOSED' }],
  [
    new plimsoll.JsonSyntaxError('hash', { offset: 3, reason: 'a comma is missing' }),
    'Cannot hash: a comma is missing at byte 3',
    { code: 'JSON_SYNTAX', offset: 3, reason: 'a comma is missing' },
  ],
  [
    new plimsoll.ValueError('put', { path: '/a', reason: 'is not a finite number' }),
    'Cannot put: the value at /a is not a finite number',
    { code: 'VALUE', path: '/a', reason: 'is not a finite number' },
  ],
  [new plimsoll.InvariantError('one is two'), 'Broken invariant: one is two', { code: 'INVARIANT' }],
  [new plimsoll.TemporaryError('later', { delayMs: 5 }), 'later', { code: 'TEMPORARY', delayMs: 5 }],
  [new plimsoll.PermanentError('never'), 'never', { code: 'PERMANENT' }],
];

for (const [error, message, facts] of ERRORS) {
  test(`errors: ${error.name} says what happened and carries the facts`, () => {
    equal(error.message, message);
    for (const [name, fact] of Object.entries(facts)) equal(Reflect.get(error, name), fact);
  });
}

test('errors: isRetryable says whether the same call may succeed', () => {
  const retryable = new Set(['NotReadyError', 'StaleError', 'TemporaryError']);
  for (const [error] of ERRORS)
    equal([error.name, plimsoll.isRetryable(error)], [error.name, retryable.has(error.name)]);
  equal(plimsoll.isRetryable(new plimsoll.BackendError('list', 'no answer')), true);
  equal(plimsoll.isRetryable(new plimsoll.BackendError('list', 'no answer', { permanent: true })), false);
  equal(plimsoll.isRetryable(new plimsoll.BackendError('put', 'no answer', { maybeCommitted: true })), false);
  for (const other of [undefined, null, 'text', new Error('x'), new plimsoll.PlimsollError('MINE', 'x')]) {
    equal(plimsoll.isRetryable(other), false);
  }
});

test('errors: one class, whichever entry point it came from', () => {
  const shared = Object.entries(testing).filter(([name]) => name in plimsoll);
  for (const [name, value] of shared) equal(value, Reflect.get(plimsoll, name));
  equal(typeof testing, 'object');
});
