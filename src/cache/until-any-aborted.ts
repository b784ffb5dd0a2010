import { untilAborted } from '../system/abortable.ts';
import { onAbort } from '../watch/on-abort.ts';

/**
 * As `untilAborted`, for signals that many calls share at once: that of the store's life, that of the application. They
 * get one listener each, however many calls are under way.
 */
export async function untilAnyAborted<T>(
  start: (signal: AbortSignal) => Promise<T>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<T> {
  const own = new AbortController();
  const unlisten: (() => void)[] = [];
  for (const signal of signals) {
    if (signal !== undefined) unlisten.push(onAbort(signal, (reason) => own.abort(reason)));
  }
  try {
    return await untilAborted(start, [own.signal]);
  } finally {
    for (const off of unlisten) off();
  }
}
