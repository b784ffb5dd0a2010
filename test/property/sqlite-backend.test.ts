import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteBackend } from '../../src/adapters/sqlite/mod.ts';
import { createMemoryBackend } from '../../src/backends/memory-backend.ts';
import { openStore } from '../../src/open-store.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Backend } from '../../src/types/backend.ts';
import { PlimsollError } from '../../src/types/errors.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { type BackendStep, createSteps, type Dice } from './sqlite-steps.ts';

/**
 * Random programs on SQLite and on the memory backend, which is held against the reference model and against etcd elsewhere:
 * every answer, every error with its facts, every item of every stream is the same. Some of SQLite's calls are made together,
 * so that they share a commit; programs on a file close and open it in the middle.
 */
const PROGRAMS = sized({ smoke: 24, full: 1000 });
/** A file waits for its disk. */
const FILE_EVERY = 12;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-sqlite-'));
  const backend = await openSqliteBackend({ file: ':memory:' });
  await backend[Symbol.asyncDispose]();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('SQLite', () => {
  it('answers like the memory backend', async () => {
    for (let number = 0; number < PROGRAMS; number++) {
      const file = number % FILE_EVERY === 0 ? join(folder, `${number}.db`) : undefined;
      try {
        await runProgram(createSeededRandom(testSeed() + number), file);
      } catch (error) {
        throw new Error(`program ${number} (${reproduce('property')})`, { cause: error });
      }
    }
  });
});

interface Streams {
  readonly items: unknown[];
  end: unknown;
}

/** One of the two backends, what its streams have told, and how it is opened again. */
class Subject {
  backend: Backend;
  readonly streams: Streams[] = [];
  readonly #endings: AbortController[] = [];

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async answer(step: BackendStep): Promise<unknown> {
    try {
      return { answer: withoutIdentity(await this.#run(step)) };
    } catch (error) {
      return factsOf(error);
    }
  }

  endStreams(): void {
    for (const ending of this.#endings) ending.abort(new Error('left'));
  }

  async #run(step: BackendStep): Promise<unknown> {
    const { backend } = this;
    const { leases } = backend;
    if (leases === undefined) throw new Error('a backend without leases');
    switch (step.op) {
      case 'txn':
        return backend.txn(step.request);
      case 'range':
        return backend.range(step.request);
      case 'status':
        return backend.status({});
      case 'compact':
        return backend.compact({ revision: step.revision });
      case 'grant':
        return leases.grant(step);
      case 'keepAlive':
        return leases.keepAlive(step);
      case 'revoke':
        return leases.revoke(step);
      case 'timeToLive':
        return leases.timeToLive(step);
      case 'list':
        return leases.list({});
      case 'watch':
        return this.#watch(step);
      default:
        return undefined;
    }
  }

  #watch({ ranges, fromRevision }: Extract<BackendStep, { op: 'watch' }>): void {
    const ending = new AbortController();
    this.#endings.push(ending);
    const found: Streams = { items: [], end: undefined };
    this.streams.push(found);
    const read = async () => {
      for await (const item of this.backend.watch({ ranges, fromRevision, signal: ending.signal })) {
        found.items.push(withoutIdentity(item));
      }
    };
    void read().catch((error: unknown) => {
      found.end = factsOf(error);
    });
  }
}

async function runProgram(random: () => number, file: string | undefined): Promise<void> {
  const clock = createVirtualClock();
  const dice: Dice = { random, below: (count) => Math.floor(random() * count) };
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock, random: createSeededRandom(1) });
  const open = () => openSqliteBackend({ file: file ?? ':memory:', clock, random: createSeededRandom(2) });
  const memory = new Subject(createMemoryBackend(data));
  const sqlite = new Subject(await open());
  try {
    for (let turn = 0; turn < 60; turn++) {
      const steps = createSteps(dice, data);
      await compareSteps(steps, memory, sqlite, clock, dice);
      if (file === undefined || dice.below(15) > 0) continue;
      memory.endStreams();
      sqlite.endStreams();
      await clock.settle();
      await sqlite.backend[Symbol.asyncDispose]();
      sqlite.backend = await open();
    }
    expect(sqlite.streams, 'streams').toEqual(memory.streams);
  } finally {
    memory.endStreams();
    sqlite.endStreams();
    await clock.settle();
    await sqlite.backend[Symbol.asyncDispose]();
    await data.close();
  }
}

async function compareSteps(
  steps: readonly BackendStep[],
  memory: Subject,
  sqlite: Subject,
  clock: VirtualClock,
  dice: Dice,
): Promise<void> {
  const [first] = steps;
  if (first?.op === 'advance') {
    await clock.advance(first.delayMs);
    return;
  }
  const expected: unknown[] = [];
  for (const step of steps) expected.push(await memory.answer(step));
  const actual: unknown[] = [];
  if (dice.random() < 0.5) actual.push(...(await Promise.all(steps.map((step) => sqlite.answer(step)))));
  else for (const step of steps) actual.push(await sqlite.answer(step));
  await clock.settle();
  for (const [index, step] of steps.entries())
    expect({ step, is: actual[index] }).toEqual({ step, is: expected[index] });
  expect(sqlite.streams, 'streams').toEqual(memory.streams);
}

function withoutIdentity(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('identity' in answer)) return answer;
  const { identity: _, ...rest } = answer;
  return rest;
}

function factsOf(error: unknown): unknown {
  if (!(error instanceof PlimsollError)) return { failed: String(error) };
  const { message: _, stack: __, ...facts } = error as unknown as Record<string, unknown>;
  return { refused: error.name, ...facts };
}
