import { onAbort } from '../watch/on-abort.ts';

/**
 * Runs a call of the backend that can be aborted, and goes on at once when it is, whether the backend listens or not.
 * Rejects with the reason of the signal that came first; nothing is started when one has come already. A late outcome of
 * the call is dropped, never an unhandled rejection.
 *
 * It differs from `untilAborted` in what the signals are: that of the store's life and that of the application, which
 * many calls share at once. They get one listener each, however many calls are under way.
 */
export function untilAnyAborted<T>(
  start: (signal: AbortSignal) => Promise<T>,
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
      unlisten.push(
        onAbort(signal, (reason) => {
          done();
          reject(reason);
          controller.abort(reason);
        }),
      );
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

/** A callee that throws instead of rejecting is no different. */
async function attempt<T>(start: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return start(signal);
}
