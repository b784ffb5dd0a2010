import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { chooseCases, parseOptions, UsageError } from '../../../bench/harness/arguments.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const SUITES = ['essence', 'index'];
const RUNTIMES = ['node', 'deno', 'bun'] as const;

/** Only what neither installs nor measures. */
async function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['bench/run.mjs', ...args], { cwd: root });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

describe('parseOptions', () => {
  it('has defaults for a published run and for a quick one', () => {
    const published = parseOptions(['index'], SUITES);
    expect([published.suite, published.rounds, published.processes, published.json]).toEqual(['index', 7, 3, false]);
    const quick = parseOptions(['index', '--quick', '--json'], SUITES);
    expect([quick.rounds, quick.processes, quick.json]).toEqual([3, 1, true]);
    expect(parseOptions(['--processes', '5', 'index', '--rounds=9', '--quick'], SUITES)).toMatchObject({
      rounds: 9,
      processes: 5,
      quick: true,
    });
  });

  it.each([
    [[], 'which suite? there are essence, index'],
    [['speed'], 'there is no suite "speed"'],
    [['index', 'essence'], 'one suite at a time'],
    [['index', '--fast'], "Unknown option '--fast'"],
    [['index', '--rounds', '0'], '--rounds is "0", allowed is 1 to 99'],
    [['index', '--rounds', '1.5'], '--rounds is "1.5"'],
    [['index', '--processes=99'], '--processes is "99", allowed is 1 to 20'],
    [['index', '--json=yes'], 'does not take an argument'],
  ])('refuses %j', (args, message) => {
    expect(() => parseOptions(args, SUITES)).toThrow(UsageError);
    expect(() => parseOptions(args, SUITES)).toThrow(message);
  });
});

describe('parseOptions, the runtime', () => {
  it('is the first of those there are unless it is named', () => {
    expect(parseOptions(['index'], SUITES, RUNTIMES).runtime).toBe('node');
    expect(parseOptions(['index', '--runtime', 'deno'], SUITES, RUNTIMES).runtime).toBe('deno');
    expect(parseOptions(['--runtime=bun', 'index'], SUITES, RUNTIMES).runtime).toBe('bun');
  });

  it('is node alone for a command that has no other', () => {
    expect(parseOptions(['index'], SUITES).runtime).toBe('node');
    expect(() => parseOptions(['index', '--runtime', 'deno'], SUITES)).toThrow('there are node');
  });

  it.each([
    [['--runtime', 'workerd'], '--runtime is "workerd", there are node, deno, bun'],
    [['--runtime', ''], '--runtime is ""'],
    [['--runtime', 'Deno'], '--runtime is "Deno"'],
    [['--runtime', 'deno', '--runtime', 'bun'], 'one runtime at a time (deno bun)'],
    [['--runtime'], "'--runtime <value>' argument missing"],
  ])('refuses %j', (args, message) => {
    expect(() => parseOptions(['index', ...args], SUITES, RUNTIMES)).toThrow(UsageError);
    expect(() => parseOptions(['index', ...args], SUITES, RUNTIMES)).toThrow(message);
  });
});

describe('chooseCases', () => {
  it('chooses by the beginnings of names, in their order', () => {
    const names = ['insert 10k', 'insert 100k', 'get 100k'];
    expect(chooseCases(names, [])).toEqual(names);
    expect(chooseCases(names, ['get', 'insert 10k'])).toEqual(['insert 10k', 'get 100k']);
    expect(() => chooseCases(names, ['get', 'put'])).toThrow('no case starts with "put"');
  });
});

describe('the command', () => {
  it('teaches with --help, and lists the case names of the suites', async () => {
    const help = await run('--help');
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain('--processes N');
    expect(help.stdout).toContain('node, node24, deno, bun');
    const list = await run('--list');
    expect([list.code, list.stderr]).toEqual([0, '']);
    const names = ['bytes 0.8 KB', 'bytes shuffled keys 2.4 KB', 'object 1 MB', 'insert 1M', 'list 5000 ids'];
    for (const name of names) expect(list.stdout).toContain(`  ${name}\n`);
  });

  it.each([
    [['speed']],
    [['index', '--fast']],
    [['essence', '--case', 'nothing']],
    [['essence', '--runtime', 'workerd']],
    [['memory', '--runtime', 'deno']],
    [['memory', '--runtime', 'node24']],
  ])('ends %j with 2', async (args) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Cannot run the benchmarks: .*\nTry: npm run bench -- --help\n$/);
  });
});
