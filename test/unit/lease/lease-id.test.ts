import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import {
  checkLeaseId,
  compareLeaseIds,
  generateLeaseId,
  isLeaseId,
  parseLeaseId,
} from '../../../src/types/lease-id.ts';
import { testSeed } from '../../support/size.ts';

const MAX = '9223372036854775807';
const ids = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String);
/** Neighbours of every number of digits, where order by text and order by number part. */
const edgeIds = fc
  .integer({ min: 1, max: 18 })
  .chain((digits) => fc.constantFrom('9'.repeat(digits), `1${'0'.repeat(digits)}`));

describe('the id of a lease', () => {
  it.each(['1', '9', '10', '4294967296', '9007199254740993', '9223372036854775799', MAX])('can be %s', (id) => {
    expect([isLeaseId(id), checkLeaseId(id, 'grant a lease'), parseLeaseId(id, 'put a key')]).toEqual([true, id, id]);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '1\n',
    '01',
    '+1',
    '-1',
    '1.0',
    '1e3',
    '0x1',
    '1n',
    'a',
    '٣',
    '00',
    '9223372036854775808',
    '10000000000000000000',
    '9'.repeat(1000),
  ])('cannot be the text %j', (id) => {
    expect(isLeaseId(id)).toBe(false);
    expect(() => checkLeaseId(id, 'grant a lease')).toThrow(RangeError);
    expect(() => parseLeaseId(id, 'put a key')).toThrow(RangeError);
  });

  it.each([[1], [1n], [undefined], [null], [{}], [['1']], [new String('1')], [Symbol('1')]])('cannot be %o', (id) => {
    expect(isLeaseId(id)).toBe(false);
    expect(() => checkLeaseId(id, 'grant a lease')).toThrow(TypeError);
    expect(() => parseLeaseId(id, 'put a key')).toThrow(TypeError);
  });

  it('is not 0, which is none', () => {
    expect(isLeaseId('0')).toBe(false);
    expect(parseLeaseId('0', 'put a key')).toBe(undefined);
    expect(() => checkLeaseId('0', 'grant a lease')).toThrow(
      `Cannot grant a lease: the lease id is "0", allowed is a decimal string from '1' to '${MAX}'`,
    );
  });

  it('is named by errors, however long it is', () => {
    expect(() => parseLeaseId('x'.repeat(1e6), 'put a key', 'lease')).toThrow(
      `Cannot put a key: lease is "${'x'.repeat(24)}"..., allowed is a decimal string from '0' to '${MAX}'`,
    );
    expect(() => parseLeaseId('x'.repeat(24), 'put a key')).toThrow(`is "${'x'.repeat(24)}", allowed`);
    expect(() => parseLeaseId('x'.repeat(25), 'put a key')).toThrow(`is "${'x'.repeat(24)}"..., allowed`);
    expect(() => checkLeaseId(7, 'put a key', 'lease')).toThrow(
      `Cannot put a key: lease is of type number, allowed is a decimal string from '1' to '${MAX}'`,
    );
  });

  it('is ordered as a number', () => {
    return fc.assert(
      fc.property(fc.oneof(ids, edgeIds), fc.oneof(ids, edgeIds), (a, b) => {
        const order = BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
        expect(Math.sign(compareLeaseIds(a, b))).toBe(order);
      }),
    );
  });
});

describe('a generated id', () => {
  it('is an id, and uses all 63 bits', () => {
    const random = createSeededRandom(testSeed());
    let [ones, zeros] = [0n, 0n];
    for (let round = 0; round < 1000; round++) {
      const id = generateLeaseId(random, () => false);
      expect(isLeaseId(id)).toBe(true);
      ones |= BigInt(id);
      zeros |= ~BigInt(id);
    }
    expect([ones, BigInt.asUintN(63, zeros)]).toEqual([2n ** 63n - 1n, 2n ** 63n - 1n]);
  });

  it.each([
    ['always the least', () => 0, ['1', '2', '3']],
    ['always the largest', () => 1 - 2 ** -53, [MAX, '1', '2']],
    ['1, which no random number is', () => 1, ['1', '2', '3']],
    ['no number', () => Number.NaN, ['1', '2', '3']],
    ['a half, in the upper half', () => 0.5, ['4611686020574871552', '4611686020574871553', '4611686020574871554']],
  ])('is never 0 and never in use where chance says %s', (_, random, expected) => {
    const taken = new Set<string>();
    for (let round = 0; round < 3; round++) taken.add(generateLeaseId(random, (id) => taken.has(id)));
    expect([...taken]).toEqual(expected);
  });
});
