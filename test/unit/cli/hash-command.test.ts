import { describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { createEssenceHasherWith } from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';
import { createTestHost, DISK_FULL, NO_READER, type TestHostOptions } from './test-host.ts';

async function hash(args: readonly string[], inputs: TestHostOptions['inputs'], options: TestHostOptions = {}) {
  const host = createTestHost({ ...options, ...(inputs && { inputs }) });
  const code = await host.settle(run(['hash', ...args], host));
  return { code, out: host.out(), err: host.err() };
}

function digest(value: unknown, options = {}): string {
  return createEssenceHasherWith(coreModule(), options).digest(value);
}

const A = {
  kind: 'Pod',
  metadata: { name: 'a', resourceVersion: '7' },
  spec: { replicas: 1, args: [{ x: 1 }, { x: 2 }] },
};
const TEXT = JSON.stringify(A);

describe('hash', () => {
  it('prints the digest and the name of each file, in order', async () => {
    const inputs = { 'a.json': TEXT, 'b.json': '[1, 2]\n' };
    expect(await hash(['b.json', 'a.json', 'b.json'], inputs)).toEqual({
      code: 0,
      out: `${digest([1, 2])}  b.json\n${digest(A)}  a.json\n${digest([1, 2])}  b.json\n`,
      err: '',
    });
  });

  it('reads standard input without a file, and for -', async () => {
    const out = `${digest(A)}  -\n`;
    const chunks = [TEXT.slice(0, 9), TEXT.slice(9)];
    expect(await hash([], { '-': { chunks } })).toEqual({ code: 0, out, err: '' });
    expect(await hash(['-'], { '-': TEXT })).toEqual({ code: 0, out, err: '' });
  });

  it('does not care how a document is written', async () => {
    const inputs = { a: TEXT, b: JSON.stringify({ ...A, metadata: { resourceVersion: '8', name: 'a' } }, null, 2) };
    const lines = (await hash(['a', 'b'], inputs)).out.trimEnd().split('\n');
    expect(new Set(lines.map((one) => one.split('  ')[0])).size).toBe(1);
  });

  it('takes each line as a document with --ndjson, counts lines and skips blank ones', async () => {
    const text = `{"a":1}\n\n  \t\r\n{"a":2}\r\n{"a":3}`;
    expect(await hash(['--ndjson', 'f'], { f: text })).toEqual({
      code: 0,
      out: `${digest({ a: 1 })}  f:1\n${digest({ a: 2 })}  f:4\n${digest({ a: 3 })}  f:5\n`,
      err: '',
    });
    expect((await hash(['--ndjson'], { '-': '{}' })).out).toBe(`${digest({})}  -:1\n`);
  });

  it('prints objects with --json', async () => {
    const { out } = await hash(['--json', 'a'], { a: TEXT });
    expect(JSON.parse(out)).toEqual({ digest: digest(A), file: 'a', line: null });
    const lines = (await hash(['--json', '--ndjson', 'a'], { a: '{}\n[]\n' })).out.trimEnd().split('\n');
    expect(lines.map((one) => JSON.parse(one))).toEqual([
      { digest: digest({}), file: 'a', line: 1 },
      { digest: digest([]), file: 'a', line: 2 },
    ]);
  });

  it('takes the hash and its seed', async () => {
    const sha256 = `${digest(A, { algorithm: 'sha256' })}  a\n`;
    expect(await hash(['--algorithm', 'sha256', 'a'], { a: TEXT })).toEqual({ code: 0, out: sha256, err: '' });
    const seeded = `${digest(A, { seed: 255n })}  a\n`;
    for (const seed of ['255', '0xff', '0XFF']) {
      expect((await hash(['--seed', seed, '--algorithm=xxh3-128', 'a'], { a: TEXT })).out).toBe(seeded);
    }
  });

  it.each([
    [['--algorithm', 'md5'], '--algorithm is "md5", not xxh3-128 or sha256'],
    [['--seed', '0'], '--seed is "0", not an integer from 1 to 18446744073709551615'],
    [['--seed', '18446744073709551616'], '--seed is "18446744073709551616", not an integer'],
    [['--seed', '1e3'], '--seed is "1e3", not an integer'],
    [['--seed', ''], '--seed is "", not an integer'],
    [['--seed', '1', '--algorithm', 'sha256'], 'seed does not go with the algorithm "sha256"'],
  ])('refuses %j', async (args, reason) => {
    const { code, out, err } = await hash([...args, 'a'], { a: TEXT });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(reason);
  });

  it('leaves out what --ignore says, as often as it is given, beside the defaults or without them', async () => {
    const ignore = ['/spec/replicas', '/spec/args/*/x'];
    const args = ignore.flatMap((pointer) => ['--ignore', pointer]);
    expect((await hash([...args, 'a'], { a: TEXT })).out).toBe(`${digest(A, { ignore })}  a\n`);
    const without = await hash([`--ignore=${ignore[0]}`, '--no-default-ignore', 'a'], { a: TEXT });
    expect(without.out).toBe(`${digest(A, { ignore: [ignore[0]], defaults: false })}  a\n`);
    expect(digest(A)).not.toBe(digest(A, { defaults: false }));
  });

  it('takes the last of two equal members, or refuses them', async () => {
    const inputs = { a: '{"a":1,"b":2,"a":3}' };
    expect((await hash(['a'], inputs)).out).toBe(`${digest({ a: 3, b: 2 })}  a\n`);
    const refused = await hash(['--reject-duplicates', 'a'], inputs);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^plimsoll: Cannot hash a: line 1, byte 1\d: .*\n$/);
  });

  it('names file, line and byte of a fault, goes on, and ends with 1', async () => {
    const inputs = { bad: '{\n "a": 1,\n "b": tru\n}', good: TEXT };
    const { code, out, err } = await hash(['bad', 'none', 'good'], inputs);
    expect(out).toBe(`${digest(A)}  good\n`);
    expect(err).toMatch(
      /^plimsoll: Cannot hash bad: line 3, byte 1[6-9]: [^\n]+\nplimsoll: Cannot read none: there is no such file\n$/,
    );
    expect(code).toBe(1);
  });

  it('goes on behind a faulty line', async () => {
    const { code, out, err } = await hash(['--ndjson', 'f'], { f: '{"a":1}\n{"a":\n{"a":"\\ud800"}\n{"a":2}\n' });
    expect(out).toBe(`${digest({ a: 1 })}  f:1\n${digest({ a: 2 })}  f:4\n`);
    expect(err).toMatch(
      /^plimsoll: Cannot hash f: line 2, byte 13: .*\nplimsoll: Cannot hash f: line 3, byte 2[0-9]: .*\n$/,
    );
    expect(code).toBe(1);
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['two documents', '{} {}'],
    ['a byte order mark', '\ufeff{}'],
    ['a lone surrogate', '"\\udfff"'],
    ['a number above any double', '1e999'],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xc3, 0x28, 0x22])],
    ['too deep nesting', '['.repeat(5000) + ']'.repeat(5000)],
  ])('refuses %s', async (_what, text) => {
    const { code, out, err } = await hash(['f'], { f: text });
    expect(err).toMatch(/^plimsoll: Cannot hash f: line \d, byte \d+: .+\n$/);
    expect([code, out]).toEqual([1, '']);
  });

  it('escapes a name that cannot stand on a line, as sha256sum does', async () => {
    const name = 'a\nb\\c';
    expect((await hash([name], { [name]: '{}' })).out).toBe(`\\${digest({})}  a\\nb\\\\c\n`);
    expect(JSON.parse((await hash(['--json', name], { [name]: '{}' })).out)).toMatchObject({ file: name });
  });

  it('escapes it in complaints as well: each is one line', async () => {
    const { err } = await hash(['no\nne', 'b\\d', '--ndjson', 'f\r\n'], { 'b\\d': '{', 'f\r\n': '{}\n{' });
    expect(err.trimEnd().split('\n')).toEqual([
      'plimsoll: Cannot read no\\nne: there is no such file',
      expect.stringMatching(/^plimsoll: Cannot hash b\\\\d: line 1, byte 1: /),
      expect.stringMatching(/^plimsoll: Cannot hash f\\r\\n: line 2, byte 4: /),
    ]);
  });

  it('stops quietly when nobody reads any more', async () => {
    const stdoutBreaks = { after: 2, error: NO_READER };
    const { code, out, err } = await hash(['--ndjson', 'f', 'g'], { f: '{}\n'.repeat(9) }, { stdoutBreaks });
    expect([code, out.split('\n').length, err]).toEqual([0, 3, '']);
  });

  it.each([
    ['lines', ['--ndjson', 'f', 'g']],
    ['files', ['g', 'g', 'g', 'none']],
  ])('ends with 1 at the first digest of %s that cannot be written', async (_what, args) => {
    const stdoutBreaks = { after: 2, error: DISK_FULL };
    const { code, out, err } = await hash(args, { f: '{}\n'.repeat(9), g: '{}' }, { stdoutBreaks });
    expect([code, out.split('\n').length]).toEqual([1, 3]);
    expect(err).toBe('plimsoll: Cannot write to standard output: no space left on device\n');
  });

  it('hashes all the same, and ends with 1, when standard error takes nothing', async () => {
    const stderrBreaks = { after: 0, error: DISK_FULL };
    const { code, out, err } = await hash(['bad', 'bad', 'good'], { bad: '{', good: TEXT }, { stderrBreaks });
    expect([code, out, err]).toEqual([1, `${digest(A)}  good\n`, '']);
  });
});
