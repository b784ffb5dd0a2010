import { createWriterLeaseGroups } from '../src/lease/writer-groups.ts';
import { createSeededRandom } from '../src/system/seeded-random.ts';
import { createSimulator } from '../src/testing/simulator.ts';
import type { Simulator } from '../src/testing/simulator-types.ts';
import type { WriterLeaseGroups } from '../src/types/writer-lease.ts';
import type { Figures } from './cell.ts';
import type { Regression } from './regression.ts';
import { editAll, leaderOf, type StrategyName, simulate, type Watch } from './strategies.ts';

/** Scenarios without a number: what the rules were reasoned about and not modelled with. */
export const OPEN_POINTS: readonly Regression[] = [
  {
    id: 'relist',
    text: 'lost watch events, then a new list: all right, one leader, no key much later than the list',
    seeds: { smoke: 3, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [
      { figure: 'unsatisfied', atMost: 0 },
      { figure: 'leaders', atMost: 1, atLeast: 1 },
      { figure: 'worst wait ms', atMost: 30_000 },
    ],
    measure: lostEvents,
  },
  {
    id: 'unknown-outcomes',
    text: 'writes without an answer, half of them committed: all right, no value twice, one leader [WL20]',
    seeds: { smoke: 3, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [
      { figure: 'unsatisfied', atMost: 0 },
      { figure: 'leaders', atMost: 1, atLeast: 1 },
      { figure: 'worst wait ms', atMost: 30_000 },
      { figure: 'values twice', atMost: 0 },
    ],
    measure: unknownOutcomes,
  },
  {
    id: 'groups',
    text: 'four groups: each has a leader, the start costs at most N - 1 conflicts a group, the death of one leader stops no other group [WL25]',
    seeds: { smoke: 3, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [
      { figure: 'conflicts', atMost: 4 * 4 },
      { figure: 'groups led', atMost: 4, atLeast: 4 },
      { figure: 'unsatisfied', atMost: 0 },
      { figure: 'other groups ms', atMost: 3500 },
    ],
    measure: groups,
  },
  {
    id: 'restarts',
    text: 'restarts during disagreement: about two more writes a key and restart, which have no memory [CT4]',
    seeds: { smoke: 3, full: 60 },
    worlds: ['fast', 'slow'],
    targets: [{ figure: 'writes per key', atMost: 4 + 2 * 5 }],
    measure: restarts,
  },
];

async function lostEvents(strategy: StrategyName, seed: number, watch: Watch): Promise<Figures> {
  const { simulator } = simulate(strategy, seed, { watch });
  const random = createSeededRandom(seed);
  const stop = editAll(simulator, 30_000);
  await simulator.run(10_000);
  for (let loss = 0; loss < 10; loss++) {
    const replica = Math.floor(random() * 5);
    simulator.loseEvents(replica, 20);
    await simulator.run(15_000);
    simulator.relist(replica);
    await simulator.run(5000);
  }
  stop();
  for (let replica = 0; replica < 5; replica++) simulator.relist(replica);
  await simulator.run(30_000);
  return ended(simulator);
}

async function unknownOutcomes(strategy: StrategyName, seed: number, watch: Watch): Promise<Figures> {
  const run = simulate(strategy, seed, { watch });
  const { simulator } = run;
  const stop = editAll(simulator, 30_000);
  await simulator.run(10_000);
  for (let cut = 0; cut < 10; cut++) {
    simulator.cutWrites(leaderOf(run), 4000, { outcome: 'either' });
    await simulator.run(25_000);
  }
  stop();
  await simulator.run(60_000);
  return { ...ended(simulator), 'values twice': writtenTwice(simulator) };
}

/** Writes of a key that nobody has edited since the write before. */
function writtenTwice(simulator: Simulator): number {
  const authorOf = new Map<string, number | undefined>();
  let twice = 0;
  for (const { key, replica } of simulator.commits()) {
    if (replica !== undefined && authorOf.get(key) !== undefined) twice++;
    authorOf.set(key, replica);
  }
  return twice;
}

async function groups(strategy: StrategyName, seed: number, watch: Watch): Promise<Figures> {
  const groupOf = (key: string): string => `group ${Number(key.slice('key-'.length)) % 4}`;
  const lives: WriterLeaseGroups<number>[] = [];
  const simulator = createSimulator({
    replicas: 5,
    keys: 100,
    seed,
    drift: 0.05,
    watchLatencyMs: watch === 'fast' ? [5, 50] : [1000, 3000],
    writer: ({ clock, random, read, relist, index }) => {
      const hook = strategy === 'plimsoll+read' ? { read } : {};
      const life = createWriterLeaseGroups<number>({ clock, random, relist, groupOf, ...hook });
      lives[index] = life;
      return life;
    },
  });
  const leads = (replica: number, group: string): boolean => lives[replica]?.group(group)?.role === 'leader';
  const names = ['group 0', 'group 1', 'group 2', 'group 3'];
  const replicas = [0, 1, 2, 3, 4];
  await simulator.run(60_000);
  const { conflicts } = simulator.stats();
  const led = names.filter((name) => replicas.filter((replica) => leads(replica, name)).length === 1).length;
  const dead = replicas.find((replica) => leads(replica, 'group 0')) ?? 0;
  const others = names.filter((name) => !leads(dead, name));
  simulator.kill(dead);
  for (const key of simulator.keys) simulator.edit(key);
  await simulator.run(60_000);
  const waits = simulator.keys.filter((key) => others.includes(groupOf(key))).map((key) => simulator.worstWaitMs(key));
  return { conflicts, 'groups led': led, unsatisfied: simulator.unsatisfied, 'other groups ms': Math.max(0, ...waits) };
}

async function restarts(strategy: StrategyName, seed: number, watch: Watch): Promise<Figures> {
  const world = { replicas: 4, keys: 20, configurations: 2, watch, tracked: true, drift: 0 } as const;
  const { simulator } = simulate(strategy, seed, world);
  await simulator.run(20_000);
  for (let restart = 0; restart < 5; restart++) {
    simulator.restart(restart % 4);
    await simulator.run(20_000);
  }
  const { writesPerKeyMax, writes } = simulator.stats();
  return { 'writes per key': writesPerKeyMax, writes };
}

function ended(simulator: Simulator): Figures {
  const { unsatisfied, worstWaitMs, attempts, writes, conflicts, errors, takeovers } = simulator.stats();
  const leaders = simulator.leaders().length;
  const extra = attempts - writes;
  return { unsatisfied, leaders, 'worst wait ms': worstWaitMs, 'extra attempts': extra, conflicts, errors, takeovers };
}
