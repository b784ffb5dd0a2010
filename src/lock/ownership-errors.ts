/** The options of an error with a cause, if there is one. */
export function causeOf(cause: unknown): ErrorOptions {
  return cause === undefined ? {} : { cause };
}
