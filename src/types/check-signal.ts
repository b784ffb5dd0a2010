const METHODS = ['throwIfAborted', 'addEventListener', 'removeEventListener'] as const;

/**
 * Refuses what is no signal, in the one way of every call that takes one. Judged by what is called of it, so that signals of
 * another realm are fine; half a signal would fail, or never be heard, in the middle of the call.
 *
 * Throws TypeError.
 */
export function checkSignal(
  signal: unknown,
  action: string,
  refusal: string = 'the signal is not an AbortSignal',
): asserts signal is AbortSignal | undefined {
  if (signal === undefined || isSignal(signal)) return;
  throw new TypeError(`Cannot ${action}: ${refusal}`);
}

function isSignal(signal: unknown): boolean {
  if (typeof signal !== 'object' || signal === null) return false;
  return (
    METHODS.every((method) => typeof Reflect.get(signal, method) === 'function') &&
    typeof Reflect.get(signal, 'aborted') === 'boolean'
  );
}
