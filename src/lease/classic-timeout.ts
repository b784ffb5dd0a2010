import type { Clock } from '../types/clock.ts';
import { BackendError } from '../types/errors.ts';
import { onAbort } from '../types/on-abort.ts';

interface TimeoutCounts {
  unknownOutcomes: number;
  lateAnswers: number;
}

/**
 * Runs a call that has to answer in time: the signal it is given aborts when nobody waits any more, because time is up or
 * `end` has aborted. Rejects then, at once; an answer that comes later is counted and dropped.
 */
export function untilTimeout<T>(
  start: (signal: AbortSignal) => T | PromiseLike<T>,
  timeoutMs: number,
  clock: Pick<Clock, 'after'>,
  end: AbortSignal,
  counts: TimeoutCounts,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    let isOver = false;
    const finish = (): boolean => {
      if (isOver) return false;
      isOver = true;
      cancel();
      unlisten();
      return true;
    };
    const giveUp = (reason: unknown): void => {
      if (!finish()) return;
      reject(reason);
      controller.abort(reason);
    };
    const cancel = clock.after(timeoutMs, () => {
      counts.unknownOutcomes++;
      giveUp(new BackendError('write', `no answer within ${timeoutMs} ms`, { maybeCommitted: true }));
    });
    const unlisten = onAbort(end, giveUp);
    const late = (): void => {
      counts.lateAnswers++;
    };
    new Promise<T>((settle) => settle(start(controller.signal))).then(
      (value) => (finish() ? resolve(value) : late()),
      (error: unknown) => (finish() ? reject(error) : late()),
    );
  });
}
