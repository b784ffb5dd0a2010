import { type KeyValue, type OpenStoreOptions, openStore, type RangeResult, type Store } from 'plimsoll';
import { createVirtualClock, type VirtualClock } from 'plimsoll/testing';

/** The numbered cases of docs/spec/store.md: one test a number, whose name begins with it. */

/** A store on a clock that stands still: what has a lease sets a timer, and a real one would keep the process. */
export function openStillStore(): Promise<Store<string>> {
  return openStore<string>({ clock: createVirtualClock() });
}

/** "3KV" of the specification: foo, foo1 and foo2 at the revisions 2, 3 and 4. */
export async function open3kv(): Promise<Store<string>> {
  const store = await openStore<string>();
  await store.put('foo', 'bar');
  await store.put('foo1', 'bar1');
  await store.put('foo2', 'bar2');
  return store;
}

/** The `f` of the "KVset": the revision before its first put. */
export const F = 1;

/** "KVset": six keys at f+1 to f+8, c three times. */
export async function openKvSet(): Promise<Store<string>> {
  const store = await openStore<string>();
  const pairs = [
    ['a', 'aa1'],
    ['b', 'a'],
    ['c', 'ac1'],
    ['c', 'ac2'],
    ['c', 'aac'],
    ['foo', 'bar'],
    ['foo/abc', '0'],
    ['fop', 's'],
  ] as const;
  for (const [key, value] of pairs) await store.put(key, value);
  return store;
}

/** So many puts of foo: the revisions 2, 3, ... */
export async function openPuts(count: number): Promise<Store<string>> {
  const store = await openStore<string>();
  for (let index = 0; index < count; index++) await store.put('foo', String(index));
  return store;
}

/** A key with create, mod and version, as the specification writes it: `foo(2,3,2)`. */
export function brief(kv: Omit<KeyValue<unknown>, 'value'> | undefined): string {
  return kv === undefined ? 'none' : `${kv.key}(${kv.createRevision},${kv.modRevision},${kv.version})`;
}

/** Rows as one text: `a b c`. */
export function keysOf({ kvs }: RangeResult<unknown>): string {
  return kvs.map(({ key }) => key).join(' ');
}

/** What a call gives, or the name of the error it throws. */
export function outcome<T>(call: () => T): T | string {
  try {
    return call();
  } catch (error) {
    return (error as Error).name;
  }
}

/**
 * The restart of the specification: the store as bytes, then a store of these bytes. The first one is closed. A snapshot is
 * made and read in steps with timers of no delay between them, so clocks that are moved by hand have to be named.
 */
export async function restart<V>(
  store: Store<V>,
  options: OpenStoreOptions<V> = {},
  clocks: readonly VirtualClock[] = [],
): Promise<Store<V>> {
  const snapshot = await stepping(store.createSnapshot(), clocks);
  await store.close();
  return stepping(openStore<V>({ ...options, snapshot }), clocks);
}

async function stepping<T>(running: Promise<T>, clocks: readonly VirtualClock[]): Promise<T> {
  let isRunning = true;
  const ended = () => {
    isRunning = false;
  };
  running.then(ended, ended);
  while (isRunning && clocks.length > 0) for (const clock of clocks) await clock.advance(0);
  return running;
}

/** Lets compaction end, which goes on in timers. */
export async function runTimers(clock: VirtualClock): Promise<void> {
  while (await clock.advanceToNext());
}

/** A clock that is moved by hand and runs no timer at all. */
export interface SilentClock {
  readonly now: () => number;
  readonly wallTime: () => number;
  readonly after: () => () => void;
  time: number;
}

export function createSilentClock(): SilentClock {
  const { wallTime } = createVirtualClock();
  const clock: SilentClock = { time: 0, now: () => clock.time, wallTime, after: () => () => {} };
  return clock;
}
