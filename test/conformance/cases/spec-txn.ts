import {
  DuplicateKeyError,
  LimitExceededError,
  type Operation,
  type OperationResult,
  openStore,
  type TxnRequest,
} from 'plimsoll';
import { equal, rejects, test } from '../harness.ts';
import { brief } from './spec-support.ts';

/** Transactions, and updates that are run again. */
const put = (key: string): Operation<string> => ({ type: 'put', key, value: 'x' });

function rowsOf(response: OperationResult<string> | undefined): string {
  return response?.type === 'range' ? response.kvs.map(brief).join(' ') : 'no range';
}

test('C12 put, get, delete, get of one key in one transaction', async () => {
  const store = await openStore<string>();
  const get: Operation<string> = { type: 'range', key: 'foo' };
  const remove: Operation<string> = { type: 'delete', key: 'foo' };
  // One level may not put and delete a key; two that are nested side by side may.
  const flat = store.txn({ then: [put('foo'), get, remove, get] });
  equal((await rejects(flat, { class: DuplicateKeyError, code: 'DUPLICATE_KEY' })).key, 'foo');
  equal(store.revision, 1);
  const { revision, responses } = await store.txn({
    then: [{ type: 'txn', then: [put('foo')] }, get, { type: 'txn', then: [remove] }, get],
  });
  const [, first, nested, second] = responses;
  equal([revision, rowsOf(first), rowsOf(second)], [2, 'foo(2,2,1)', '']);
  equal(nested, { type: 'txn', succeeded: true, responses: [{ type: 'delete', deleted: 1 }] });
  equal(
    [store.get('foo'), (await store.put('foo', 'x')).revision, brief(store.get('foo'))],
    [undefined, 3, 'foo(3,3,1)'],
  );
});

test('C34 all compares of a transaction hold', async () => {
  const store = await openStore<string>();
  await store.put('key1', 'value1');
  await store.put('key2', 'value2');
  const { revision, succeeded, responses } = await store.txn({
    compare: [
      { key: 'key1', target: 'value', result: '!=', value: 'value2' },
      { key: 'key2', target: 'value', result: '!=', value: 'value1' },
    ],
    then: [
      { type: 'range', key: 'key1' },
      { type: 'range', key: 'key2' },
    ],
  });
  equal([revision, succeeded, responses.map(rowsOf)], [3, true, ['key1(2,2,1)', 'key2(3,3,1)']]);
  equal(
    responses.map((response) => (response.type === 'range' ? response.kvs[0]?.value : undefined)),
    ['value1', 'value2'],
  );
});

test('C35 a missing key is 0 to numbers, and nothing to a value', async () => {
  const store = await openStore<string>();
  const holds = async (compare: NonNullable<TxnRequest<string>['compare']>[number]) =>
    (await store.txn({ compare: [compare], then: [], else: [] })).succeeded;
  equal(await holds({ key: 'missing', target: 'version', result: '<', value: 0 }), false);
  equal(await holds({ key: 'missing', target: 'version', result: '>', value: -1 }), true);
  equal(await holds({ key: 'missing', target: 'version', result: '<', value: -1 }), false);
  equal(await holds({ key: 'missing', target: 'value', result: '!=', value: 'x' }), false);
  equal(await holds({ key: 'missing', target: 'value', result: '=', value: '' }), false);
  equal(store.revision, 1);
});

test('C36 create if absent, twice', async () => {
  const store = await openStore<string>();
  const request: TxnRequest<string> = {
    compare: [{ key: 'k', target: 'create', result: '=', value: 0 }],
    then: [put('k')],
  };
  equal(await store.txn(request), { revision: 2, succeeded: true, responses: [{ type: 'put' }] });
  equal(await store.txn(request), { revision: 2, succeeded: false, responses: [] });
  equal([store.revision, brief(store.get('k'))], [2, 'k(2,2,1)']);
});

test('C37 one key may not be written twice', async () => {
  const store = await openStore<string>();
  const refused: Operation<string>[][] = [
    [put('k'), put('k')],
    [{ type: 'delete', start: 'a', end: 'l' }, put('k')],
    [put('k'), { type: 'delete', key: 'k' }],
  ];
  for (const then of refused) {
    const error = await rejects(store.txn({ then }), { class: DuplicateKeyError, code: 'DUPLICATE_KEY' });
    equal(error.key, 'k');
    // Also in a branch that would not run.
    const never = store.txn({ compare: [], then: [], else: then });
    await rejects(never, { class: DuplicateKeyError, code: 'DUPLICATE_KEY' });
  }
  equal(store.revision, 1);
  const { responses } = await store.txn({ then: [{ type: 'txn', then: [put('k')], else: [put('k')] }] });
  equal(responses, [{ type: 'txn', succeeded: true, responses: [{ type: 'put' }] }]);
  equal(brief(store.get('k')), 'k(2,2,1)');
});

test('C38 129 operations are too many', async () => {
  const store = await openStore<string>();
  const puts = (count: number) => Array.from({ length: count }, (_, index) => put(`k${index}`));
  for (const request of [{ then: puts(129) }, { then: [], else: puts(129) }]) {
    const error = await rejects(store.txn(request), { class: LimitExceededError, code: 'LIMIT_EXCEEDED' });
    equal([error.limit, error.max, error.actual], ['txnOperations', 128, 129]);
  }
  equal(store.revision, 1);
  equal((await store.txn({ then: puts(128) })).responses.length, 128);
});

test('C68 of two updates that read and write one key one runs again', async () => {
  const store = await openStore<number>();
  await store.put('x', 0);
  const seen: number[] = [];
  const add = (amount: number) =>
    store.update(async (txn) => {
      const before = txn.get('x') ?? -1;
      seen.push(before);
      // Both have read before either commits.
      await undefined;
      txn.put('x', before + amount);
      return before;
    });
  const results = await Promise.all([add(1), add(10)]);
  const [first, second] = results.sort((a, b) => a.revision - b.revision);
  equal([first?.revision, first?.attempts, first?.value], [3, 1, 0]);
  equal([second?.revision, second?.attempts, second?.value], [4, 2, store.get('x', { revision: 3 })?.value]);
  equal([seen.length, store.get('x')?.value, store.revision], [3, 11, 4]);
});
