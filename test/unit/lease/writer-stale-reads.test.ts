import { describe, expect, it } from 'vitest';
import type { ReadResult, WriterLeaseOptions } from '../../../src/types/writer-lease.ts';
import { COLD_MS, type Rig, writerRig } from './writer-rig.ts';

const CAP_MS = 15_000;
type Found = ReadResult<unknown>;
const satisfied = (revision: number): Found => ({ revision, satisfied: true, changed: true });
const changed = (revision: number): Found => ({ revision, satisfied: false, changed: true });

function hook(options: WriterLeaseOptions = {}) {
  const answers: ((found: Found) => void)[] = [];
  const rig = writerRig({ read: () => new Promise<Found>((resolve) => void answers.push(resolve)), ...options });
  const found = async (result: Found) => {
    answers.at(-1)?.(result);
    await rig.clock.settle();
  };
  return { rig, found };
}

/** What says, while a read is under way, that its answer will be too old. */
const newer: [string, (rig: Rig) => void][] = [
  ['seen', (rig) => rig.edit('a', 11, true)],
  ['asked for', (rig) => void rig.ask('a', 11)],
];
const tooOld: [string, Found][] = [
  ['right', satisfied(10)],
  ['changed', changed(10)],
  ['gone', undefined],
];
const cases = newer.flatMap(([how, tell]) => tooOld.map(([what, result]) => ({ how, tell, what, result })));

describe('a read that is older than what is known', () => {
  it.each(cases)('WL21, WL22 ends no wish: $what at 10, 11 $how meanwhile', async ({ tell, result }) => {
    const { rig, found } = hook();
    rig.edit('a', 3);
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    tell(rig);
    await found(result);
    expect(rig.keys()).toEqual(['a']);
    expect(rig.attempts[0]?.context.revision).toBe(11);
    expect(rig.lease.stats()).toMatchObject({ evidence: 0, dropped: 0 });
  });

  it.each(tooOld)('WL16, WL22 explains no conflict away: %s', async (_, result) => {
    const { rig, found } = hook();
    rig.ask('first', 1);
    await rig.clock.advance(COLD_MS);
    await found({ revision: 1, satisfied: false, changed: false });
    await rig.answer({ revision: 2 });
    rig.ask('a', 3);
    await rig.clock.settle();
    await rig.answer('conflict');
    rig.ask('a', 11);
    await found(result);
    expect(rig.keys()).toEqual(['first', 'a', 'a']);
    expect(rig.lease.stats()).toMatchObject({ evidence: 0, dropped: 0, blocked: 0 });
  });

  it('WL22 shows nothing that the watch has not shown at that revision', async () => {
    const { rig, found } = hook();
    rig.edit('a', 3);
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    await found(changed(3));
    expect(rig.keys()).toEqual(['a']);
  });

  it('WL22 an answer whose flags are none is an error of the read', async () => {
    const { rig, found } = hook();
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    await found(JSON.parse('{"revision":9,"satisfied":"yes","changed":true}'));
    expect(rig.lease.stats()).toMatchObject({ readErrors: 1, attempts: 1, dropped: 0 });
  });
});

describe('what should explain a conflict and does not', () => {
  const broken: [string, WriterLeaseOptions['read']][] = [
    ['a read that throws', () => Promise.reject(new Error('no'))],
    ['a read that hangs', () => new Promise(() => {})],
    ['a read of what the watch never shows', () => changed(9)],
  ];

  it.each(broken)('WL16 delays a wish by two caps a conflict, and the others with it: %s', async (_, read) => {
    if (read === undefined) throw new TypeError('there is no read');
    const rig = writerRig({ read, writeTimeoutMs: 1000 });
    rig.edit('a', 3);
    rig.ask('a', 3);
    rig.ask('b', 3);
    let answered = 0;
    for (let round = 0; round < 80; round++) {
      await rig.clock.advance(CAP_MS / 10);
      while (answered < rig.attempts.length) await rig.answer(answered++ === 0 ? 'conflict' : { revision: 20 + round });
    }
    expect(new Set(rig.keys())).toEqual(new Set(['a', 'b']));
    expect(rig.lease.stats()).toMatchObject({ role: 'leader', pending: 0, blocked: 0, parked: 0 });
  });
});

describe('a read that the watch has made needless', () => {
  it('has an aborted signal, also if it asks for that only then', async () => {
    let options: { readonly signal: AbortSignal } | undefined;
    const rig = writerRig({
      read: (_, given) => {
        options = given;
        return new Promise(() => {});
      },
    });
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    rig.mate('a', 9);
    await rig.clock.settle();
    expect(options?.signal.aborted).toBe(true);
  });
});
