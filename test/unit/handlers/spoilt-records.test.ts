import { describe, expect, it } from 'vitest';
import { createMemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../../src/handlers/record.ts';
import { ValueError } from '../../../src/types/errors.ts';
import type { Logger } from '../../../src/types/logger.ts';
import { createWorld } from './harness.ts';

/** Records that come back as nobody has written them: an error with the place, and nothing is called with a guess. */
type Plain = Record<string, unknown>;

/** A progress store whose documents of `o` come back spoilt. */
function spoiling(spoil: (document: Plain) => unknown): ProgressStore & { isHealed: boolean } {
  const memory = createMemoryProgress();
  const store = {
    ...memory,
    isHealed: false,
    async get(uid: string, name: string) {
      const document = await memory.get(uid, name);
      if (document?.name !== 'o' || store.isHealed) return document;
      const copy = JSON.parse(JSON.stringify(document)) as Plain;
      return (spoil(copy) ?? copy) as ProgressDocument;
    },
  };
  return store;
}

function logged() {
  const found: { readonly warnings: string[]; readonly errors: unknown[] } = { warnings: [], errors: [] };
  const silent = () => {};
  const logger: Logger = {
    debug: silent,
    info: silent,
    warn: (text) => found.warnings.push(text),
    error: (_text, facts) => found.errors.push((facts as { error: unknown }).error),
  };
  return { ...found, logger };
}

const recordOf = (document: Plain): Plain => (document.records as Record<string, Plain>).h as Plain;

/** Sets a member of what a path leads to. */
function spoilt(path: readonly string[], value: unknown): (document: Plain) => void {
  return (document) => {
    const at = path.slice(0, -1).reduce<Plain>((part, name) => part[name] as Plain, document);
    at[path.at(-1) ?? ''] = value;
  };
}

const attempt = { digest: 'd', state: 'open', failures: 0, wakeAtWallMs: 0, delayMs: 0 };

const SPOILT: readonly (readonly [readonly string[], unknown])[] = [
  [['gen'], 'x'],
  [['tick'], null],
  [['resourceVersion'], 7],
  [['records'], []],
  [['bases'], null],
  [['records', 'h'], null],
  [['records', 'h', 'attempt'], 'open'],
  [['records', 'h', 'attempt'], { ...attempt, digest: 1 }],
  [['records', 'h', 'attempt'], { ...attempt, failures: 'many' }],
  [['records', 'h', 'attempt'], { ...attempt, opened: 5 }],
  [['records', 'h', 'attempt', 'state'], 'zzz'],
  [['records', 'h', 'done'], 3],
  [['records', 'h', 'at'], '1'],
  [['records', 'h', 'plan'], 5],
  [['records', 'h', 'plan'], [{ args: 1 }]],
  [['records', 'h', 'tried'], {}],
  [['records', 'h', 'retirement'], {}],
  [['records', 'h', 'absentSinceWallMs'], 'ever'],
];

describe('records that are spoilt', () => {
  it.each(SPOILT)('%j: an error with its place, no call, and others go on', async (path, value) => {
    const world = createWorld();
    const progress = spoiling(spoilt(path, value));
    const calls: string[] = [];
    const { logger, errors } = logged();
    const start = () =>
      world.start(
        (controller) => controller.on('change', { id: 'h', field: 'spec' }, (ctx) => void calls.push(ctx.name)),
        {
          progress,
          logger,
        },
      );
    world.source.put('o', { spec: { n: 1 } });
    progress.isHealed = true;
    const first = await start();
    await first.settle();
    await first.stop();
    progress.isHealed = false;
    world.source.put('o', { spec: { n: 2 } });
    world.source.put('other', { spec: { n: 1 } });
    const second = await start();
    await world.clock.advance(5000);
    expect(calls).toEqual(['o', 'other']);
    const place = errors.map((error) => (error instanceof ValueError ? error.path : undefined));
    expect(new Set(place).size).toBe(1);
    expect(`${place[0]}/`).toContain(`/${path.join('/')}/`);
    expect([second.controller.state('o')?.name, second.controller.explain('o').object]).toEqual(['o', 'trouble']);
    progress.isHealed = true;
    await second.settle();
    expect(calls).toEqual(['o', 'other', 'o']);
    await second.stop();
  });

  it('members that nobody knows are kept, whatever they are', async () => {
    const world = createWorld();
    const progress = spoiling((document) => {
      Object.assign(document, { later: null });
      Object.assign(recordOf(document), { later: [1] });
    });
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => controller.on('change', { id: 'h' }, () => {}), { progress });
    await life.settle();
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(life.stats().calls).toBe(2);
    await life.stop();
  });
});

describe('records of a version that the source does not show', () => {
  it('are told of once, explained, and followed when it does', async () => {
    const world = createWorld();
    const progress = spoiling(spoilt(['resourceVersion'], '9'));
    const { logger, warnings } = logged();
    world.source.put('o', { spec: { n: 1 } });
    progress.isHealed = true;
    const register = (controller: Parameters<Parameters<typeof world.start>[0]>[0]) =>
      controller.on('change', { id: 'h', field: 'spec' }, () => {});
    const first = await world.start(register, { progress });
    await first.settle();
    await first.stop();
    progress.isHealed = false;
    world.source.put('o', { spec: { n: 2 } });
    const second = await world.start(register, { progress, logger });
    await world.clock.advance(60_000);
    expect([second.stats().calls, warnings]).toEqual([
      0,
      ['The source shows a state that is older than what is recorded of it: nobody is called'],
    ]);
    const { handlers, text } = second.controller.explain('o');
    expect(handlers[0]?.reason).toEqual({ why: 'old', recorded: '9' });
    expect(text).toContain('h: due, but not on this version: records are of version 9, which the source does not show');
    for (let n = 0; n < 10; n++) world.source.put('o', { spec: { n: 3 } });
    await second.settle();
    expect(second.stats().calls).toBe(1);
    await second.stop();
  });
});
