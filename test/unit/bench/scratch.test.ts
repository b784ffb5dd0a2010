import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../../../bench/harness/scratch.mjs', import.meta.url);

/** A process with a folder of which it says the name; it waits then, or goes on to its end. */
function start(rest: string) {
  const script = `
    import { exitOnSignals, scratchFolder } from ${JSON.stringify(MODULE.href)};
    exitOnSignals();
    const { folder, remove } = await scratchFolder();
    console.log(folder);
    ${rest}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('.', MODULE)),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return {
    child,
    ended: once(child, 'exit'),
    folder: once(child.stdout, 'data').then(([text]) => String(text).trim()),
  };
}

describe('the folder of a benchmark', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('is gone after %s, and the exit code says why', async (signal, code) => {
    const { child, ended, folder } = start('setInterval(() => {}, 1000);');
    const name = await folder;
    expect(existsSync(name)).toBe(true);
    child.kill(signal);
    expect(await ended).toEqual([code, null]);
    expect(existsSync(name)).toBe(false);
  });

  it.each([
    ['an error', 'throw new Error("expected: of the test");', 1],
    ['its own end', 'remove(); remove();', 0],
  ])('is gone after %s', async (_name, rest, code) => {
    const { ended, folder } = start(rest);
    const name = await folder;
    expect(await ended).toEqual([code, null]);
    expect(existsSync(name)).toBe(false);
  });
});
