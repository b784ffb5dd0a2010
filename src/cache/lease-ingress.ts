import type { BackendLeaseAnswer, BackendLeaseStatus, BackendPosition } from '../types/backend.ts';
import type { LeaseId } from '../types/lease.ts';
import { isLeaseId } from '../types/lease-id.ts';
import { checkKey, checkObject, checkPosition, checkRevision, refusal, text } from './ingress.ts';

/** What a backend says about leases, checked where it comes in (M36). What does not hold is a `BackendError` that names it. */

function checkLeaseId(id: unknown): asserts id is LeaseId {
  if (!isLeaseId(id)) throw refusal(`a lease id is ${text(id)}, not a decimal string of 64 bits`);
}

/** The answer of `grant` and of `keepAlive`. `wanted` is what was asked for; a backend may grant a longer TTL, never a shorter one. */
export function checkLeaseAnswer(
  answer: unknown,
  wanted: { readonly id?: LeaseId | undefined; readonly ttlMs?: number },
): asserts answer is BackendLeaseAnswer {
  checkPosition(answer);
  const { id, ttlMs } = answer as Partial<BackendLeaseAnswer>;
  checkLeaseId(id);
  if (wanted.id !== undefined && id !== wanted.id)
    throw refusal(`lease ${wanted.id} was asked for, ${id} was answered`);
  checkRevision(ttlMs, 'a TTL');
  const least = wanted.ttlMs ?? 1;
  if (ttlMs < least) throw refusal(`a TTL of ${least} ms was asked for, ${ttlMs} ms were granted`);
}

export function checkRevokeAnswer(answer: unknown): asserts answer is BackendPosition & { readonly deleted: number } {
  checkPosition(answer);
  checkRevision((answer as { deleted?: unknown }).deleted, 'the number of deleted keys');
}

export function checkTimeToLiveAnswer(
  answer: unknown,
  wanted: { readonly id: LeaseId; readonly keys: boolean },
): asserts answer is BackendPosition & { readonly status: BackendLeaseStatus | undefined } {
  checkPosition(answer);
  const { status } = answer as { status?: unknown };
  if (status === undefined) return;
  checkObject(status, 'the status of a lease');
  const { id, grantedTtlMs, remainingMs, keys } = status as Partial<BackendLeaseStatus>;
  if (id !== wanted.id) throw refusal(`lease ${wanted.id} was asked for, ${text(id)} was answered`);
  checkRevision(grantedTtlMs, 'a TTL');
  if (typeof remainingMs !== 'number' || !(remainingMs >= 0)) {
    throw refusal(`what is left of a lease is ${text(remainingMs)}, not a number of ms`);
  }
  if (!wanted.keys) return;
  if (!Array.isArray(keys)) throw refusal('the keys of a lease were asked for, and no array of them was answered');
  for (const key of keys as readonly unknown[]) checkKey(key);
}

export function checkLeasesAnswer(
  answer: unknown,
): asserts answer is BackendPosition & { readonly leases: readonly LeaseId[] } {
  checkPosition(answer);
  const { leases } = answer as { leases?: unknown };
  if (!Array.isArray(leases)) throw refusal('leases were asked for, and no array of them was answered');
  for (const id of leases as readonly unknown[]) checkLeaseId(id);
}
