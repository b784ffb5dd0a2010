import type { KubernetesTransport } from '../kubernetes/transport.ts';

/**
 * The same transport with at most so many lists under way; the others wait, in their order. A whole cluster that is listed at once is
 * more than an API server takes well, and more memory than one needs. Waiting ends with the signal.
 */
export function limitLists(transport: KubernetesTransport, listConcurrency: number): KubernetesTransport {
  let free = listConcurrency;
  const waiting = new Set<() => void>();

  const enter = (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        if (waiting.delete(next)) reject(signal.reason);
      };
      const next = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      waiting.add(next);
      signal.addEventListener('abort', stop, { once: true });
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
      await enter(options.signal);
      try {
        return await transport.list(request, options);
      } finally {
        leave();
      }
    },
    watch: (request, options) => transport.watch(request, options),
  };
}
