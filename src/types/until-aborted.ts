import { onAbort } from './on-abort.ts';

/**
 * Runs a call that can be aborted, and goes on at once when it is, whether the callee listens or not: a backend that
 * hangs must not make its caller hang. Rejects with the reason of the signal that came first; nothing is started when
 * one has come already. A late outcome of the callee is dropped, never an unhandled rejection.
 *
 * Each signal gets one listener, however many calls are under way with it: that of a store's life or of an application
 * is shared by many. For a promise that is under way already: `raceAborted`.
 */
export function untilAborted<T>(
  start: (signal: AbortSignal) => T | PromiseLike<T>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<T> {
  const aborted = signals.find((signal) => signal?.aborted === true);
  if (aborted !== undefined) return Promise.reject(aborted.reason);
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const unlisten: (() => void)[] = [];
    const done = () => {
      for (const off of unlisten) off();
    };
    for (const signal of signals) {
      if (signal === undefined) continue;
      const off = onAbort(signal, (reason) => {
        done();
        reject(reason);
        controller.abort(reason);
      });
      unlisten.push(off);
    }
    attempt(start, controller.signal).then(
      (value) => {
        done();
        resolve(value);
      },
      (error: unknown) => {
        done();
        reject(error);
      },
    );
  });
}

/**
 * The same for what has been started before, the signals perhaps aborted since: its outcome is dropped then, too, and never
 * an unhandled rejection.
 */
export function raceAborted<T>(underWay: PromiseLike<T>, signals: readonly (AbortSignal | undefined)[]): Promise<T> {
  const promise = Promise.resolve(underWay);
  return new Promise((resolve, reject) => {
    untilAborted(() => promise, signals).then(resolve, reject);
    // Heard in any case, and after an abort that was before: what comes second is dropped.
    promise.then(resolve, reject);
  });
}

/** A callee that throws instead of rejecting is no different. */
async function attempt<T>(start: (signal: AbortSignal) => T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return start(signal);
}
