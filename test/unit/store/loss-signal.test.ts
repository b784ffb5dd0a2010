import { describe, expect, it } from 'vitest';
import { LossSignal } from '../../../src/store/loss-signal.ts';

describe('the signal of what can be lost', () => {
  it('aborts in a microtask of its own, with the reason of the first loss', async () => {
    const lost = new LossSignal();
    const { signal } = lost;
    expect([lost.signal === signal, lost.loss, signal.aborted]).toEqual([true, undefined, false]);
    const reason = new Error('first');
    lost.lose(reason);
    lost.lose(new Error('second'));
    expect([lost.loss, signal.aborted]).toEqual([{ reason }, false]);
    await undefined;
    expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  });

  it('has aborted already when it is asked for after the loss', () => {
    const lost = new LossSignal();
    const reason = new Error('gone');
    lost.lose(reason);
    expect([lost.signal.aborted, lost.signal.reason]).toEqual([true, reason]);
  });
});
