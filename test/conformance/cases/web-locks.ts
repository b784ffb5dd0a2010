import {
  createKeyedLock,
  createWebLock,
  createWriterLeaseGroups,
  type LockManagerLike,
  LockOrderError,
  LockReleasedError,
  LockStolenError,
  UnsupportedError,
} from 'plimsoll';
import { createSeededRandom, createVirtualClock } from 'plimsoll/testing';
import { equal, test, throws } from '../harness.ts';

/** Gives every lock at once; `steal` ends the request of the newest one as the platform does. */
function createFreeLocks(): LockManagerLike & { steal(): void } {
  let reject: (reason: unknown) => void = () => {};
  return {
    request: (name, _options, callback) =>
      new Promise((resolve, fail) => {
        reject = fail;
        Promise.resolve(callback({ name })).then(resolve, fail);
      }),
    steal: () => reject(new Error('stolen')),
  };
}

test('a web lock: held until its release; by force, its signal says so', async () => {
  const locks = createFreeLocks();
  const web = createWebLock({ locks });
  const first = await web.acquire('a', 'write');
  first.release();
  const second = await web.tryAcquire('a', 'read');
  if (second === undefined) throw new Error('the lock is free');
  const lost = new Promise((resolve) => second.signal.addEventListener('abort', resolve));
  locks.steal();
  await lost;
  equal([second.signal.reason instanceof LockStolenError, first.signal.aborted], [true, false]);
  throws(() => createWebLock({ locks: undefined }), { class: UnsupportedError });
});

test('L4, L6: a keyed lock that was released is not downgraded; ranks go up', () => {
  const locks = createKeyedLock({ debug: true });
  const held = locks.tryAcquire('b', 'write', { owner: 'me', rank: 2 });
  throws(() => locks.tryAcquire('a', 'write', { owner: 'me', rank: 1 }), { class: LockOrderError });
  held?.release();
  throws(() => held?.downgrade(), { class: LockReleasedError });
});

test('WL25: groups of writer leases do not wait for each other', async () => {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const groups = createWriterLeaseGroups({ clock, random, groupOf: (key) => key.slice(0, 1) });
  const written: string[] = [];
  groups.try('a1', { revision: 0, work: () => new Promise(() => {}) });
  groups.try('b1', {
    revision: 0,
    work: ({ key }) => {
      written.push(key);
      return { revision: 5 };
    },
  });
  await clock.advance(2000);
  equal([groups.groups(), groups.group('b')?.role, written], [['a', 'b'], 'leader', ['b1']]);
  await groups.close();
  equal(clock.pending, 0);
});
