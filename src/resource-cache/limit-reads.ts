/** Reads the JSON of a path of the API server, `/apis/apps/v1`; rejects for anything but an answer of 200. */
export type ReadPath = (path: string, options: { readonly signal: AbortSignal }) => Promise<unknown>;

/** Reads of one discovery. */
export interface LimitedReads {
  /** Rejects with the signal's reason once that has aborted. */
  read(path: string): Promise<unknown>;
  /** Nothing of them is left on the signal. */
  end(): void;
}

/** A cluster has a hundred groups: one that is asked for all of them at once has better things to do. */
const READS_MAX = 8;

/**
 * At most so many reads under way at a time; the others wait in their order. Each has a signal of its own: requests of `node:http` hold on to theirs
 * for a while after their end, and Node warns of a leak where more than ten have the same.
 */
export function limitReads(readPath: ReadPath, signal: AbortSignal): LimitedReads {
  let free = READS_MAX;
  const waiting: (() => void)[] = [];
  const underWay = new Set<AbortController>();
  const abort = (): void => {
    for (const one of underWay) one.abort(signal.reason);
  };
  signal.addEventListener('abort', abort);
  return {
    read: async (path) => {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      const own = new AbortController();
      underWay.add(own);
      try {
        signal.throwIfAborted();
        return await readPath(path, { signal: own.signal });
      } finally {
        underWay.delete(own);
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
    end: () => signal.removeEventListener('abort', abort),
  };
}
