import { type Backoff, backoffDelayMs } from '../queue/backoff.ts';
import { PermanentError, TemporaryError } from '../types/errors.ts';
import type { Random } from '../types/random.ts';
import type { Attempt } from './record.ts';

/** How a call ended. `aborted`: somebody had told it to stop, so its error is no verdict on its input. */
export type CallResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: unknown; readonly aborted: boolean };

/** What a call's end means for its record (A7'). A superseded call leaves its attempt open and its count unchanged. */
export type Outcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'temporary'; readonly delayMs: number; readonly error: unknown }
  | { readonly kind: 'permanent'; readonly error: unknown }
  | { readonly kind: 'superseded' };

export interface RetryPolicy {
  readonly retries: number;
  readonly backoff: Backoff;
}

/**
 * Judges the end of a call. A `PermanentError` is final, also from an aborted call: it is about the input. Any other
 * error is temporary until the retries are used up.
 */
export function outcomeOf(
  result: CallResult,
  attempt: Pick<Attempt, 'failures'>,
  policy: RetryPolicy,
  random: Random,
): Outcome {
  if (result.ok) return { kind: 'ok' };
  const { error } = result;
  const asks = askedBy(error);
  if (asks === 'never') return { kind: 'permanent', error };
  if (result.aborted) return { kind: 'superseded' };
  if (attempt.failures + 1 > policy.retries) return { kind: 'permanent', error };
  const delayMs = asks === undefined ? backoffDelayMs(attempt.failures, policy.backoff, random) : Math.max(1, asks);
  return { kind: 'temporary', delayMs, error };
}

/**
 * What an error asks for: no other attempt, one after so many ms, or nothing. An error can be anything, also something
 * that throws when it is looked at; that asks for nothing.
 */
function askedBy(error: unknown): 'never' | number | undefined {
  try {
    if (error instanceof PermanentError) return 'never';
    const delayMs = error instanceof TemporaryError ? error.delayMs : undefined;
    return Number.isFinite(delayMs) ? delayMs : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The attempt after its outcome, in absolute terms: written twice it is the same. `digest`: of what the handler sees with
 * its own patches applied, whatever the outcome (A7', A8').
 */
export function attemptAfter(
  attempt: Attempt,
  outcome: Exclude<Outcome, { kind: 'superseded' }>,
  digest: string,
  wallMs: number,
): Attempt {
  switch (outcome.kind) {
    case 'ok':
      return { digest, state: 'ok', failures: attempt.failures, wakeAtWallMs: 0, delayMs: 0 };
    case 'permanent':
      return { digest, state: 'failed', failures: attempt.failures + 1, wakeAtWallMs: 0, delayMs: 0 };
    case 'temporary': {
      const { delayMs } = outcome;
      return { digest, state: 'open', failures: attempt.failures + 1, wakeAtWallMs: wallMs + delayMs, delayMs };
    }
  }
}
