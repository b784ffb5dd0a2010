import { expect, it } from 'vitest';
import { CallSet } from '../../../src/handlers/call-set.ts';

it.each(['one', 'all'] as const)(
  'what a call rejects with is thrown by `%s`, once the others have ended, too',
  async (wait) => {
    const calls = new CallSet();
    const order: string[] = [];
    calls.add(Promise.reject(new Error('broken')));
    calls.add(Promise.resolve().then(() => void order.push('ended')));
    await expect(calls[wait]()).rejects.toThrow('broken');
    await expect(calls.all()).rejects.toThrow('broken');
    expect([order, calls.size]).toEqual([['ended'], 0]);
  },
);
