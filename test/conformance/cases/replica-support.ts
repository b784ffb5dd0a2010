import { openStore, type Store, textCodec } from 'plimsoll';
import {
  createFaultyBackend,
  createMemoryBackend,
  createSeededRandom,
  createVirtualClock,
  type FaultyBackend,
  type VirtualClock,
} from 'plimsoll/testing';

/** A replica of an embedded store of bytes, with a faulty connection between the two. */
export interface Replica {
  readonly store: Store<string>;
  readonly data: Store<Uint8Array, Uint8Array>;
  readonly backend: FaultyBackend;
  readonly clock: VirtualClock;
}

export interface ReplicaOptions {
  readonly prefixes?: readonly string[];
  readonly waitReady?: boolean;
  readonly before?: (backend: FaultyBackend, data: Store<Uint8Array, Uint8Array>) => Promise<void> | void;
}

export async function openReplica(options: ReplicaOptions = {}): Promise<Replica> {
  const { before, ...rest } = options;
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random });
  const backend = createFaultyBackend(createMemoryBackend(data), { clock });
  await before?.(backend, data);
  const store = await openStore<string>({ ...rest, backend, clock, random, codec: textCodec() });
  await pass(clock, 0);
  return { store, data, backend, clock };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** How a promise stands, without waiting for it. */
export function standing(promise: Promise<unknown>): { state: string; error: unknown } {
  const found: { state: string; error: unknown } = { state: 'pending', error: undefined };
  promise.then(
    () => {
      found.state = 'resolved';
    },
    (error: unknown) => {
      found.state = 'rejected';
      found.error = error;
    },
  );
  return found;
}

/**
 * Lets time pass in slices. In some runtimes a message between ports arrives before all promise chains have settled, so
 * that work which a timer began can end one slice later.
 */
export async function pass(clock: VirtualClock, delayMs: number): Promise<void> {
  for (let slice = 0; slice < 40; slice++) await clock.advance(delayMs / 40);
}
