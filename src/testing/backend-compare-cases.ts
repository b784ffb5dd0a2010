import { byteText } from '../core/key-order.ts';
import type { BackendCompare, ByteRange } from '../types/backend.ts';
import type { BackendCaseSpec, BackendSession } from './backend-session.ts';
import { nested, point, put, span, when } from './backend-terms.ts';

const RESULTS = ['=', '!=', '<', '>'] as const;

/** What each result says about a value that is below, equal to, or above the one compared with. */
const HOLDS: Readonly<Record<(typeof RESULTS)[number], readonly [boolean, boolean, boolean]>> = {
  '=': [false, true, false],
  '!=': [true, false, true],
  '<': [true, false, false],
  '>': [false, false, true],
};

/** Compares of a transaction. */
export const COMPARE_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'the numbers of a key are compared',
    rule: 'store:R17',
    needs: ['writable'],
    async run(session) {
      const create = await session.write({ k: '1' });
      const mod = await session.write({ k: '2' });
      for (const [target, number] of [
        ['create', create],
        ['mod', mod],
        ['version', 2],
      ] as const) {
        await table(session, 'k', target, [number + 1, number, number - 1]);
      }
      await table(session, 'k', 'lease', ['1', '0', '0']);
    },
  },
  {
    name: 'values are compared as unsigned bytes',
    rule: 'store:R17',
    needs: ['writable'],
    async run(session) {
      await session.write({ k: 'b', long: 'b\x00', high: '\x80', empty: '' });
      await table(session, 'k', 'value', ['c', 'b', 'a']);
      await table(session, 'k', 'value', ['b\x00', 'b', 'a\xff']);
      await table(session, 'long', 'value', ['b\x01', 'b\x00', 'b']);
      await table(session, 'high', 'value', ['\x81', '\x80', '\x7f']);
      await table(session, 'empty', 'value', ['\x00', '', '']);
    },
  },
  {
    name: 'a missing key counts as 0, its value satisfies nothing',
    rule: 'store:R17',
    needs: ['writable'],
    async run(session) {
      await session.write({ gone: '1' });
      await session.write({ gone: undefined });
      for (const key of ['none', 'gone']) {
        for (const target of ['create', 'mod', 'version'] as const) await table(session, key, target, [1, 0, -1]);
        await table(session, key, 'lease', ['1', '0', '0']);
        for (const result of RESULTS) {
          await expectHolds(session, when(key, 'value', result, ''), false);
          await expectHolds(session, when(key, 'value', result, 'x'), false);
        }
      }
    },
  },
  {
    name: 'a compare over a range holds for every key in it',
    rule: 'store:R18',
    needs: ['writable'],
    async run(session) {
      await session.write({ 'a/1': 'x', 'a/2': 'x', 'a/3': 'x', b: 'y' });
      const mod = await session.write({ 'a/2': 'x' });
      const all = span('a/', 'a0');
      const cases: readonly (readonly [BackendCompare, boolean])[] = [
        [when(all, 'value', '=', 'x'), true],
        [when(all, 'value', '!=', 'y'), true],
        [when(all, 'value', '<', 'x'), false],
        [when(span('a/', ''), 'value', '=', 'x'), false],
        [when(all, 'version', '=', 1), false],
        [when(all, 'version', '>', 0), true],
        [when(all, 'version', '!=', 2), false],
        [when(all, 'mod', '<', mod), false],
        [when(all, 'mod', '<', mod + 1), true],
        [when(all, 'create', '<', mod), true],
        [when(all, 'create', '=', mod), false],
        [when(all, 'lease', '=', '0'), true],
        [when(point('a/2'), 'version', '=', 2), true],
        [when(span('a/3', 'b'), 'version', '=', 1), true],
      ];
      for (const [compare, expected] of cases) await expectHolds(session, compare, expected);
    },
  },
  {
    name: 'an empty range is compared as one missing key',
    rule: 'store:R18',
    needs: ['writable'],
    async run(session) {
      await session.write({ a: '1', b: '1' });
      const ranges: readonly ByteRange[] = [
        span('c', 'd'),
        span('a\x00', 'b'),
        span('b', 'b'),
        span('b', 'a'),
        span('c', ''),
        span('', '\x00'),
        span('b', '\x00'),
      ];
      for (const range of ranges) {
        await expectHolds(session, when(range, 'version', '=', 0), true);
        await expectHolds(session, when(range, 'create', '>', 0), false);
        await expectHolds(session, when(range, 'mod', '<', 1), true);
        await expectHolds(session, when(range, 'lease', '=', '0'), true);
        for (const result of RESULTS) await expectHolds(session, when(range, 'value', result, '1'), false);
      }
    },
  },
  {
    name: 'all compares must hold, none is true',
    rule: 'store:R19',
    needs: ['writable'],
    async run(session) {
      await session.write({ a: '1', b: '2' });
      const [yes, also, no] = [
        when('a', 'value', '=', '1'),
        when('b', 'value', '=', '2'),
        when('b', 'version', '=', 7),
      ];
      const cases: readonly (readonly [readonly BackendCompare[], boolean])[] = [
        [[], true],
        [[yes], true],
        [[yes, also], true],
        [[yes, no], false],
        [[no, yes], false],
        [[no], false],
      ];
      for (const [compare, expected] of cases) {
        const { succeeded } = await session.txn([], { compare });
        session.equal(`the result of ${compare.length} compares`, succeeded, expected);
      }
    },
  },
  {
    name: 'nested compares see the state before the whole transaction',
    rule: 'store:R19',
    needs: ['writable'],
    async run(session) {
      await session.write({ a: 'old' });
      const then = [
        put('a', 'new'),
        put('b', 'new'),
        nested(
          [when('a', 'value', '=', 'old'), when('b', 'version', '=', 0)],
          [put('c', 'before')],
          [put('c', 'after')],
        ),
        nested([when('c', 'create', '=', 0)], [nested([when('a', 'version', '=', 1)], [put('d', 'before')])]),
      ];
      const { responses } = await session.txn(then);
      const told = responses.map((response) => (response.type === 'txn' ? response.succeeded : response.type));
      session.equal('the answers', told, ['put', 'put', true, true]);
      const rows = await session.rows();
      session.equal(
        'the values behind it',
        rows.map(({ value }) => byteText(value)),
        ['new', 'new', 'before', 'before'],
      );
    },
  },
];

/** Compares one key with something above, equal to and below what it has, by every result. */
async function table(
  session: BackendSession,
  key: string,
  target: BackendCompare['target'],
  [above, equal, below]: readonly [number | string, number | string, number | string],
): Promise<void> {
  for (const result of RESULTS) {
    const [isBelow, isEqual, isAbove] = HOLDS[result];
    await expectHolds(session, when(key, target, result, above), isBelow);
    await expectHolds(session, when(key, target, result, equal), isEqual);
    if (below !== equal) await expectHolds(session, when(key, target, result, below), isAbove);
  }
}

async function expectHolds(session: BackendSession, compare: BackendCompare, expected: boolean): Promise<void> {
  const { succeeded } = await session.txn([], { compare: [compare] });
  const { target, result, value, key } = compare;
  const operand = value instanceof Uint8Array ? JSON.stringify(byteText(value)) : value;
  const of = key === undefined ? 'a range' : byteText(key);
  session.equal(`whether ${target} of ${of} ${result} ${operand}`, succeeded, expected);
}
