import { describe, expect, it } from 'vitest';
import { Process } from '../../../src/cli/chaos/process.ts';
import { Trouble } from '../../../src/cli/chaos/trouble.ts';
import { Interrupt } from '../../../src/cli/host.ts';
import { run } from '../../../src/cli/run.ts';
import { createMemoryProgress } from '../../../src/handlers/progress.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createObjectSource } from '../../../src/testing/object-source.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { createTestHost } from './test-host.ts';

const SMALL = ['--objects', '6', '--events', '150'];
const NAMES = ['last state', 'retired', 'deletions', 'patches', 'resumed', 'rest'];

async function chaos(...args: readonly string[]) {
  const host = createTestHost();
  const code = await host.settle(run(['demo', '--chaos', ...args], host), 600_000);
  return { code, out: host.out(), err: host.err() };
}

describe('demo --chaos', () => {
  it('finds everything right, and the same for the same seed', async () => {
    const [first, second] = [await chaos(...SMALL), await chaos(...SMALL)];
    expect(first).toEqual(second);
    expect(first.code).toBe(0);
    const lines = first.out.trimEnd().split('\n');
    expect(lines.slice(0, 6).map((text) => text.slice(0, 16).trimEnd())).toEqual(NAMES.map((name) => `ok    ${name}`));
    expect(lines[6]).toMatch(
      /^150 edits, \d+ kills, \d+ stale lists, \d+ changes lost and \d+ doubled, \d+ answers lost$/,
    );
    expect(lines[7]).toMatch(
      /^\d+ calls, \d+ failed, \d+ repeated what was done, 0 misses, [\d.]+ s: all 6 checks are right$/,
    );
  });

  it('is right for other seeds, over kills, stale lists, lost changes and lost answers', async () => {
    const total = {
      kills: 0,
      staleLists: 0,
      lostItems: 0,
      doubledItems: 0,
      lostAnswers: 0,
      repeatedCalls: 0,
      deleted: 0,
    };
    for (let seed = 2; seed < 12; seed++) {
      const { code, out } = await chaos(...SMALL, '--seed', String(seed), '--json');
      const report = JSON.parse(out);
      expect([code, report.ok, report.misses, report.behind], out).toEqual([0, true, 0, 0]);
      expect(report.checks.map(({ name, outcome }: { name: string; outcome: string }) => `${name} ${outcome}`)).toEqual(
        NAMES.map((name) => `${name} ok`),
      );
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += report[key];
    }
    // What is not there to go wrong shows nothing.
    expect(Object.entries(total).filter(([, count]) => count === 0)).toEqual([]);
  });

  it('finds out a sub-handler that takes its work as done after the first time', async () => {
    const { code, out } = await chaos(...SMALL, '--broken');
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}last state {2}not as it has to be\n/);
    expect(out).toMatch(/first difference \(last state\)\n {2}key {7}\S+\n {2}expected {2}deploy\/\w+: web:\d\n/);
    expect(out).toMatch(/ [1-9]\d* misses, [\d.]+ s: 1 of 6 checks failed\n$/);
  });

  it('ends on an interrupt with nothing left behind', async () => {
    const host = createTestHost({ isTerminal: true });
    const running = run(['demo', '--chaos', '--events', '100000'], host);
    await host.clock.advance(500);
    host.interrupt(new Interrupt(130));
    expect(await host.settle(running, 5000)).toBe(130);
    // What is on its way to somebody who has gone.
    await host.clock.advance(10);
    expect([host.out(), host.clock.pending]).toEqual(['', 0]);
  });

  it.each([
    [['--chaos', '--stream', '-'], '--stream cannot go with --chaos, which has no stream'],
    [['--chaos', '--kill-at', '3'], '--kill-at cannot go with --chaos, which has no stream'],
    [['--broken'], '--broken needs --chaos'],
    [['--chaos', '--objects', '1001'], '--objects is "1001", not an integer from 1 to 1000'],
    [['--chaos', '--events', '100001'], '--events is "100001", not an integer from 1 to 100000'],
    [['--chaos', '--objects', '9', '--events', '8'], '--events is 8, below --objects, which is 9'],
  ])('refuses %j', async (args, message) => {
    const host = createTestHost();
    expect(await host.settle(run(['demo', ...args], host))).toBe(2);
    expect(host.err()).toBe(`plimsoll: Cannot run demo: ${message}\nTry "plimsoll demo --help"\n`);
  });
});

describe('a process that is killed', () => {
  it('has no timer, gets no answer, and is told of once; a write on its way lands', async () => {
    const clock = createVirtualClock();
    const trouble = new Trouble(() => 0.999);
    let kills = 0;
    const process = new Process(1, clock, trouble, () => kills++);
    const source = createObjectSource<number>({ clock, random: createSeededRandom(1), faults: { patchDelayMsMax: 5 } });
    const { uid, resourceVersion } = source.put('a', 1);
    const heard: string[] = [];
    const own = process.source(source);
    process.clock.after(1, () => heard.push('timer'));
    const change = { name: 'a', uid, resourceVersion, patches: [{ b: 1 }] };
    void own.patch?.(change, {}).then(() => heard.push('patched'));
    process.kill();
    process.kill();
    process.clock.after(1, () => heard.push('late timer'));
    void own.get('a', {}).then(() => heard.push('read'));
    void process
      .progress(createMemoryProgress())
      .list()
      .then(() => heard.push('listed'));
    await clock.advance(100);
    expect([heard, kills, trouble.counts.kills]).toEqual([[], 1, 1]);
    expect(source.objects[0]?.object).toEqual({ b: 1 });
  });
});
