import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { HAS_OTHER_NODES } from '../../tools/runtimes.mjs';
import { root } from './plimsoll.ts';

describe('npm run test:faults', () => {
  it.runIf(HAS_OTHER_NODES)(
    '--smoke: killed writers, shared files, full disks, leaders that are hurt',
    { timeout: 240_000 },
    async () => {
      const run = promisify(execFile)(process.execPath, [`${root}test/faults/run.mjs`, '--smoke']);
      // What failed stands there, and in no message of the process.
      const { stdout } = await run.catch(({ stdout: told, stderr }) => ({ stdout: `${told}\n${stderr}` }));
      expect(stdout).not.toMatch(/^failed/m);
      expect(stdout).toMatch(/^ok {7}.*kill -9, 10 times/m);
      expect(stdout).toMatch(/^ok {7}etcd: three members, whoever leads is hurt, 2000 writes/m);
      expect(stdout.match(/^ok {7}F\d+/gm)).toHaveLength(40);
      expect(stdout).toMatch(/\n\d+ passed, 0 failed\n$/);
    },
  );

  it('a row whose fault is put in fails, and its check says what is wrong', { timeout: 120_000 }, async () => {
    const quick = 'F1 F2 F3 F5 F6 F7 F8 F9 F10 F14 F16 F17 F18 F19 F39'.split(' ');
    const args = ['--self-check', '--json', ...quick.flatMap((id) => ['--only', id])];
    const { stdout } = await promisify(execFile)(process.execPath, [`${root}test/faults/run.mjs`, ...args]);
    expect(JSON.parse(stdout)).toMatchObject({ passed: quick.length, failed: 0 });
    const error = await promisify(execFile)(process.execPath, [`${root}test/faults/run.mjs`, '--broken', 'F9']).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^failed {3}F9 [\s\S]*\n0 passed, 1 failed\n$/m),
    });
  });

  it.each([
    ['--kills', '0'],
    ['--only', 'F41'],
    ['--broken', 'F4'],
  ])('refuses %s %s with exit code 2', async (...args) => {
    const error = await promisify(execFile)(process.execPath, [`${root}test/faults/run.mjs`, ...args]).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 2 });
  });
});
