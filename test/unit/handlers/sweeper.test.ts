import { describe, expect, it } from 'vitest';
import { emptyDocument } from '../../../src/handlers/document-version.ts';
import { createMemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import { Sweeper } from '../../../src/handlers/sweeper.ts';
import { GuardedLogger } from '../../../src/system/guarded-logger.ts';
import type { ObjectSource } from '../../../src/types/source.ts';
import { createWorld, sleep } from './harness.ts';

const list = (version: number) => ({ resourceVersion: String(version), items: [] });

/** A progress store whose answers wait for `answer`. */
function heldProgress() {
  const memory = createMemoryProgress();
  const held: (() => void)[] = [];
  const log: string[] = [];
  const hold = (): Promise<void> => new Promise((resolve) => held.push(resolve));
  const progress: ProgressStore = {
    ...memory,
    async list() {
      log.push('list');
      await hold();
      return memory.list();
    },
    async delete(uid) {
      log.push(`delete ${uid}`);
      await hold();
      await memory.delete(uid);
    },
  };
  return {
    memory,
    progress,
    log,
    put: (uid: string, version: number) =>
      memory.compareAndSet(uid, 0, emptyDocument(uid, uid).written('w', String(version)).toDocument()),
    answer: async (): Promise<void> => {
      for (const resolve of held.splice(0)) resolve();
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    },
    waiting: () => held.length,
  };
}

function createSweeper(progress: ProgressStore, alive: readonly string[] = [], owns: Pick<ObjectSource, 'owns'> = {}) {
  const stopping = new AbortController();
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => warnings.push(message) };
  const sweeper = new Sweeper({
    progress,
    source: { compare: (a, b) => Number(a) - Number(b), ...owns },
    isAlive: (_name, uid) => alive.includes(uid),
    logger: new GuardedLogger(logger),
    stopping: stopping.signal,
  });
  return { sweeper, stopping, warnings };
}

describe('a sweep of progress', () => {
  it('deletes what the list proves to be gone', async () => {
    const { progress, memory, put, answer, log } = heldProgress();
    for (const [uid, version] of [
      ['gone', 5],
      ['alive', 5],
      ['newer', 9],
    ] as const)
      await put(uid, version);
    const { sweeper } = createSweeper(progress, ['alive']);
    sweeper.sweep(list(7));
    await answer();
    await answer();
    await sweeper.drained();
    expect(log).toEqual(['list', 'delete gone']);
    expect((await memory.list()).map(({ uid }) => uid)).toEqual(['alive', 'newer']);
  });

  it('deletes what belongs to data that was replaced, whatever its version, and never what lives', async () => {
    const memory = createMemoryProgress();
    for (const uid of ['gone@new', 'gone@old', 'newer@new', 'newer@old', 'alive@new', 'alive@old']) {
      const version = uid.startsWith('newer') ? '99' : '5';
      await memory.compareAndSet(uid, 0, emptyDocument(uid, uid).written('w', version).toDocument());
    }
    const owns = (uid: string): boolean => uid.endsWith('@new');
    const { sweeper } = createSweeper(memory, ['alive@new', 'alive@old'], { owns });
    sweeper.sweep(list(7));
    await sweeper.drained();
    expect((await memory.list()).map(({ uid }) => uid)).toEqual(['newer@new', 'alive@new', 'alive@old']);
  });

  it('is one at a time: lists that come in meanwhile make one more, by the newest', async () => {
    const { progress, put, answer, log, waiting } = heldProgress();
    await put('late', 40);
    const { sweeper } = createSweeper(progress);
    for (let version = 1; version <= 50; version++) {
      sweeper.sweep(list(version));
      expect(waiting()).toBe(1);
    }
    await answer();
    expect(log).toEqual(['list', 'list']);
    await answer();
    expect(log).toEqual(['list', 'list', 'delete late']);
    await answer();
    await sweeper.drained();
    sweeper.sweep(list(51));
    expect(log).toHaveLength(4);
    await answer();
    await sweeper.drained();
  });

  it('that fails is told, and the next list tries again', async () => {
    const memory = createMemoryProgress();
    await memory.compareAndSet('u', 0, emptyDocument('u', 'o').written('w', '').toDocument());
    let failures = 1;
    const { sweeper, warnings } = createSweeper({
      ...memory,
      async list() {
        if (failures-- > 0) throw new Error('no answer');
        return memory.list();
      },
    });
    sweeper.sweep(list(1));
    await sweeper.drained();
    expect(warnings).toEqual(['Cannot sweep progress: the next list tries again']);
    sweeper.sweep(list(2));
    await sweeper.drained();
    expect(memory.size).toBe(0);
  });

  it('ends with the document it is at when the controller stops', async () => {
    const { progress, put, answer, log } = heldProgress();
    for (const uid of ['a', 'b', 'c']) await put(uid, 1);
    const { sweeper, stopping } = createSweeper(progress);
    sweeper.sweep(list(7));
    await answer();
    sweeper.sweep(list(8));
    stopping.abort();
    await answer();
    await sweeper.drained();
    expect(log).toEqual(['list', 'delete a']);
  });
});

describe('the drain of a controller', () => {
  it('waits for a delete that was begun', async () => {
    const world = createWorld();
    await world.progress.compareAndSet('gone', 0, emptyDocument('gone', 'gone').written('w', '').toDocument());
    const progress: ProgressStore = {
      ...world.progress,
      async delete(uid) {
        await sleep(world.clock, 50);
        await world.progress.delete(uid);
      },
    };
    const life = await world.start(() => {}, { progress });
    const left = life.done.then(() => world.progress.size);
    life.abort();
    await world.clock.advance(1000);
    expect(await left).toBe(0);
  });

  it('waits for the sweep, and no longer than drainMs', async () => {
    for (const [answerMs, expected] of [
      [300, 300],
      [5000, 1000],
    ] as const) {
      const world = createWorld();
      const progress: ProgressStore = {
        ...world.progress,
        async list() {
          await sleep(world.clock, answerMs);
          return world.progress.list();
        },
      };
      const life = await world.start(() => {}, { progress, drainMs: 1000 });
      let endedAt: number | undefined;
      const end = life.done.then(() => {
        endedAt = world.clock.now();
      });
      life.abort();
      await world.clock.advance(10_000);
      await end;
      expect(endedAt).toBe(expected);
    }
  });
});
