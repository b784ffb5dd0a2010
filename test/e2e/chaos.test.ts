import { describe, expect, it } from 'vitest';
import { plimsoll } from './plimsoll.ts';

const SMALL = ['demo', '--chaos', '--seed', '3', '--objects', '10', '--events', '250'];

describe('plimsoll demo --chaos, built', () => {
  it('brings every handler to the last state over kills and stale reads, in seconds', async () => {
    const { code, out } = await plimsoll([...SMALL, '--json']);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ ok: true, edits: 250, misses: 0, behind: 0 });
    expect(report.checks.map(({ outcome }: { outcome: string }) => outcome)).toEqual(Array(6).fill('ok'));
    expect(report.kills).toBeGreaterThan(0);
    expect(report.lostItems).toBeGreaterThan(0);
    expect(report.lostAnswers).toBeGreaterThan(0);
    expect(report.elapsedMs).toBeLessThan(30_000);
    expect(code).toBe(0);
  });

  it('tells people the same in lines', async () => {
    const { code, out, err } = await plimsoll(SMALL);
    expect(out).toMatch(/^ok {4}last state {2}\d+ handlers and sub-handlers of \d+ objects? had their effect/);
    expect(out).toMatch(
      /\n250 edits, \d+ kills, .* answers lost\n\d+ calls, .*, 0 misses, [\d.]+ s: all 6 checks are right\n$/,
    );
    expect(err).not.toContain('Warning');
    expect(code).toBe(0);
  });

  it('ends with 1 when a sub-handler is broken', async () => {
    const { code, out } = await plimsoll([...SMALL, '--broken']);
    expect(out).toMatch(/^FAIL {2}last state/);
    expect(out).toMatch(/ misses, [\d.]+ s: 1 of 6 checks failed\n$/);
    expect(code).toBe(1);
  });

  it('ends on Ctrl-C, without a report', async () => {
    const { code, out } = await plimsoll(['demo', '--chaos', '--events', '100000'], {
      onError: (text, kill) => {
        if (text.includes(', chaos, ')) kill('SIGINT');
      },
    });
    expect([code, out]).toEqual([130, '']);
  });
});
