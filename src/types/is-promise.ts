/**
 * Whether a function that has to answer at once has returned a promise. That is the mistake, and whoever asks tells of it;
 * what the promise may reject with later is a part of it, and makes no unhandled rejection, which would end a process.
 */
export function isPromise(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null || typeof Reflect.get(answer, 'then') !== 'function') return false;
  void Promise.allSettled([answer]);
  return true;
}
