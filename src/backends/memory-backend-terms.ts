import type { BackendKeyValue, BackendPosition, ByteRange } from '../types/backend.ts';
import type { KeyRange, KeyValue } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { Store } from '../types/store.ts';

/** The store that is behind a memory backend, and what both call by different names. */
export type ByteStore = Store<Uint8Array, Uint8Array>;

export function keyRange(range: ByteRange): KeyRange<Uint8Array> {
  if (range.end === undefined) return { key: range.start };
  return range.end.length === 0 ? { start: range.start } : { start: range.start, end: range.end };
}

export function backendKv(kv: KeyValue<Uint8Array, Uint8Array>): BackendKeyValue {
  const { key, createRevision, modRevision, version, lease } = kv;
  return { key, value: kv.value ?? new Uint8Array(0), createRevision, modRevision, version, lease };
}

export function positionOf(store: ByteStore): BackendPosition {
  return { identity: store.identity, revision: store.revision };
}

export function signalOf({ signal }: { readonly signal?: AbortSignal | undefined }): SignalOptions {
  return signal === undefined ? {} : { signal };
}
