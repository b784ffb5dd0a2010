/** Runs that cutting down one failing program may take, and for how long. */
const RUNS_MAX = 30_000;
const SHRINK_MS_MAX = 15_000;
/** Pieces up to this size are tried at every place, not only one behind the other. */
const SMALL = 12;

/**
 * Cuts parts out of something that fails as long as it still fails: first everything before and behind what matters,
 * then pieces, halves first and smaller ones after them, down to single parts until none can go.
 *
 * @param fails whether these parts still fail; it does not have to be in the same way
 */
export function shrink<T>(parts: readonly T[], fails: (parts: readonly T[]) => boolean): readonly T[] {
  const until = performance.now() + SHRINK_MS_MAX;
  let runs = 0;
  let best = parts;
  const isBetter = (candidate: readonly T[]): boolean => {
    if (++runs > RUNS_MAX || performance.now() > until || !fails(candidate)) return false;
    best = candidate;
    return true;
  };
  for (let length = 0; length < parts.length && !isBetter(parts.slice(0, length)); ) length++;
  const whole = best;
  for (let start = whole.length; start > 0 && !isBetter(whole.slice(start)); ) start--;
  for (let size = Math.ceil(best.length / 2); size >= 1; ) {
    let isCut = false;
    for (let start = 0; start < best.length; ) {
      if (isBetter([...best.slice(0, start), ...best.slice(start + size)])) isCut = true;
      else start += size > SMALL ? size : 1;
    }
    if (size > SMALL) size = Math.floor(size / 2);
    else if (size > 1) size--;
    else if (isCut) size = Math.min(SMALL, best.length);
    else break;
  }
  return best;
}

/** The error that a run throws, `undefined` when it does not. */
export function errorOf(run: () => void): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error ?? new Error('something that is nothing was thrown');
  }
}

/** The message of an error and, where it says more, of what caused it. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : messageOf(error.cause);
  // A trap has no message of ours: where it happened is all there is.
  const stack = error instanceof WebAssembly.RuntimeError ? `\n${error.stack ?? ''}` : '';
  return `${error.message}${stack}${error.message.includes(cause) ? '' : `\n  because of ${cause}`}`;
}
