import { describe, expect, it } from 'vitest';
import { IdentityChangedError } from '../../src/types/errors.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { calm, step } from './replica-steps.ts';
import { type Mode, World } from './replica-world.ts';

const STEPS = 150;
const PROGRAMS = sized({ smoke: 300, full: 6_000 });

/** Runs one program to its end; `true` if a replacement went unnoticed in it. */
async function runProgram(seed: number, mode: Mode): Promise<boolean> {
  const world = new World(seed, mode);
  await world.open();
  for (let count = 0; count < STEPS; count++) await step(world);
  await converge(world);
  await world.store.close();
  await world.clock.settle();
  for (const watch of world.watches) await watch.end();
  return world.isUndetected;
}

/** When faults stop, the replica shows the newest state, nobody waits, and the watches have brought everything. */
async function converge(world: World): Promise<void> {
  const { store } = world;
  calm(world);
  await world.clock.advance(120_000);
  const waiting = world.writes.filter(({ state }) => state === 'pending');
  if (waiting.length > 0) world.fail(`still waiting: ${waiting.map(({ what }) => what).join(', ')}`);
  await Promise.all([bringUpToDate(world), world.clock.advance(60_000)]);
  world.check();
  for (const { error } of world.writes) if (error !== undefined) throw error;
  // Also what went unnoticed comes to a true state of the new data (M25).
  if (world.mode === 'lying' || world.isUndetected) world.shown = world.histories.length - 1;
  const rows = world.rows(0);
  if (rows !== world.expected(world.history.revision, world.history) || store.revision !== world.history.revision) {
    world.fail(`not converged: ${store.revision} of ${world.history.revision}:\n${rows}`);
  }
  if (world.isUndetected) return;
  for (const watch of world.watches) {
    if (!watch.isEnded) await watch.consume(1_000);
    watch.checkComplete();
  }
  for (let revision = 1; revision <= world.applied; revision += 1 + world.integer(9)) world.checkHistory(revision);
}

/** By a write that changes nothing. That data without a name were replaced may be found out now, and not before. */
async function bringUpToDate({ store, mode, prefixes }: World): Promise<void> {
  const write = () => store.delete(`${prefixes[0]}none`);
  try {
    await write();
  } catch (error) {
    if (!(error instanceof IdentityChangedError) || mode !== 'unnamed') throw error;
    await store.ready();
    await write();
  }
}

describe('a replica beside a naive full history', () => {
  it.each(['named', 'unnamed', 'lying'] as const)('%s data', async (mode) => {
    const undetected: number[] = [];
    for (let program = 0; program < PROGRAMS; program++) {
      const seed = testSeed() + program;
      try {
        if (await runProgram(seed, mode)) undetected.push(seed);
      } catch (error) {
        throw new Error(`${mode} program ${seed}: ${reproduce('property')}`, { cause: error });
      }
    }
    // Without a name a replacement can go unnoticed (M25); with one it cannot.
    expect(undetected.length).toBeLessThanOrEqual(mode === 'unnamed' ? PROGRAMS / 8 : 0);
  });
});
