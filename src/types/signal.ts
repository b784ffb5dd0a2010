/**
 * Options of everything that can be cancelled. The call rejects with the signal's reason as it is, not wrapped.
 *
 * A signal that has aborted before the start means: no effect at all. One that aborts while a write of a replica is under
 * way says nothing about the write: it may be committed (as with `BackendError.maybeCommitted`), so read, then decide.
 * Once the answer is there and only its application is waited for, the rejection is a `NotAppliedError`, which says so.
 */
export interface SignalOptions {
  readonly signal?: AbortSignal;
}
