/** What a call has failed with, at once or later; an Error that says so when it has not. */
export async function errorOf(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  return new Error('nothing was thrown');
}
