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
      const { stdout } = await promisify(execFile)(process.execPath, [`${root}test/faults/run.mjs`, '--smoke']);
      expect(stdout).toMatch(/^ok {7}.*kill -9, 10 times/m);
      expect(stdout).toMatch(/^ok {7}etcd: three members, whoever leads is hurt, 2000 writes/m);
      expect(stdout).toMatch(/\n\d+ passed, 0 failed\n$/);
    },
  );

  it('refuses wrong arguments with exit code 2', async () => {
    const error = await promisify(execFile)(process.execPath, [`${root}test/faults/run.mjs`, '--kills', '0']).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 2 });
  });
});
