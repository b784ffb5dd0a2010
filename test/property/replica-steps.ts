import type { HistoryChange } from '../../src/testing/commit-history.ts';
import type { BackendMethod } from '../../src/testing/faulty-backend.ts';
import { ConflictError, IdentityChangedError } from '../../src/types/errors.ts';
import { ModelWatch } from './replica-watch.ts';
import type { OwnWrite, World } from './replica-world.ts';

type Step = (world: World) => void | Promise<void>;

/** What can happen, with weights. Faults that break promises are only for the `lying` mode. */
const STEPS: readonly (readonly [weight: number, name: string, step: Step])[] = [
  [30, 'commit', (world) => void world.history.commit(changes(world))],
  [4, 'burst', (world) => times(world, 12, () => void world.history.commit(changes(world)))],
  [3, 'skip', (world) => world.history.skip(1 + world.integer(4))],
  [3, 'hold', (world) => void world.held.push(world.history.hold(changes(world)))],
  [6, 'release', (world) => takeAny(world, world.held)?.release()],
  [14, 'write', write],
  [5, 'sync', sync],
  [4, 'hold items', (world) => world.backend.holdItems()],
  [6, 'release items', (world) => world.backend.releaseItems()],
  [3, 'repeat', (world) => world.backend.repeatItems(1 + world.integer(3))],
  [2, 'replay', (world) => world.backend.replayItems(world.integer(world.history.revision))],
  [3, 'fail', fail],
  [1, 'hang', (world) => void world.hanging.push(world.backend.hang(world.pick(['range', 'status', 'watch', 'txn'])))],
  [4, 'unhang', (world) => takeAny(world, world.hanging)?.()],
  [3, 'compact', compactStore],
  [8, 'watch', watch],
  [14, 'consume', (world) => anyWatch(world)?.consume(1 + world.integer(4))],
  [1, 'return', (world) => anyWatch(world)?.end()],
  [8, 'time', (world) => world.clock.advance(world.integer(400))],
  [2, 'long time', (world) => world.clock.advance(world.integer(20_000))],
  [8, 'read', (world) => world.checkHistory(world.integer(world.applied + 1))],
];

/** Not for a backend that lies: a mark that was wrong and a new connection together lose changes for good (M23). */
const HONEST: typeof STEPS = [
  [4, 'disconnect', (world) => world.backend.disconnect()],
  [1, 'end streams', (world) => world.backend.endStreams()],
  [2, 'offline', (world) => world.backend.offline()],
  [4, 'online', (world) => world.backend.online()],
  [4, 'compact away', compactBackend],
  [1, 'replace', replace],
];

const LYING: typeof STEPS = [
  [6, 'premature mark', (world) => world.backend.injectProgress(world.integer(world.history.revision + 1))],
  [2, 'remember', remember],
  [2, 'stale answers', (world) => (world.hasRemembered ? world.backend.answerStale(1 + world.integer(2)) : undefined)],
];

export async function step(world: World): Promise<void> {
  const all = [...STEPS, ...(world.mode === 'lying' ? LYING : HONEST)];
  let left = world.random() * all.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, name, run] of all) {
    left -= weight;
    if (left >= 0) continue;
    world.trace.push(`${name}: history ${world.history.revision}, applied ${world.applied}, epoch ${world.epoch}`);
    await run(world);
    break;
  }
  // Several things may happen in one turn.
  if (world.chance(0.7)) {
    await world.clock.settle();
    world.check();
  }
}

/** No more faults: all is let go. */
export function calm(world: World): void {
  world.backend.heal();
  for (const held of world.held.splice(0)) held.release();
}

function changes(world: World): HistoryChange[] {
  const made = new Map<string, HistoryChange>();
  for (let count = 1 + (world.chance(0.3) ? world.integer(3) : 0); count > 0; count--) {
    const key = world.key();
    const isDelete = world.chance(0.35);
    made.set(key, isDelete ? { key } : { key, value: `v${world.integer(1000)}`, lease: world.pick(['0', '77']) });
  }
  return [...made.values()];
}

/** Invariant 8: whoever returns with R, finds R applied. */
function write(world: World): void {
  const { store } = world;
  const key = world.key();
  const kind = world.integer(5);
  const modRevision = world.integer(Math.max(1, world.applied + 2));
  const { epoch } = store;
  const made: OwnWrite = { what: `write ${kind} of ${key}`, state: 'pending', error: undefined };
  const call = (): Promise<{ readonly revision: number }> => {
    if (kind === 0) return store.delete(key);
    if (kind === 1) return store.put(key, `own${world.integer(1000)}`, { expect: { modRevision } });
    if (kind === 2) return store.txn({ then: [{ type: 'delete', prefix: key.slice(0, 2), prevKv: true }] });
    if (kind === 3) {
      const compare = [{ key, target: 'version', result: '>', value: 1 }] as const;
      return store.txn({ compare, then: [{ type: 'put', key, value: 'then' }], else: [{ type: 'range', key }] });
    }
    return store.put(key, `own${world.integer(1000)}`, { prevKv: true });
  };
  const applied = () => (world.readable() ? store.revision : -1);
  world.writes.push(made);
  call().then(
    ({ revision }) => {
      made.state = 'resolved';
      const touches = world.isReplicated(key) || (kind === 2 && world.prefixes.some((one) => one.startsWith('a/')));
      const isApplied = applied() >= revision || store.epoch !== epoch;
      if (touches && world.isReplicated(key) && !isApplied) {
        made.error = new Error(`${made.what} returned with ${revision}, applied is ${applied()}`);
      }
    },
    (error: unknown) => {
      made.state = 'rejected';
      if (error instanceof ConflictError && world.isReplicated(key) && applied() < error.actualRevision) {
        if (store.epoch === epoch) made.error = new Error(`${made.what} conflicts with what is not to be seen yet`);
      }
      if (error instanceof TypeError || error instanceof RangeError) made.error = error;
      if (error instanceof IdentityChangedError && world.mode === 'named' && world.histories.length === 1) {
        made.error = error;
      }
    },
  );
}

/** Invariant 8: a barrier that returned has everything that was committed before the call. */
function sync(world: World): void {
  const { store } = world;
  const { epoch } = store;
  const committed = world.history.revision;
  const made: OwnWrite = { what: `sync at ${committed}`, state: 'pending', error: undefined };
  world.writes.push(made);
  store.sync().then(
    (revision) => {
      made.state = 'resolved';
      const isNewer = revision >= committed && world.readable() && store.revision >= revision;
      if (!isNewer && store.epoch === epoch && world.mode !== 'lying' && !world.isUndetected) {
        made.error = new Error(`${made.what} returned with ${revision}, applied is ${store.revision}`);
      }
    },
    () => {
      made.state = 'rejected';
    },
  );
}

function fail(world: World): void {
  const method: BackendMethod = world.pick(['range', 'status', 'watch', 'txn', 'compact']);
  const when = method === 'txn' && world.chance(0.5) ? 'after' : 'before';
  if (world.mode === 'lying' && method === 'watch') return;
  world.backend.fail(method, { times: 1 + world.integer(2), when });
}

function compactStore(world: World): void {
  if (!world.readable()) return;
  const revision = world.integer(world.applied + 1);
  world.store.compact(revision).then(undefined, (error: unknown) => {
    if (error instanceof TypeError) world.writes.push({ what: 'compact', state: 'rejected', error });
  });
}

async function remember(world: World): Promise<void> {
  await world.backend.remember();
  world.hasRemembered = true;
}

async function compactBackend(world: World): Promise<void> {
  const { history } = world;
  const span = history.revision - history.compactRevision;
  if (span < 2) return;
  await history.compact({ revision: history.compactRevision + 1 + world.integer(span - 1) });
}

function replace(world: World): void {
  if (world.chance(0.6) || world.histories.length > 3) return;
  const fresh = world.fresh();
  for (const held of world.held.splice(0)) held.release();
  world.replaced(fresh);
  world.backend.replace(world.backendOf(fresh));
}

function watch(world: World): void {
  if (world.watches.filter(({ isEnded }) => !isEnded).length >= 12) return;
  const prefix = world.pick(world.prefixes) || world.pick(['', 'a/', 'b/k1']);
  const filter = world.pick([undefined, undefined, undefined, 'noput', 'nodelete'] as const);
  const shape = world.pick(['now', 'initial', 'from', 'from'] as const);
  const options = {
    ...(filter === undefined ? {} : { filter }),
    ...(shape === 'initial' ? { initial: true } : {}),
    ...(shape === 'from' ? { fromRevision: 1 + world.integer(world.applied + 8) } : {}),
  };
  world.watches.push(new ModelWatch(world, prefix, options));
}

function anyWatch(world: World): ModelWatch | undefined {
  const alive = world.watches.filter(({ isEnded }) => !isEnded);
  return alive.length === 0 ? undefined : world.pick(alive);
}

function takeAny<T>(world: World, from: T[]): T | undefined {
  return from.splice(world.integer(from.length), 1)[0];
}

function times(world: World, max: number, run: () => void): void {
  for (let count = 1 + world.integer(max); count > 0; count--) run();
}
