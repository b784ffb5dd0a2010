import {
  CompactedError,
  ConflictError,
  DuplicateKeyError,
  FutureRevisionError,
  InvalidKeyError,
  KeyNotFoundError,
  LeaseExistsError,
  LeaseNotFoundError,
  LimitExceededError,
} from '../../src/types/errors.ts';
import type { Answer } from './subject.ts';

/** The class of an error in the words of the spec. Any other one is shown as it is, and so differs from all of etcd's. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof CompactedError) return { error: 'compacted', compactRevision: error.compactRevision };
  if (error instanceof FutureRevisionError) return { error: 'future revision' };
  if (error instanceof DuplicateKeyError) return { error: 'duplicate key' };
  if (error instanceof InvalidKeyError) return { error: 'empty key' };
  if (error instanceof ConflictError) return { error: 'conflict', actual: error.actualRevision };
  if (error instanceof KeyNotFoundError) return { error: 'key not found' };
  if (error instanceof LeaseNotFoundError) return { error: 'lease not found' };
  if (error instanceof LeaseExistsError) return { error: 'lease exists' };
  const told = error instanceof LimitExceededError ? LIMITS[error.limit] : misuse(error);
  if (told !== undefined) return { error: told };
  return { error: String(error), stack: error instanceof Error ? error.stack : undefined };
}

const LIMITS: Readonly<Record<string, string>> = {
  txnOperations: 'too many operations',
  leaseTtlMs: 'TTL too large',
};

/** What etcd tells by errors of its own, and the embedded store as wrong arguments. */
function misuse(error: unknown): string | undefined {
  if (error instanceof RangeError && error.message.includes('the range is empty')) return 'empty range';
  if (!(error instanceof TypeError)) return undefined;
  if (error.message.includes('ignoreValue')) return 'value provided';
  return error.message.includes('ignoreLease') ? 'lease provided' : undefined;
}
