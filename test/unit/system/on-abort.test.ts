import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onAbort } from '../../../src/types/on-abort.ts';
import { openRig, probe } from '../../support/replica-rig.ts';
import { openTestStore, Reader } from '../store/fixture.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('onAbort', () => {
  it('has one listener a signal, and none when nobody waits', () => {
    const { signal } = new AbortController();
    const off = Array.from({ length: 20 }, () => onAbort(signal, () => {}));
    expect(listeners(signal)).toBe(1);
    for (const unlisten of off) {
      unlisten();
      unlisten();
    }
    expect(listeners(signal)).toBe(0);
    const again = onAbort(signal, () => {});
    expect(listeners(signal)).toBe(1);
    again();
    expect(listeners(signal)).toBe(0);
  });

  it('tells each once, in order, with the reason; who left meanwhile hears nothing', () => {
    const controller = new AbortController();
    const heard: unknown[] = [];
    onAbort(controller.signal, (reason) => {
      heard.push(['a', reason]);
      leave();
    });
    const leave = onAbort(controller.signal, () => heard.push('b'));
    onAbort(controller.signal, (reason) => heard.push(['c', reason]));
    controller.abort('enough');
    const off = onAbort(controller.signal, (reason) => heard.push(['late', reason]));
    expect(heard).toEqual([
      ['a', 'enough'],
      ['c', 'enough'],
      ['late', 'enough'],
    ]);
    expect(listeners(controller.signal)).toBe(0);
    off();
  });
});

describe('a signal that many share', () => {
  it('has one listener for all watches of it, and ends them all', async () => {
    const { store } = await openTestStore();
    const controller = new AbortController();
    const readers = Array.from(
      { length: 12 },
      () => new Reader(store.watch({ prefix: '' }, { signal: controller.signal })),
    );
    for (const reader of readers) await reader.drain();
    expect(listeners(controller.signal)).toBe(1);
    await readers[0]?.watch.return();
    expect(listeners(controller.signal)).toBe(1);
    controller.abort(new Error('over'));
    for (const reader of readers) await reader.drain();
    expect(readers.map(({ error }) => (error as Error | undefined)?.message)).toEqual([
      undefined,
      ...Array.from({ length: 11 }, () => 'over'),
    ]);
    expect(listeners(controller.signal)).toBe(0);
  });

  it('has one for the writes and waits of a replica, and what the replica keeps by itself has no more', async () => {
    const warnings: string[] = [];
    const onWarning = (warning: Error) => warnings.push(warning.name);
    process.on('warning', onWarning);
    const rig = await openRig();
    const { signal } = new AbortController();
    const release = rig.backend.hang('txn');
    const puts = Array.from({ length: 20 }, (_, index) => probe(rig.store.put(`k${index}`, 'v', { signal })));
    await rig.clock.settle();
    expect(listeners(signal)).toBe(1);
    rig.backend.holdItems();
    release();
    await rig.clock.settle();
    // Answered, and waiting for the stream now.
    expect([listeners(signal), puts.filter(({ state }) => state === 'pending').length]).toEqual([1, 20]);
    rig.backend.releaseItems();
    await rig.clock.settle();
    expect([listeners(signal), puts.every(({ state }) => state === 'resolved')]).toEqual([0, true]);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    await rig.store.close();
  });
});
