import { describe, expect, it } from 'vitest';
import { runAccesses } from '../core/accesses.ts';
import { Part } from '../core/part.ts';
import { type Kind, releasedKinds, seedOf } from '../core/programs.ts';
import { runTwins } from '../core/twins.ts';
import { reproduce, sized, testSeed, testSize } from '../support/size.ts';

/** A little of what `npm run test:core` does at length; index and essence have their own tests beside this file. */
const PROGRAMS: Readonly<Record<string, { readonly smoke: number; readonly full: number }>> = {
  exports: { smoke: 600, full: 6000 },
  keys: { smoke: 150, full: 1500 },
  bytes: { smoke: 1500, full: 15_000 },
  values: { smoke: 600, full: 10_000 },
  limits: { smoke: 60, full: 600 },
};

function runKind(kind: Kind, number: number): void {
  for (let index = 0; index < sized(PROGRAMS[kind.name] ?? { smoke: 1, full: 1 }); index++) {
    const failure = kind.run(seedOf(testSeed(), number, index));
    if (failure === undefined) continue;
    const alone = `npm run test:core -- --seed ${testSeed()} --program ${kind.name}:${index}`;
    throw new Error(`program ${index} fails: ${failure}\n${alone}; ${reproduce('property')}`);
  }
}

describe('the exports of the core', () => {
  it.each(Object.keys(PROGRAMS))(
    '%s: random programs are answered as by plain JavaScript, and hit no guard',
    async (name) => {
      for (const [number, kind] of (await releasedKinds()).entries()) if (kind.name === name) runKind(kind, number);
    },
  );

  it('read and write no byte but those that they may', async () => {
    const part = new Part();
    await runAccesses(part, { seed: testSeed(), smoke: testSize() === 'smoke' });
    expect(part.failures).toEqual([]);
    expect(part.passed).toBeGreaterThan(100);
  });

  it('answer the same without SIMD', async () => {
    const part = new Part();
    await runTwins(part, { seed: testSeed(), smoke: testSize() === 'smoke' });
    expect(part.failures).toEqual([]);
    expect(part.passed).toBeGreaterThan(1000);
  });
});
