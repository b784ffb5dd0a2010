import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Outcome, plimsoll, type RunOptions } from './plimsoll.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-e2e-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command with an output that goes to a file or a device. */
async function into(
  path: string,
  output: 'stdout' | 'stderr',
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const fd = openSync(path, 'w');
  try {
    return await plimsoll(args, { ...options, [output]: fd });
  } finally {
    closeSync(fd);
  }
}

const LINES = '{"a":1}\n'.repeat(50_000);
const NO_SPACE = 'plimsoll: Cannot write to standard output: no space left on device\n';

describe.runIf(existsSync('/dev/full'))('plimsoll, on a disk that is full', () => {
  it.each([
    [['--help'], ''],
    [['--version'], ''],
    [['hash'], '{}'],
    [['hash', '--json'], '{}'],
    [['hash', '--ndjson'], LINES],
    [['hash', '-', 'no-such-file'], '{}'],
    [['demo', '--objects', '5', '--events', '5'], ''],
    [['demo', '--objects', '5', '--events', '5', '--json'], ''],
  ])('ends %j with 1 and says why, once', async (args, input) => {
    expect(await into('/dev/full', 'stdout', args, { input })).toEqual({ code: 1, out: '', err: NO_SPACE });
  });

  it('keeps what goes to standard error from changing the outcome', async () => {
    const onlyErrors = (args: readonly string[], input = ''): Promise<Outcome> =>
      into('/dev/full', 'stderr', args, { input });
    expect(await onlyErrors(['nope'])).toEqual({ code: 2, out: '', err: '' });
    expect(await onlyErrors(['hash', 'no-such-file'])).toEqual({ code: 1, out: '', err: '' });
    const { code, out } = await onlyErrors(['hash', 'no-such-file', 'no-such-file', '-'], '{}');
    expect([code, out]).toEqual([1, expect.stringMatching(/^xxh3-128:[0-9a-f]{32} {2}-\n$/)]);
  });
});

describe.runIf(existsSync('/bin/sh'))('plimsoll, on a disk that fills up', () => {
  it('does not take a write that was cut short for a whole one', async () => {
    const path = join(folder, 'cut.txt');
    const outcome = await into(path, 'stdout', ['--help'], { fileBlocksMax: 1 });
    expect(outcome).toEqual({ code: 1, out: '', err: 'plimsoll: Cannot write to standard output: file too large\n' });
    expect(statSync(path).size).toBe(512);
  });

  it('writes to a file what it writes to a pipe, when there is room', async () => {
    const path = join(folder, 'whole.txt');
    const { out } = await plimsoll(['hash', '--ndjson'], { input: LINES });
    expect(await into(path, 'stdout', ['hash', '--ndjson'], { input: LINES })).toEqual({ code: 0, out: '', err: '' });
    expect(readFileSync(path, 'utf8') === out).toBe(true);
    expect(out.split('\n')).toHaveLength(50_001);
  });
});

describe('plimsoll, on pipes that nobody reads', () => {
  it('ends quietly', async () => {
    const quiet = { code: 0, out: '', err: '' };
    expect(await plimsoll(['hash', '--ndjson'], { input: LINES, deaf: ['stdout'] })).toEqual(quiet);
    expect(await plimsoll(['--help'], { deaf: ['stdout'] })).toEqual(quiet);
  });

  it('ends with the code of what went wrong', async () => {
    expect(await plimsoll(['nope'], { deaf: ['stderr'] })).toEqual({ code: 2, out: '', err: '' });
    expect(await plimsoll(['hash', 'no-such-file'], { deaf: ['stdout', 'stderr'] })).toMatchObject({ code: 1 });
    const { code, out } = await plimsoll(['hash', 'no-such-file', '-'], { input: '{}', deaf: ['stderr'] });
    expect([code, out.length > 0]).toEqual([1, true]);
  });
});

describe.runIf(process.platform !== 'win32')('plimsoll, on file names with line breaks', () => {
  it('prints each on one line: digests as sha256sum does, complaints alike', async () => {
    const there = join(folder, 'a\nb\\c.json');
    writeFileSync(there, '{}');
    const { code, out, err } = await plimsoll(['hash', there, join(folder, 'no\r\nne')]);
    expect(out).toMatch(/^\\xxh3-128:[0-9a-f]{32} {2}[^\n]+a\\nb\\\\c\.json\n$/);
    expect(err).toMatch(/^plimsoll: Cannot read [^\n]+no\\r\\nne: there is no such file\n$/);
    expect(code).toBe(1);
  });

  it('refuses a name that is empty, before anything is hashed', async () => {
    const { code, out, err } = await plimsoll(['hash', '-', ''], { input: '{}' });
    expect(err).toBe('plimsoll: Cannot run hash: the name of a file is empty\nTry "plimsoll hash --help"\n');
    expect([code, out]).toEqual([2, '']);
  });
});
