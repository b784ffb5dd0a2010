/**
 * What an export answers when it cannot do as asked. Negative, so that ids, counts and pointers stay non-negative.
 * `src/core/abi.ts` maps each to its typed error; a test compares the two lists.
 */
export const enum Status {
  Ok = 0,
  /** No such key or version. */
  NotFound = -1,
  /** The memory limit would be passed; nothing was changed. */
  Full = -2,
  /** An argument names no key or version, or goes backwards: a bug of the caller. Nothing was changed. */
  Invalid = -3,
}
