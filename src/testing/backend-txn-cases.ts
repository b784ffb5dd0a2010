import { byteText } from '../core/key-order.ts';
import type { BackendOperation, BackendTxnRequest } from '../types/backend.ts';
import {
  CompactedError,
  DuplicateKeyError,
  FutureRevisionError,
  KeyNotFoundError,
  LimitExceededError,
  type PlimsollError,
} from '../types/errors.ts';
import type { BackendCaseSpec, BackendSession } from './backend-session.ts';
import { ALL, bytes, del, get, keyTexts, nested, put, responseText, rowText, span, when } from './backend-terms.ts';

/** Compares, and operations of a branch, that every backend takes. */
const OPERATIONS = 128;

/** Operations of a transaction. */
export const TXN_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'then runs when the compares hold, else when they do not',
    rule: 'store:R19',
    needs: ['writable'],
    async run(session) {
      await session.write({ k: '1' });
      for (const isThere of [true, false]) {
        const compare = [when('k', 'version', isThere ? '=' : '>', 1)];
        const answer = await session.txn([put('then', '1')], { compare, else: [put('else', '1'), get('k')] });
        session.equal('succeeded', answer.succeeded, isThere);
        session.equal('the number of responses', answer.responses.length, isThere ? 1 : 2);
        session.equal(
          'the keys behind it',
          keyTexts(await session.rows()),
          isThere ? ['k', 'then'] : ['else', 'k', 'then'],
        );
      }
    },
  },
  {
    name: 'all changes of a transaction have its revision',
    rule: 'store:R2',
    needs: ['writable'],
    async run(session) {
      await session.write({ b: '1' });
      const { revision } = await session.txn([put('a', '1'), put('b', '2'), nested([], [put('c', '3')])]);
      const rows = (await session.rows()).map(({ modRevision }) => modRevision);
      session.equal('the mod revisions', rows, [revision, revision, revision]);
    },
  },
  {
    name: 'operations run in order and see the writes before them',
    rule: 'store:R20',
    needs: ['writable'],
    async run(session) {
      const old = await session.write({ a: 'old', b: 'old' });
      const { revision, responses } = await session.txn([
        get('a'),
        put('a', 'new'),
        get(ALL),
        del('b'),
        get(ALL),
        nested([], [put('c', '1'), get('a'), del('none')], [put('d', '1')]),
        get(ALL, { countOnly: true }),
      ]);
      session.equal('the answers', responses.map(responseText), [
        `range a=old (${old},${old},1) of 1`,
        'put',
        `range a=new (${old},${revision},2) b=old (${old},${old},1) of 2`,
        'delete 1',
        `range a=new (${old},${revision},2) of 1`,
        `txn true [put, range a=new (${old},${revision},2) of 1, delete 0]`,
        'range  of 2',
      ]);
      session.equal('the rows behind it', (await session.rows()).map(rowText), [
        `a=new (${old},${revision},2)`,
        `c=1 (${revision},${revision},1)`,
      ]);
    },
  },
  {
    name: 'a range sees the writes before it and none behind it, whatever it selects',
    rule: 'store:R20',
    needs: ['writable'],
    run: places,
  },
  {
    name: 'states before are told where they are asked for',
    rule: 'store:R20',
    needs: ['writable'],
    async run(session) {
      const old = await session.write({ a: '1', b: '2', c: '3' });
      const { responses } = await session.txn([
        put('a', 'x', { prevKv: true }),
        put('new', 'x', { prevKv: true }),
        del(span('b', 'd'), true),
        del('none', true),
      ]);
      const told = responses.map((response) => {
        if (response.type === 'put') return response.prevKv === undefined ? [] : [rowText(response.prevKv)];
        return response.type === 'delete' ? response.prevKvs?.map(rowText) : response.type;
      });
      session.equal('the states before', told, [
        [`a=1 (${old},${old},1)`],
        [],
        [`b=2 (${old},${old},1)`, `c=3 (${old},${old},1)`],
        [],
      ]);
    },
  },
  {
    name: 'a put that ignores the value keeps it',
    rule: 'store:R15',
    needs: ['writable'],
    async run(session) {
      const first = await session.write({ k: 'kept' });
      const { revision } = await session.txn([put('k', '', { ignoreValue: true })]);
      session.equal('the row', (await session.rows()).map(rowText), [`k=kept (${first},${revision},2)`]);
      const again = (await session.txn([put('k', 'new', { ignoreLease: true })])).revision;
      session.equal('the row of ignoreLease', (await session.rows()).map(rowText), [`k=new (${first},${again},3)`]);
    },
  },
  {
    name: 'a range of a transaction selects as a range does',
    rule: 'store:R8',
    needs: ['writable'],
    run: selections,
  },
  {
    name: 'a range of a transaction reads at a revision, without its own writes',
    rule: 'store:R13',
    needs: ['writable'],
    async run(session) {
      const first = await session.write({ a: '1' });
      const second = await session.write({ a: '2', b: '1' });
      const { responses } = await session.txn([
        put('a', '3'),
        get(ALL, { revision: first }),
        get(ALL, { revision: second }),
        get(ALL, { keysOnly: true, limit: 1 }),
      ]);
      const kept = responses.slice(1, 3).map(responseText);
      session.equal('the answers', kept, [
        `range a=1 (${first},${first},1) of 1`,
        `range a=2 (${first},${second},2) b=1 (${second},${second},1) of 2`,
      ]);
      const page = responses[3];
      const rows = page?.type === 'range' ? keyTexts(page.kvs) : [];
      session.equal('the newest page', [rows, page?.type === 'range' && page.count], [['a'], 2]);
    },
  },
  {
    name: 'a branch that writes a key twice is refused, whether it would run or not',
    rule: 'store:R20',
    needs: ['writable'],
    run: duplicates,
  },
  {
    name: 'branches that exclude each other may write one key, and deletes may overlap',
    rule: 'store:R20',
    needs: ['writable'],
    async run(session) {
      const no = when('k', 'version', '>', 7);
      await session.txn([nested([], [put('k', 'then')], [put('k', 'else')])], { else: [put('k', 'other')] });
      await session.txn([put('a', '1'), nested([no], [put('c', '1')], [put('c', '2')]), del(span('x', 'z'))]);
      session.equal('the keys', keyTexts(await session.rows()), ['a', 'c', 'k']);
      await session.txn([del(span('a', 'b')), del(ALL)]);
      session.equal('the keys after two deletes of one', keyTexts(await session.rows()), []);
    },
  },
  {
    name: '128 compares and operations are taken; more are taken whole or refused whole',
    rule: 'store:R21',
    needs: ['writable'],
    async run(session) {
      const puts = (count: number) => Array.from({ length: count }, (_, index) => put(`k${index}`, '1'));
      const compares = (count: number) =>
        Array.from({ length: count }, (_, index) => when(`k${index}`, 'version', '<', 9));
      await session.txn(puts(OPERATIONS), { compare: compares(OPERATIONS), else: puts(OPERATIONS) });
      session.equal('the number of keys', (await session.range([ALL])).count, OPERATIONS);
      const more = await session.outcome('129 operations', session.send(puts(OPERATIONS + 1)));
      const { count } = await session.range([ALL]);
      if ('value' in more) return session.equal('the number of keys', count, OPERATIONS + 1);
      const isLimit = more.error instanceof LimitExceededError;
      session.check('the refusal of 129 operations', isLimit, 'LimitExceededError', more.error);
      session.equal('the number of keys behind a refusal', count, OPERATIONS);
    },
  },
  {
    name: 'what is refused has written nothing, and is refused only where it runs',
    rule: 'B12',
    needs: ['writable'],
    run: refusals,
  },
];

async function selections(session: BackendSession): Promise<void> {
  const r1 = await session.write({ a: '3' });
  const r2 = await session.write({ b: '1', c: '2' });
  const r3 = await session.write({ a: '3' });
  const r4 = await session.write({ d: '1' });
  const cases: readonly (readonly [Parameters<typeof get>[1], readonly string[], boolean])[] = [
    [{}, ['a', 'b', 'c', 'd'], false],
    [{ sortOrder: 'descend' }, ['d', 'c', 'b', 'a'], false],
    [{ sortTarget: 'value' }, ['b', 'd', 'c', 'a'], false],
    [{ sortTarget: 'value', sortOrder: 'descend' }, ['a', 'c', 'b', 'd'], false],
    [{ sortTarget: 'version', sortOrder: 'descend' }, ['a', 'b', 'c', 'd'], false],
    [{ sortTarget: 'create', sortOrder: 'descend' }, ['d', 'b', 'c', 'a'], false],
    [{ sortTarget: 'mod' }, ['b', 'c', 'a', 'd'], false],
    [{ sortTarget: 'mod', limit: 2 }, ['b', 'c'], true],
    [{ minModRevision: r3 }, ['a', 'd'], false],
    [{ maxModRevision: r3 }, ['a', 'b', 'c'], false],
    [{ minCreateRevision: r2, maxCreateRevision: r2 }, ['b', 'c'], false],
    [{ maxCreateRevision: r1 }, ['a'], false],
    [{ minModRevision: r3, limit: 2 }, ['a', 'd'], false],
    [{ minModRevision: r3, limit: 1 }, ['a'], true],
    [{ minCreateRevision: r4, sortTarget: 'value', limit: 4 }, ['d'], false],
    [{ limit: 4 }, ['a', 'b', 'c', 'd'], false],
    [{ limit: 3, sortOrder: 'descend' }, ['d', 'c', 'b'], true],
  ];
  for (const [selection, expected, hasMore] of cases) {
    const [response] = (await session.txn([get(ALL, selection)])).responses;
    if (response?.type !== 'range') return session.fail('the answer to a range', 'range', response?.type);
    const { kvs, count, more = kvs.length === selection?.limit && kvs.length < count } = response;
    const what = JSON.stringify(selection);
    session.equal(`the rows of ${what}`, keyTexts(kvs), expected);
    session.equal(`count and more of ${what}`, [count, more], [4, hasMore]);
  }
}

/**
 * The same ranges at four places of one transaction, the second inside a nested one:
 *
 *     ranges, [put c, ranges], put b, ranges, delete a, ranges
 */
async function places(session: BackendSession): Promise<void> {
  await session.write({ a: '1' });
  const second = await session.write({ b: '2' });
  const cases: readonly (readonly [Parameters<typeof get>[1], readonly [string, string, string, string]])[] = [
    [{}, ['a1 b2', 'a1 b2 c0', 'a1 b9 c0', 'b9 c0']],
    [{ sortOrder: 'descend' }, ['b2 a1', 'c0 b2 a1', 'c0 b9 a1', 'c0 b9']],
    [{ sortTarget: 'value' }, ['a1 b2', 'c0 a1 b2', 'c0 a1 b9', 'c0 b9']],
    [{ sortTarget: 'value', limit: 1 }, ['a1', 'c0', 'c0', 'c0']],
    [{ sortTarget: 'version', sortOrder: 'descend' }, ['a1 b2', 'a1 b2 c0', 'b9 a1 c0', 'b9 c0']],
    [{ sortTarget: 'create', sortOrder: 'descend' }, ['b2 a1', 'c0 b2 a1', 'c0 b9 a1', 'c0 b9']],
    [{ sortTarget: 'mod', sortOrder: 'descend' }, ['b2 a1', 'c0 b2 a1', 'b9 c0 a1', 'b9 c0']],
    [{ minModRevision: second }, ['b2', 'b2 c0', 'b9 c0', 'b9 c0']],
    [{ maxModRevision: second }, ['a1 b2', 'a1 b2', 'a1', '']],
    [{ minCreateRevision: second }, ['b2', 'b2 c0', 'b9 c0', 'b9 c0']],
    [{ maxCreateRevision: second }, ['a1 b2', 'a1 b2', 'a1 b9', 'b9']],
    [{ keysOnly: true }, ['a b', 'a b c', 'a b c', 'b c']],
    [{ countOnly: true }, ['', '', '', '']],
  ];
  const ranges = cases.map(([selection]) => get(ALL, selection));
  const inner = nested([], [put('c', '0'), ...ranges]);
  const { responses } = await session.txn([...ranges, inner, put('b', '9'), ...ranges, del('a'), ...ranges]);
  const size = ranges.length;
  const middle = responses[size];
  if (middle?.type !== 'txn') return session.fail('the answer to a nested transaction', 'txn', middle?.type);
  const groups = [
    responses.slice(0, size),
    middle.responses.slice(1),
    responses.slice(size + 2, 2 * size + 2),
    responses.slice(2 * size + 3),
  ];
  for (const [place, group] of groups.entries()) {
    for (const [index, [selection, expected]] of cases.entries()) {
      const response = group[index];
      if (response?.type !== 'range') return session.fail('the answer to a range', 'range', response?.type);
      const rows = response.kvs.map(({ key, value }) => byteText(key) + byteText(value)).join(' ');
      const what = `rows and count of ${JSON.stringify(selection)} at place ${place + 1}`;
      session.equal(what, [rows, response.count], [expected[place], [2, 3, 3, 2][place]]);
    }
  }
}

async function duplicates(session: BackendSession): Promise<void> {
  const revision = await session.write({ b: '1' });
  const no = [when('b', 'version', '>', 7)];
  const branches: readonly (readonly BackendOperation[])[] = [
    [put('k', '1'), put('k', '2')],
    [put('b', '2'), del('b')],
    [del(span('a', 'c')), put('b', '2')],
    [put('k', '1'), nested([], [put('k', '2')])],
    [nested([], [put('k', '1')]), nested(no, [], [put('k', '2')])],
    [nested([], [del(ALL)]), put('k', '1')],
    [nested([], [], [nested([], [put('k', '1'), put('k', '1')])])],
  ];
  for (const branch of branches) {
    const requests: Partial<BackendTxnRequest>[] = [{ then: branch }, { compare: no, then: branch }, { else: branch }];
    for (const { then = [], ...rest } of requests) {
      await session.refused('a branch that writes a key twice', session.send(then, rest), DuplicateKeyError);
    }
  }
  session.equal('the revision behind them', (await session.status()).revision, revision);
}

async function refusals(session: BackendSession): Promise<void> {
  await session.write({ a: '0' });
  await session.write({ a: '1' });
  const compacted = await session.write({ a: '2' });
  await session.within('compact', session.backend.compact({ revision: compacted }));
  const bad: readonly (readonly [BackendOperation, new (...facts: never[]) => PlimsollError])[] = [
    [put('none', '', { ignoreValue: true }), KeyNotFoundError],
    [put('none', '1', { ignoreLease: true }), KeyNotFoundError],
    [get(ALL, { revision: compacted - 1 }), CompactedError],
    [get(ALL, { revision: compacted + 1_000_000 }), FutureRevisionError],
  ];
  const compare = [when('a', 'version', '=', 0)];
  for (const [operation, kind] of bad) {
    await session.refused('a transaction', session.send([put('a', 'half'), operation]), kind);
    await session.refused('a nested one', session.send([put('a', 'half'), nested([], [operation])]), kind);
    const rows = (await session.range([{ start: bytes('a') }])).kvs;
    session.equal(
      'the row behind a refusal',
      rows.map(({ value }) => byteText(value)),
      ['2'],
    );
    const { succeeded } = await session.txn([put('a', 'half'), operation], { compare });
    session.equal('whether a branch that cannot run was taken', succeeded, false);
  }
  session.equal('the revision behind them', (await session.status()).revision, compacted);
}
