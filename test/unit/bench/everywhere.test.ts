import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CASES } from '../../../bench/everywhere/cases.mjs';
import { compareResults } from '../../../bench/everywhere/compare.mjs';
import { readResults, tableOf } from '../../../bench/everywhere/report.mjs';
import { RUNTIMES } from '../../../bench/everywhere/runtimes.mjs';
import { measureSlope } from '../../../bench/everywhere/slope.mjs';
import * as plimsoll from '../../../src/mod.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A machine on which calls take what they are said to. */
function machine(ms: (count: number) => number) {
  let now = 0;
  const counts: number[] = [];
  return {
    counts,
    clock: { now: () => now },
    call: (count: number) => {
      counts.push(count);
      now += ms(count);
    },
  };
}

describe('a slope', () => {
  it('is what an operation takes, whatever the beginning of a call does', async () => {
    for (const beginningMs of [0, 5, 500]) {
      const { call, clock } = machine((count) => beginningMs + count * 0.01);
      const { opsPerSecond, rme, samples } = await measureSlope('x', call, clock);
      expect(opsPerSecond).toBeCloseTo(100_000, 3);
      expect(rme).toBeCloseTo(0, 6);
      expect(samples).toBe(9);
    }
  });

  it('does not lean to one side when noise is larger than the work', async () => {
    const random = createSeededRandom(testSeed());
    const rates: number[] = [];
    for (let run = 0; run < 201; run++) {
      const { call, clock } = machine((count) => 100 + count * 0.5 + (random() - 0.5) * 100);
      try {
        rates.push((await measureSlope('x', call, clock)).opsPerSecond);
      } catch {
        rates.push(Number.POSITIVE_INFINITY);
      }
    }
    const median = rates.sort((a, b) => a - b)[100];
    expect(Math.abs(Math.log((median ?? 0) / 2000)), reproduce('unit')).toBeLessThan(0.25);
  });

  it('says how far samples are apart', async () => {
    let turn = 0;
    const { call, clock } = machine((count) => count * (0.01 + 0.001 * (Math.floor(turn++ / 2) % 3)));
    const { rme } = await measureSlope('x', call, clock);
    expect(rme).toBeGreaterThan(1);
    expect(rme).toBeLessThan(50);
  });

  it('is refused where operations take no time', async () => {
    const { call, clock, counts } = machine(() => 1);
    await expect(measureSlope('nothing', call, clock)).rejects.toThrow('Cannot measure nothing');
    expect(Math.max(...counts)).toBe(1 << 23);
  });
});

describe('the cases', () => {
  it.each(CASES)('$name: does what it is asked, and can tell', async ({ batch, open }) => {
    const { run, check } = await open(plimsoll as never);
    await run(batch);
    expect(check()).toBeUndefined();
    await run(3);
    expect(check()).toBeUndefined();
  });

  it('tell when less was done', async () => {
    const deaf = {
      ...plimsoll,
      openStore: async () => {
        const store = await plimsoll.openStore();
        return new Proxy(store, {
          get: (target, name) => {
            if (name === 'put') return async () => ({ revision: 1 });
            if (name === 'get') return () => undefined;
            if (name === 'range') return () => ({ kvs: [] });
            const member = Reflect.get(target, name, target);
            return typeof member === 'function' ? member.bind(target) : member;
          },
        });
      },
    };
    for (const one of CASES.filter(({ name }) => name.startsWith('store: '))) {
      const { run, check } = await one.open(deaf as never);
      await run(2);
      expect(check(), one.name).toMatch('got ');
    }
  });
});

type Rates = Readonly<Record<string, readonly [opsPerSecond: number, rme: number]>>;

function saved(runtime: string, rates: Rates, quick = false) {
  return {
    runtime,
    version: '1.2.3',
    plimsoll: '0.1.0',
    at: '2026-12-01T10:00:00.000Z',
    quick,
    machine: { cpu: 'a cpu', cores: 2 },
    harness: 'benchmark.js',
    results: Object.entries(rates).map(([name, [opsPerSecond, rme]]) => ({ name, opsPerSecond, rme, samples: 9 })),
  };
}

describe('a comparison', () => {
  it('says so if two differ by more than their errors and by more than noise', () => {
    const base = [
      saved('node', { a: [1000, 1], b: [1000, 1], c: [1000, 30], d: [1000, 3], e: [1000, 3], gone: [1, 1] }),
    ];
    const now = [
      saved('node', { a: [1040, 1], b: [1060, 1], c: [710, 30], d: [940, 1], e: [960, 4], added: [1, 1] }),
      saved('bun', { a: [1, 1] }),
    ];
    const rows = compareResults(base, now);
    expect(rows.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
      'a same',
      'b faster',
      'c same',
      'd slower',
      'e same',
    ]);
    expect(rows[1]).toEqual({
      runtime: 'node',
      name: 'b',
      base: 1000,
      now: 1060,
      ratio: 1.06,
      noise: 0.05,
      verdict: 'faster',
    });
    expect(rows[2]?.noise).toBeCloseTo(0.424, 3);
  });

  it('is symmetric: twice as fast is as far as half as fast', () => {
    for (const factor of [1.03, 1.07, 1.5, 4]) {
      const [up, down] = [
        compareResults([saved('node', { a: [100, 4] })], [saved('node', { a: [100 * factor, 4] })]),
        compareResults([saved('node', { a: [100 * factor, 4] })], [saved('node', { a: [100, 4] })]),
      ];
      expect([up[0]?.verdict, down[0]?.verdict]).toEqual(factor > 1.06 ? ['faster', 'slower'] : ['same', 'same']);
    }
  });
});

describe('bench:compare', () => {
  async function compare(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    try {
      const done = await promisify(execFile)(process.execPath, ['bench/everywhere/compare.mjs', ...args], {
        cwd: root,
      });
      return { code: 0, ...done };
    } catch (error) {
      return error as { code: number; stdout: string; stderr: string };
    }
  }

  it('ends with 1 if something is slower, 0 if not, 2 for wrong use', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-compare-'));
    try {
      for (const [name, rate] of [
        ['old', 1000],
        ['new', 500],
        ['other', 1000],
      ] as const) {
        await mkdir(join(folder, name));
        const result = saved('node', { [name === 'other' ? 'b' : 'a']: [rate, 1] });
        await writeFile(join(folder, name, 'node.json'), JSON.stringify(result));
      }
      const [old, now, other] = ['old', 'new', 'other'].map((name) => join(folder, name));
      expect(await compare(old ?? '', now ?? '')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^slower/) });
      const better = await compare('--json', now ?? '', old ?? '');
      expect([better.code, JSON.parse(better.stdout)]).toMatchObject([0, [{ verdict: 'faster', ratio: 2 }]]);
      expect(await compare(old ?? '', other ?? '')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching('no case in common'),
      });
      expect(await compare(join(folder, 'none'), now ?? '')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching('neither a folder nor a commit'),
      });
      expect(await compare()).toMatchObject({ code: 2 });
      expect(await compare('--fast', old ?? '')).toMatchObject({ code: 2, stderr: expect.stringMatching('--fast') });
      expect(await compare('--help')).toMatchObject({ code: 0, stdout: expect.stringMatching('Exit code') });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);
});

describe('the report of bench:all', () => {
  it('has a row for each runtime, in the order in which they are named, whatever the files are called', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-report-'));
    try {
      for (const runtime of [...RUNTIMES].reverse()) {
        await writeFile(
          join(folder, `${runtime}.json`),
          JSON.stringify(saved(runtime, { 'store: put': [123_456, 2.4] })),
        );
      }
      await writeFile(join(folder, 'README.md'), 'not a result');
      const results = await readResults(folder);
      expect(results.map(({ runtime }) => runtime)).toEqual(RUNTIMES);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is a table in thousands, with empty cells for what was not measured, and says what was quick', () => {
    const text = tableOf([
      saved('node', { a: [1234, 2.6], b: [123_456, 0.4] }),
      saved('workerd', { b: [45_678, 10] }, true),
    ]);
    expect(text).toContain('| runtime | version | a | b |');
    expect(text).toContain('| node | 1.2.3 | 1.23 ±3 % | 123 ±0 % |');
    expect(text).toContain('| workerd | 1.2.3 |  | 45.7 ±10 % |');
    expect(text).toContain('| workerd | 2026-12-01 | 0.1.0 | a cpu, 2 cores | benchmark.js, --quick |');
  });
});
