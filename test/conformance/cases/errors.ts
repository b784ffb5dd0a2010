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

test('errors: isRetryable says whether the same call may succeed', () => {
  equal(plimsoll.isRetryable(new plimsoll.BackendError('list', 'no answer')), true);
  equal(plimsoll.isRetryable(new plimsoll.BackendError('put', 'no answer', { maybeCommitted: true })), false);
  equal(plimsoll.isRetryable(new plimsoll.NotReadyError('read')), true);
  equal(plimsoll.isRetryable(new plimsoll.ClosedError('read')), false);
  equal(plimsoll.isRetryable(undefined), false);
});

test('errors: one class, whichever entry point it came from', () => {
  const shared = Object.entries(testing).filter(([name]) => name in plimsoll);
  for (const [name, value] of shared) equal(value, Reflect.get(plimsoll, name));
  equal(typeof testing, 'object');
});
