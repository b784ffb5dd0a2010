import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findRuntime, RUNTIMES } from '../../../bench/harness/runtimes.mjs';

describe('the runtimes of the benchmarks', () => {
  it('begin with the one that runs the command', () => {
    expect(RUNTIMES).toEqual(['node', 'node24', 'deno', 'bun']);
  });

  it('give this very Node, which hands out its garbage collector', async () => {
    const { command, args } = await findRuntime('node', '/nowhere');
    expect(command).toBe(process.execPath);
    const { stdout } = await promisify(execFile)(command, [...args, '-p', 'typeof gc']);
    expect(stdout).toBe('function\n');
  });
});
