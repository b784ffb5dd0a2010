import { describe, expect, it } from 'vitest';
import { outputOf } from '../../../tools/child-output.mjs';

const root = process.cwd();

describe('outputOf', () => {
  it('tells what a program said, and its exit code or signal', async () => {
    expect(await outputOf('sh', ['-c', 'echo out; echo err >&2; exit 3'], { cwd: root })).toMatchObject({ end: 3 });
    const { output } = await outputOf('sh', ['-c', 'echo "$WORD"'], { cwd: root, env: { WORD: 'hello' } });
    expect(output).toBe('hello\n');
    expect((await outputOf('sh', ['-c', 'kill -TERM $$'], { cwd: root })).end).toBe('SIGTERM');
  });

  it('of a program that is not there says so', async () => {
    expect((await outputOf('no-such-program', [], { cwd: root })).end).toMatch('Cannot run no-such-program');
  });

  it('ends a program that takes too long, with what it has started', async () => {
    const { end } = await outputOf('sh', ['-c', 'sleep 600 & wait'], { cwd: root, msMax: 50 });
    expect(end).toBe('SIGKILL');
  });
});
