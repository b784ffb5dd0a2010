import { jsonCodec } from '../store/codecs.ts';
import { ConflictError, NotAppliedError } from '../types/errors.ts';
import type { LeaseRecord, LeaseRecordClient, StoredLeaseRecord } from '../types/lease-record.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';

/**
 * A record for {@link createLeaderElector} in one key of a store, as JSON text; the version is the key's mod revision. The
 * key has no lease: the record outlives its holder, and says who it was.
 *
 * A replica is asked for what it has, which may be old. Then a write is refused, since it names the version that was read.
 *
 * @example
 * ```ts
 * import { createStoreLeaseRecord, openStore } from 'plimsoll';
 *
 * const record = createStoreLeaseRecord(await openStore(), 'leases/scheduler');
 * ```
 */
export function createStoreLeaseRecord<V, K extends Key>(store: Store<V, K>, key: K): LeaseRecordClient {
  const root = (typeof key === 'string' ? '' : new Uint8Array(0)) as K;
  const view = store.prefix(root, { codec: jsonCodec<LeaseRecord>() });
  return {
    async get(signal) {
      await view.ready({ signal });
      const kv = view.get(key);
      return kv === undefined ? undefined : { record: kv.value, resourceVersion: String(kv.modRevision) };
    },
    create: (record, signal) => write(view, key, record, 0, signal),
    update: (record, resourceVersion, signal) => write(view, key, record, Number(resourceVersion), signal),
  };
}

async function write<K extends Key>(
  view: Store<LeaseRecord, K>,
  key: K,
  record: LeaseRecord,
  modRevision: Revision,
  signal: AbortSignal,
): Promise<StoredLeaseRecord | undefined> {
  const stored = (revision: Revision) => ({ record, resourceVersion: String(revision) });
  try {
    return stored((await view.put(key, record, { expect: { modRevision }, signal })).revision);
  } catch (error) {
    if (error instanceof ConflictError) return undefined;
    // It is written, only not to be seen here yet.
    if (error instanceof NotAppliedError) return stored(error.revision);
    throw error;
  }
}
