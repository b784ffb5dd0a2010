import type { SimulatedEnvironment, SimulatedWriter } from '../src/testing/simulator-types.ts';
import type { WriterTry } from '../src/types/writer-lease.ts';

/** Pause before what conflicted is read and tried again, in ms. */
const PAUSE_MS = [10, 20] as const;

/**
 * The baseline without any lease: everybody writes what is not right as soon as it sees it, one key after the other. A
 * conflict is a pause, a read, and another try.
 */
export function createNaiveWriter({ clock, random, read }: SimulatedEnvironment): SimulatedWriter {
  const queue = new Map<string, WriterTry<number>>();
  const end = new AbortController();
  let isBusy = false;
  let cancelPause: () => void = () => {};

  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      cancelPause = clock.after(PAUSE_MS[0] + random() * (PAUSE_MS[1] - PAUSE_MS[0]), resolve);
    });

  const write = async (key: string, request: WriterTry<number>): Promise<void> => {
    let { revision } = request;
    for (;;) {
      const outcome = await attempt(() => request.work({ key, revision, fencingToken: undefined, signal: end.signal }));
      if (outcome !== 'conflict' && outcome !== 'failed') return;
      await pause();
      const found = await attempt(() => read(key));
      if (found !== 'failed' && found !== undefined) revision = found.revision;
    }
  };

  const drain = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    for (const [key, request] of queue) {
      queue.delete(key);
      await write(key, request);
    }
    isBusy = false;
  };

  return {
    try(key, request) {
      queue.set(key, request);
      void drain();
      return true;
    },
    observe(key, observation) {
      if ('satisfied' in observation && observation.satisfied) queue.delete(key);
    },
    async close() {
      end.abort();
      queue.clear();
      cancelPause();
    },
  };
}

async function attempt<T>(call: () => T | PromiseLike<T>): Promise<T | 'failed'> {
  try {
    return await call();
  } catch {
    return 'failed';
  }
}
