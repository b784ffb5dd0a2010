/**
 * Hears the end of a signal, with one listener a signal however many wait for it.
 *
 * ```text
 *   signal --one listener--> { waiter, waiter, waiter ... }        in a WeakMap: the set goes with the signal
 * ```
 *
 * A signal that a whole application shares has a watch or a wait on it for each thing that goes on. A listener for each
 * is a warning of a leak on Node from the eleventh on, and removing one means to look through all of them.
 */
const waitersOf = new WeakMap<AbortSignal, Waiters>();

interface Waiters {
  readonly all: Set<Waiter>;
  readonly listener: () => void;
}

interface Waiter {
  readonly run: (reason: unknown) => void;
}

/**
 * Runs `fn` with the reason once the signal aborts; at once if it has. Returns the function that takes it back. `fn` must
 * not throw: the others have to hear of it too.
 */
export function onAbort(signal: AbortSignal, fn: (reason: unknown) => void): () => void {
  if (signal.aborted) {
    fn(signal.reason);
    return () => {};
  }
  const waiters = waitersOf.get(signal) ?? listen(signal);
  const waiter: Waiter = { run: fn };
  waiters.all.add(waiter);
  return () => {
    if (!waiters.all.delete(waiter) || waiters.all.size > 0) return;
    signal.removeEventListener('abort', waiters.listener);
    waitersOf.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiters {
  const all = new Set<Waiter>();
  const listener = () => {
    const heard = [...all];
    for (const waiter of heard) if (all.delete(waiter)) waiter.run(signal.reason);
  };
  const waiters = { all, listener };
  waitersOf.set(signal, waiters);
  signal.addEventListener('abort', listener, { once: true });
  return waiters;
}
