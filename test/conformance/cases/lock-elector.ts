import { createLeaderElector, createStoreLeaseRecord, openStore } from 'plimsoll';
import { createVirtualClock } from 'plimsoll/testing';
import { equal, test, throws } from '../harness.ts';

test('a leader elector: one leads, and the next one after its release', async () => {
  const clock = createVirtualClock();
  const store = await openStore<string>({ clock });
  const said: string[] = [];
  const start = (identity: string) => {
    const abort = new AbortController();
    const elector = createLeaderElector({
      record: createStoreLeaseRecord(store, 'lease'),
      identity,
      clock,
      random: () => 0,
      releaseOnCancel: true,
      onStartedLeading: () => void said.push(`${identity} leads`),
      onStoppedLeading: (reason) => void said.push(`${identity} ${reason}`),
    });
    return { elector, running: elector.run({ signal: abort.signal }), stop: () => abort.abort() };
  };
  const a = start('a');
  await clock.advance(100);
  const b = start('b');
  await clock.advance(60_000);
  equal([a.elector.isLeader, b.elector.isLeader, b.elector.leader], [true, false, 'a']);
  a.stop();
  await a.running;
  await clock.advance(5000);
  equal([said, b.elector.isLeader], [['a leads', 'a cancelled', 'b leads'], true]);
  b.stop();
  await b.running;
  equal(clock.pending, 0);
});

test('a leader elector: durations that cannot be are refused with the inequality that fails', async () => {
  const record = createStoreLeaseRecord(await openStore(), 'lease');
  const error = throws(
    () => createLeaderElector({ record, identity: 'a', leaseDurationMs: 10_000, onStartedLeading: () => {} }),
    { class: RangeError },
  );
  equal(error.message.includes('leaseDurationMs > renewDeadlineMs must hold, 10000 > 10000 does not'), true);
});
