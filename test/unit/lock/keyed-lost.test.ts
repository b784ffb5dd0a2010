import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { KeyedLock } from '../../../src/types/lock.ts';
import type { Logger } from '../../../src/types/logger.ts';
import { take } from './keyed-support.ts';

/** The collector, which is not handed out by itself. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('the collector is not handed out');
  return () => collect();
}

/** Collects, and lets the registry tell, until it has told or turns are over. */
async function collectUntil(isDone: () => boolean): Promise<void> {
  const collect = collector();
  for (let turn = 0; turn < 50 && !isDone(); turn++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function recorder() {
  const errors: (readonly [string, unknown])[] = [];
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message, fields) => void errors.push([message, fields]),
  };
  return { errors, logger };
}

/** In a function of its own, so that no variable keeps the handle. */
function lose(locks: KeyedLock): void {
  take(locks, 'k', 'write', { owner: 'me' });
}

describe('a lock whose handle is dropped', () => {
  it('L5: is told to the logger with debug, and stays held', async () => {
    const { errors, logger } = recorder();
    const clock = createVirtualClock();
    const locks = createKeyedLock({ clock, logger, debug: true });
    lose(locks);
    await clock.advance(40);
    const kept = take(locks, 'kept', 'read');
    for (let index = 0; index < 10; index++) take(locks, `released/${index}`, 'read').release();
    await collectUntil(() => errors.length > 0);
    expect(errors).toEqual([
      [
        'a lock was lost: its handle was collected before it was released',
        { key: 'k', mode: 'write', prefix: false, heldMs: 40 },
      ],
    ]);
    expect(locks.stats()).toMatchObject({ lost: 1, held: 2 });
    expect(locks.tryAcquire('k', 'read')).toBeUndefined();
    kept.release();
  });

  it("L5: is nobody's business without debug", async () => {
    const { errors, logger } = recorder();
    const locks = createKeyedLock({ clock: createVirtualClock(), logger });
    lose(locks);
    let turns = 0;
    await collectUntil(() => ++turns > 5);
    expect(errors).toEqual([]);
    expect(locks.stats()).toMatchObject({ lost: 0, held: 1 });
  });

  it('L5: where the runtime cannot tell, it says so once', () => {
    const warnings: string[] = [];
    const logger = { ...recorder().logger, warn: (message: string) => void warnings.push(message) };
    const original = globalThis.FinalizationRegistry;
    Reflect.deleteProperty(globalThis, 'FinalizationRegistry');
    try {
      const locks = createKeyedLock({ clock: createVirtualClock(), logger, debug: true });
      take(locks, 'k', 'read').release();
      take(locks, 'k', 'read').release();
    } finally {
      globalThis.FinalizationRegistry = original;
    }
    expect(warnings).toEqual(['lost locks cannot be noticed here: there is no FinalizationRegistry']);
  });
});
