import { createContentionTracker, createKeyedLock, createWriterLease, LockTimeoutError } from 'plimsoll';
import { createSeededRandom, createSimulator, createVirtualClock } from 'plimsoll/testing';
import { equal, rejects, test } from '../harness.ts';

test('L1, L2, L4: a keyed lock lets readers in together, and nobody past a writer that waits', async () => {
  const locks = createKeyedLock();
  const order: string[] = [];
  const first = locks.tryAcquire('a/b', 'read');
  const writer = locks.acquire('a/b', 'write').then((held) => {
    order.push('writer');
    return held;
  });
  equal(locks.tryAcquire('a/b', 'read'), undefined);
  const late = locks.acquire('a/b', 'read').then((held) => {
    order.push('reader');
    return held;
  });
  first?.release();
  const held = await writer;
  held.downgrade();
  (await late).release();
  held.release();
  held.release();
  equal([order, locks.stats().held, locks.stats().waiting], [['writer', 'reader'], 0, 0]);
});

test('L5, D13: a lock of a prefix keeps out the keys below it; a wait ends by its timeout', async () => {
  const clock = createVirtualClock();
  const locks = createKeyedLock({ clock });
  const all = locks.tryAcquire('a', 'write', { prefix: true });
  equal([locks.tryAcquire('a/b', 'read'), locks.tryAcquire('ab', 'read') !== undefined], [undefined, true]);
  const wait = rejects(locks.acquire('a/b', 'read', { timeoutMs: 50 }), { class: LockTimeoutError });
  await clock.advance(50);
  await wait;
  all?.release();
  equal(locks.tryAcquire('a/b', 'write') !== undefined, true);
  locks.close();
  equal(clock.pending, 0);
});

test('WL12, WL23: a writer lease writes what is tried, and has a term from its first write on', async () => {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const lease = createWriterLease({ clock, random, tracker: createContentionTracker({ clock }) });
  let revision = 10;
  for (const key of ['a', 'b']) lease.try(key, { revision: 0, work: () => ({ revision: ++revision }) });
  await clock.advance(20_000);
  equal([lease.role, lease.fencingToken, lease.stats().writes], ['leader', 11, 2]);
  await lease.close();
  equal(clock.pending, 0);
});

test('X4: on the simulator three replicas write a hundred keys in about a hundred writes', async () => {
  const simulator = createSimulator({
    replicas: 3,
    keys: 100,
    seed: 1,
    writer: ({ clock, random }) => createWriterLease({ clock, random }),
  });
  await simulator.run(60_000);
  const { attempts, unsatisfied } = simulator.stats();
  equal([attempts <= 102, unsatisfied], [true, 0]);
});
