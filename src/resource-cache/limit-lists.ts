import { untilEnded } from '../kubernetes/deadlines.ts';
import type { KubernetesTransport, ListPageOptions } from '../kubernetes/transport.ts';
import type { Clock } from '../types/clock.ts';
import { onAbort } from '../types/on-abort.ts';

/**
 * The same transport with at most so many lists under way; the others wait, in their order. A whole cluster that is listed at once is
 * more than an API server takes well, and more memory than one needs.
 *
 * Waiting ends with the signal and is no part of the deadline of a page: a kind whose server hangs would make every other one fail, which
 * has not been asked for yet. A place is given back when the request has ended; when its signal has aborted, at most as long after that as
 * the end of any connection is waited for, so that a transport that hears nothing keeps none.
 */
export function limitLists(
  transport: KubernetesTransport,
  listConcurrency: number,
  clock: Pick<Clock, 'now' | 'after'>,
): KubernetesTransport {
  let free = listConcurrency;
  const waiting = new Set<() => void>();

  const enter = async ({ signal, hold }: ListPageOptions): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free--;
      return;
    }
    const go = hold?.();
    await new Promise<void>((resolve, reject) => {
      const unlisten = onAbort(signal, (reason) => {
        if (waiting.delete(next)) reject(reason);
      });
      const next = (): void => {
        unlisten();
        go?.();
        resolve();
      };
      waiting.add(next);
    });
  };

  /** The place goes to who has waited longest. */
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      free++;
      return;
    }
    waiting.delete(next);
    next();
  };

  return {
    list: async (request, options) => {
      await enter(options);
      const { signal } = options;
      const listed = start(() => transport.list(request, options));
      let isHeld = true;
      const giveBack = (): void => {
        if (!isHeld) return;
        isHeld = false;
        leave();
      };
      const unlisten = onAbort(signal, () => void untilEnded(clock, listed).then(giveBack));
      try {
        return await listed;
      } finally {
        unlisten();
        giveBack();
      }
    },
    watch: (request, options) => transport.watch(request, options),
  };
}

/** One that throws instead of rejecting is no different. */
async function start<R>(list: () => Promise<R>): Promise<R> {
  return list();
}
