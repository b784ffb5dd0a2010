import { type Compare, type Operation, openStore } from 'plimsoll';
import { equal, test } from '../harness.ts';
import { numbers, replay, storeOf } from './store-support.ts';

test('txn: nothing at all succeeds and uses no revision', async () => {
  equal(await (await openStore()).txn({}), { revision: 1, succeeded: true, responses: [] });
});

test('txn: several keys, one revision, one batch', async () => {
  const store = await storeOf('a');
  const then: Operation<string>[] = [
    { type: 'put', key: 'b', value: 'x' },
    { type: 'delete', key: 'a' },
    { type: 'put', key: 'c', value: 'y' },
  ];
  equal((await store.txn({ then })).responses, [{ type: 'put' }, { type: 'delete', deleted: 1 }, { type: 'put' }]);
  equal([numbers(store, 'b'), numbers(store, 'c'), numbers(store, 'a')], ['b(3,3,1)', 'c(3,3,1)', 'none']);
  equal(await replay(store, { prefix: '' }, 1, { fromRevision: 3 }), ['3: put b, delete a, put c']);
});

test('txn: ranges see what the branch wrote before them', async () => {
  const store = await storeOf('a', 'b');
  const { responses } = await store.txn({
    then: [
      { type: 'put', key: 'ab', value: 'x' },
      { type: 'delete', key: 'b' },
      { type: 'range', prefix: '' },
      { type: 'range', prefix: '', limit: 1, keysOnly: true },
      { type: 'range', prefix: '', countOnly: true },
    ],
  });
  const rows = responses.map((response) =>
    response.type === 'range'
      ? [response.kvs.map(({ key }) => key).join(' '), response.count, response.more]
      : undefined,
  );
  equal(rows.slice(2), [
    ['a ab', 2, false],
    ['a', 2, true],
    ['', 2, false],
  ]);
});

test('txn: prevKv of puts and deletes', async () => {
  const store = await storeOf('a', 'b');
  const { responses } = await store.txn({
    then: [
      { type: 'put', key: 'a', value: 'x', prevKv: true },
      { type: 'delete', prefix: 'b', prevKv: true },
      { type: 'put', key: 'c', value: 'x', prevKv: true },
    ],
  });
  equal(
    responses.map((response) => JSON.stringify(response).match(/"modRevision":\d+/g) ?? []),
    [['"modRevision":2'], ['"modRevision":3'], []],
  );
});

// The key k was made at revision 2, written again at 3; its value is 'two'.
const COMPARES: [Omit<Compare<string>, 'key'>, boolean, boolean][] = [
  [{ target: 'create', result: '=', value: 2 }, true, false],
  [{ target: 'create', result: '!=', value: 0 }, true, false],
  [{ target: 'mod', result: '>', value: 2 }, true, false],
  [{ target: 'mod', result: '<', value: 3 }, false, true],
  [{ target: 'version', result: '=', value: 2 }, true, false],
  [{ target: 'version', result: '=', value: 0 }, false, true],
  [{ target: 'lease', result: '=', value: '0' }, true, true],
  [{ target: 'lease', result: '>', value: '0' }, false, false],
  [{ target: 'value', result: '=', value: 'two' }, true, false],
  [{ target: 'value', result: '!=', value: 'two' }, false, false],
  [{ target: 'value', result: '<', value: 'u' }, true, false],
  [{ target: 'value', result: '>', value: 'u' }, false, false],
] as never;

for (const [compare, live, missing] of COMPARES) {
  test(`txn: compare ${compare.target} ${compare.result} ${JSON.stringify(compare.value)}`, async () => {
    const store = await openStore<string>();
    await store.put('k', 'one');
    await store.put('k', 'two');
    const holds = async (key: string) =>
      (await store.txn({ compare: [{ ...compare, key } as Compare<string>] })).succeeded;
    equal([await holds('k'), await holds('none')], [live, missing]);
  });
}

test('txn: all compares must hold', async () => {
  const store = await storeOf('a');
  const compare: Compare<string>[] = [
    { key: 'a', target: 'version', result: '=', value: 1 },
    { key: 'b', target: 'version', result: '=', value: 1 },
  ];
  equal((await store.txn({ compare, else: [{ type: 'put', key: 'c', value: 'x' }] })).succeeded, false);
  equal(numbers(store, 'c'), 'c(3,3,1)');
});
