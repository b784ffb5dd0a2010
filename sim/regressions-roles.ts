import type { Regression } from './regression.ts';
import { editAll, leaderOf, simulate } from './strategies.ts';

/** G14 to G19: who leads, after quiet, pauses and cuts; and what must have no effect. */
export const ROLE_REGRESSIONS: readonly Regression[] = [
  {
    id: 'G14',
    text: 'two leaders, then silence: exactly one after the next change [WL14]',
    seeds: { smoke: 5, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [
      { figure: 'leaders before', atMost: 2, atLeast: 2 },
      { figure: 'leaders', atMost: 1, atLeast: 1 },
    ],
    measure: twoLeaders,
  },
  {
    id: 'G15',
    text: 'leader idle for 2 h, then paused 120 s over a change: <= N conflicts with fast watches, one leader',
    seeds: { smoke: 5, full: 60 },
    targets: [
      { figure: 'conflicts', atMost: 5 },
      { figure: 'leaders', atMost: 1, atLeast: 1 },
      { figure: 'unsatisfied', atMost: 0 },
    ],
    measure: pausedLeader,
  },
  {
    id: 'G16',
    text: "followers' watches cut for 60 s: no takeover, <= 2 attempts per follower",
    seeds: { smoke: 2, full: 30 },
    targets: [
      { figure: 'takeovers', atMost: 0 },
      { figure: 'attempts per follower', atMost: 2 },
    ],
    measure: cutFollowers,
  },
  {
    id: 'G17',
    text: 'wall clocks jump by an hour, to and fro: nothing changes',
    seeds: { smoke: 3, full: 30 },
    worlds: ['fast', 'slow'],
    targets: [{ figure: 'differences', atMost: 0 }],
    measure: wallJumps,
  },
  {
    id: 'G18',
    text: 'stop in each state: no timers, waits are settled [WL24]',
    seeds: { smoke: 10, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [
      { figure: 'timers', atMost: 0 },
      { figure: 'open waits', atMost: 0 },
      { figure: 'stopped while busy', atLeast: 1 },
    ],
    measure: stopped,
  },
  {
    id: 'G19',
    text: 'edits only, every key every second: one takeover, conflicts <= edits / 10',
    seeds: { smoke: 2, full: 30 },
    targets: [
      { figure: 'takeovers', atMost: 1 },
      { figure: 'conflicts per edit', atMost: 0.1 },
    ],
    measure: editsOnly,
  },
];

type Measure = Regression['measure'];

async function twoLeaders(...[strategy, seed, watch]: Parameters<Measure>) {
  const run = simulate(strategy, seed, { keys: 20, watch });
  const { simulator } = run;
  await simulator.run(60_000);
  // Its queue is empty and it sees nothing: it goes on believing that it leads.
  simulator.cutWatch(leaderOf(run), 300_000);
  simulator.edit('key-3');
  await simulator.run(600_000);
  // It has seen by now what the other one wrote: only a pause over everything keeps a second leader in silence.
  simulator.pause(leaderOf(run), 300_000);
  simulator.edit('key-4');
  await simulator.run(200_000);
  const before = simulator.leaders().length;
  await simulator.run(400_000);
  simulator.edit('key-5');
  await simulator.run(60_000);
  return { 'leaders before': before, leaders: simulator.leaders().length };
}

async function pausedLeader(...[strategy, seed]: Parameters<Measure>) {
  const run = simulate(strategy, seed);
  const { simulator } = run;
  await simulator.run(7_200_000);
  const before = simulator.stats().conflicts;
  simulator.pause(leaderOf(run), 120_000);
  simulator.edit(`key-${seed % 100}`);
  await simulator.run(180_000);
  const { conflicts, unsatisfied } = simulator.stats();
  return { conflicts: conflicts - before, leaders: simulator.leaders().length, unsatisfied };
}

async function cutFollowers(...[strategy, seed]: Parameters<Measure>) {
  const run = simulate(strategy, seed, { replicas: 20 });
  const { simulator, leases } = run;
  editAll(simulator, 30_000);
  await simulator.run(60_000);
  const leader = leaderOf(run);
  const followers = leases.filter((lease) => lease.role === 'follower');
  const attemptsOf = (): readonly number[] => followers.map((lease) => lease.stats().attempts);
  const [before, takeovers] = [attemptsOf(), simulator.stats().takeovers];
  for (let replica = 0; replica < 20; replica++) if (replica !== leader) simulator.cutWatch(replica, 60_000);
  await simulator.run(120_000);
  const made = attemptsOf().map((attempts, index) => attempts - (before[index] ?? 0));
  return { takeovers: simulator.stats().takeovers - takeovers, 'attempts per follower': Math.max(...made) };
}

async function wallJumps(...[strategy, seed, watch]: Parameters<Measure>) {
  const runOf = async (jumpMs: number): Promise<string> => {
    const { simulator } = simulate(strategy, seed, { keys: 20, watch });
    editAll(simulator, 30_000);
    for (let jump = 0; jump < 20; jump++) {
      await simulator.run(10_000);
      simulator.jumpWallTime(jump % 5, (jump % 2 === 0 ? 1 : -1) * jumpMs);
    }
    return JSON.stringify([simulator.stats(), simulator.commits()]);
  };
  return { differences: (await runOf(3_600_000)) === (await runOf(0)) ? 0 : 1 };
}

/** Stops all replicas at an instant that the seed chooses: in the first window, in a drain, with doubts, parked, idle. */
async function stopped(...[strategy, seed, watch]: Parameters<Measure>) {
  const { simulator, leases } = simulate(strategy, seed, { keys: 50, watch, startSpreadMs: 0 });
  simulator.breakKey('key-7');
  await simulator.run(1);
  const waits = new Set<number>();
  leases.forEach((lease, index) => {
    waits.add(index);
    void lease.wait().then(() => waits.delete(index));
  });
  simulator.kill(0);
  await simulator.run((seed * 397) % 4000);
  const busy = leases.filter((lease) => lease.stats().keys > 0).length;
  for (let replica = 0; replica < 5; replica++) simulator.stop(replica);
  for (let replica = 0; replica < 5; replica++) simulator.stop(replica);
  await simulator.run(0);
  // What is left in the simulation are requests and watch events under way, not timers of leases: they end soon.
  await simulator.run(10_000);
  const timers = simulator.pending;
  await simulator.run(60_000);
  waits.delete(0);
  return { timers, 'open waits': waits.size, 'stopped while busy': busy };
}

async function editsOnly(...[strategy, seed]: Parameters<Measure>) {
  const { simulator } = simulate(strategy, seed, { keys: 50 });
  editAll(simulator, 1000);
  await simulator.run(120_000);
  const { takeovers, conflicts } = simulator.stats();
  return { takeovers, 'conflicts per edit': conflicts / (120 * 50) };
}
