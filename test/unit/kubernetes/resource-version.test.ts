import { describe, expect, it } from 'vitest';
import { compareVersions } from '../../../src/kubernetes/resource-version.ts';

describe('compareVersions (IN4)', () => {
  it.each([
    ['1', '1', 'same'],
    ['9', '10', 'older'],
    ['10', '9', 'newer'],
    ['199', '200', 'older'],
    // Neighbours that are one number as a double.
    ['9007199254740992', '9007199254740993', 'older'],
    // The largest of 128 bits, and the one below.
    ['340282366920938463463374607431768211455', '340282366920938463463374607431768211454', 'newer'],
    ['a', 'a', 'same'],
    ['a', 'b', 'unknown'],
    ['1', 'b', 'unknown'],
    ['', '1', 'unknown'],
    // No integer as the API server writes it.
    ['01', '2', 'unknown'],
    ['-1', '2', 'unknown'],
    ['1.5', '2', 'unknown'],
    ['1e3', '2', 'unknown'],
    ['1'.repeat(40), '2', 'unknown'],
  ] as const)('%s to %s: %s', (a, b, order) => {
    expect(compareVersions(a, b)).toBe(order);
    const back = order === 'older' ? 'newer' : order === 'newer' ? 'older' : order;
    expect(compareVersions(b, a)).toBe(back);
  });
});
