import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { DEMO_USAGE, HASH_USAGE, USAGE } from '../../../src/cli/usage.ts';
import { createTestHost, DISK_FULL, NO_READER, type TestHostOptions } from './test-host.ts';

function plimsoll(...args: readonly string[]) {
  return plimsollOn({}, ...args);
}

async function plimsollOn(options: TestHostOptions, ...args: readonly string[]) {
  const host = createTestHost(options);
  const code = await host.settle(run(args, host));
  return { code, out: host.out(), err: host.err() };
}

describe('plimsoll', () => {
  it.each([
    [['--help'], USAGE],
    [['-h'], USAGE],
    [['demo', '--help'], DEMO_USAGE],
    [['demo', '-h', '--seed', '3'], DEMO_USAGE],
    [['hash', '--help'], HASH_USAGE],
    [['hash', '-h'], HASH_USAGE],
  ])('prints the help of %j', async (args, out) => {
    expect(await plimsoll(...args)).toEqual({ code: 0, out, err: '' });
  });

  it('explains itself: usage, examples and exit codes, in lines that fit a terminal', () => {
    for (const text of [DEMO_USAGE, HASH_USAGE]) {
      for (const part of ['Usage\n', 'What it does\n', 'Options\n', 'Examples\n', 'Exit codes\n']) {
        expect(text).toContain(`\n${part}`);
      }
    }
    for (const line of [USAGE, DEMO_USAGE, HASH_USAGE].join('').split('\n')) expect(line.length).toBeLessThan(100);
  });

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    expect(await plimsoll('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  it.each([
    [[], 'Cannot run plimsoll: no command is given, there are demo and hash', 'plimsoll --help'],
    [['watch'], 'Cannot run plimsoll: unknown command "watch", the commands are demo and hash', 'plimsoll --help'],
    [['--json'], 'Cannot run plimsoll: unknown option "--json", the commands are demo and hash', 'plimsoll --help'],
    [['hash', '--nope'], 'Cannot run hash: Unknown option "--nope"', 'plimsoll hash --help'],
    [['hash', '-x', 'a'], 'Cannot run hash: Unknown option "-x"', 'plimsoll hash --help'],
    [['hash', '--json=yes'], 'Cannot run hash: Option "--json" does not take an argument', 'plimsoll hash --help'],
    [['demo', '--nope', '3'], 'Cannot run demo: Unknown option "--nope"', 'plimsoll demo --help'],
    [
      ['demo', 'a.json'],
      'Cannot run demo: unexpected argument "a.json", a file goes behind --stream',
      'plimsoll demo --help',
    ],
    [['demo', '--seed', '1', '--seed', '2'], 'Cannot run demo: --seed is given twice', 'plimsoll demo --help'],
    [['demo', '--truth', 'a'], 'Cannot run demo: --truth needs a --stream', 'plimsoll demo --help'],
    [
      ['demo', '--stream', 'a', '--truth', '-'],
      'Cannot run demo: --truth cannot be standard input',
      'plimsoll demo --help',
    ],
    [['demo', '--stream='], 'Cannot run demo: the name of a file is empty', 'plimsoll demo --help'],
    [['hash', 'a', ''], 'Cannot run hash: the name of a file is empty', 'plimsoll hash --help'],
    [['a\nb'], 'Cannot run plimsoll: unknown command "a\\nb", the commands are demo and hash', 'plimsoll --help'],
    [['hash', '--a\nb'], 'Cannot run hash: Unknown option "--a\\nb"', 'plimsoll hash --help'],
    [
      ['demo', '--stream', 'a', '--seed', '1'],
      'Cannot run demo: --seed is for the built-in stream, it cannot go with --stream',
      'plimsoll demo --help',
    ],
    [
      ['demo', '--objects', '10', '--events', '9'],
      'Cannot run demo: --events is 9, below --objects, which is 10',
      'plimsoll demo --help',
    ],
    [
      ['demo', '--kill-at', '3001'],
      'Cannot run demo: --kill-at is 3001, but the stream ends after event 3000',
      'plimsoll demo --help',
    ],
  ])('refuses %j', async (args, message, help) => {
    expect(await plimsoll(...args)).toEqual({ code: 2, out: '', err: `plimsoll: ${message}\nTry "${help}"\n` });
  });

  it.each([
    ['seed', '-1'],
    ['seed', '4294967296'],
    ['objects', '0'],
    ['events', '1e3'],
    ['events', ''],
    ['kill-at', '0'],
    ['kill-at', '2.5'],
    ['kill-at', '99999999999999999999'],
    ['timeout-s', 'soon'],
  ])('refuses --%s=%s', async (option, value) => {
    const { code, out, err } = await plimsoll('demo', `--${option}=${value}`);
    expect(err).toMatch(
      new RegExp(`^plimsoll: Cannot run demo: --${option} is "${value}", not an integer from \\d+ to \\d+\n`),
    );
    expect([code, out]).toEqual([2, '']);
  });

  it.each(['--seed', '--stream', '--kill-at'])('refuses %s without its argument', async (option) => {
    const { code, err } = await plimsoll('demo', option);
    expect(err).toContain(`Cannot run demo: Option "${option} <value>" argument missing`);
    expect(code).toBe(2);
  });

  it.each([[''], ['spec'], ['/a~2b'], ['/a~']])('refuses the pointer %j', async (pointer) => {
    const { code, out, err } = await plimsoll('hash', `--ignore=${pointer}`);
    expect(err).toMatch(/^plimsoll: Cannot .+\nTry "plimsoll hash --help"\n$/);
    expect([code, out]).toEqual([2, '']);
  });

  const writing = [['--help'], ['--version'], ['demo', '--help'], ['hash', '--help']];
  it.each([...writing, ['demo', '--objects', '5', '--events', '5']])(
    'fails when %s %s cannot be written',
    async (...args) => {
      const full = await plimsollOn({ stdoutBreaks: { after: 0, error: DISK_FULL } }, ...args);
      const err = 'plimsoll: Cannot write to standard output: no space left on device\n';
      expect(full).toEqual({ code: 1, out: '', err });
      const unread = await plimsollOn({ stdoutBreaks: { after: 0, error: NO_READER } }, ...args);
      expect(unread).toEqual({ code: 0, out: '', err: '' });
    },
  );

  it('tells both when the error document of a demo cannot be written', async () => {
    const options = { inputs: { '-': 'oops' }, stdoutBreaks: { after: 0, error: DISK_FULL } };
    const { code, err } = await plimsollOn(options, 'demo', '--stream', '-', '--json');
    expect(err).toContain('plimsoll: Cannot write to standard output: no space left on device\n');
    expect(err).toContain(
      'plimsoll: Cannot read the stream from standard input: line 1, byte 0: expected a JSON object',
    );
    expect(code).toBe(1);
  });

  it.each([
    [2, ['nope']],
    [2, ['hash', '--nope']],
    [1, ['demo', '--stream', 'none']],
    [1, ['hash', 'none']],
  ])('ends with %d, as ever, when standard error takes nothing: %j', async (code, args) => {
    expect(await plimsollOn({ stderrBreaks: { after: 0, error: DISK_FULL } }, ...args)).toEqual({
      code,
      out: '',
      err: '',
    });
  });

  it('tells of a file that is not there', async () => {
    const { code, err } = await plimsoll('demo', '--stream', 'none.gz');
    expect(err).toContain('plimsoll: Cannot read none.gz: there is no such file\n');
    expect(code).toBe(1);
  });
});
