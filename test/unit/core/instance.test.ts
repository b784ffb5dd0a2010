import { describe, expect, it } from 'vitest';
import { CoreInstance } from '../../../src/core/instance.ts';
import { coreModule } from '../../../src/core/module.ts';
import { StoreFullError } from '../../../src/types/errors.ts';

describe('CoreInstance.input', () => {
  it('has a region for no bytes at all, before and after a larger one', () => {
    const instance = new CoreInstance(coreModule());
    const first = instance.input(0, 'ask');
    expect(first).toBeGreaterThan(0);
    expect(instance.input(100, 'ask')).toBe(first);
    expect(instance.input(0, 'ask')).toBe(first);
  });

  it.each([2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 45])('refuses %d bytes, which a 32-bit number cannot say', (length) => {
    const instance = new CoreInstance(coreModule());
    expect(() => instance.input(length, 'ask')).toThrow(StoreFullError);
  });
});
