import { constants } from 'node:os';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { OutputError, systemReason } from '../../../src/cli/errors.ts';
import { createNodeOutput, OutputState } from '../../../src/cli/output.ts';

function systemError(code: keyof typeof constants.errno): Error {
  return Object.assign(new Error(`${code}: words of Node, write`), { code, errno: -constants.errno[code] });
}

/** An output on a sink that refuses every write, and how often it was asked. */
function broken(error: Error, isEssential: boolean) {
  const seen: string[] = [];
  const sink = (text: string): never => {
    seen.push(text);
    throw error;
  };
  return { seen, output: new OutputState({ name: 'standard output', sink, isEssential }) };
}

describe('OutputState', () => {
  it('hands texts on and waits for the sink', async () => {
    const seen: string[] = [];
    let release = (): void => {};
    const sink = (text: string): Promise<void> => {
      seen.push(text);
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const output = new OutputState({ name: 'standard output', sink, isEssential: true });
    let isDone = false;
    const writing = output.write('a').then(() => {
      isDone = true;
    });
    await Promise.resolve();
    expect([seen, isDone, output.isClosed]).toEqual([['a'], false, false]);
    release();
    await writing;
    expect([isDone, output.isClosed]).toEqual([true, false]);
  });

  it.each([
    ['ENOSPC', 'no space left on device'],
    ['EFBIG', 'file too large'],
    ['EIO', 'i/o error'],
  ] as const)('rejects at %s, at every write, and asks the system once', async (code, reason) => {
    const { seen, output } = broken(systemError(code), true);
    for (const text of ['a', 'b']) {
      await expect(output.write(text)).rejects.toThrow(new OutputError('standard output', systemError(code)).message);
    }
    await expect(output.write('c')).rejects.toThrow(`Cannot write to standard output: ${reason}`);
    expect([seen, output.isClosed]).toEqual([['a'], true]);
  });

  it.each(['EPIPE', 'ECONNRESET'] as const)('is quiet when the reader went away (%s)', async (code) => {
    const { seen, output } = broken(systemError(code), true);
    await output.write('a');
    await output.write('b');
    expect([seen, output.isClosed]).toEqual([['a'], true]);
  });

  it('is quiet when nothing depends on it', async () => {
    const { seen, output } = broken(systemError('ENOSPC'), false);
    await output.write('a');
    await output.write('b');
    expect([seen, output.isClosed]).toEqual([['a'], true]);
  });

  it('keeps the first failure, wherever it was told', async () => {
    const { seen, output } = broken(systemError('EIO'), true);
    output.fail(systemError('ENOSPC'));
    await expect(output.write('a')).rejects.toThrow('no space left on device');
    expect(seen).toEqual([]);
  });
});

describe('createNodeOutput', () => {
  /** A stream that is no file, as a pipe or a terminal is not. */
  function streamOf(write: (text: string) => Error | null) {
    const stream = new Writable({ write: (chunk, _encoding, done) => done(write(String(chunk))) });
    return Object.assign(stream, { fd: -1 }) as unknown as NodeJS.WriteStream & { readonly fd: number };
  }

  it('writes by way of the stream, in order', async () => {
    let out = '';
    const stream = streamOf((text) => {
      out += text;
      return null;
    });
    const output = createNodeOutput(stream, { name: 'standard output', isEssential: true });
    await output.write('one ');
    await output.write('two');
    expect([out, output.isClosed, output.isTerminal, output.columns]).toEqual(['one two', false, false, 80]);
  });

  it('fails the very write that the stream refuses, not only the next', async () => {
    const output = createNodeOutput(
      streamOf(() => systemError('EIO')),
      { name: 'standard output', isEssential: true },
    );
    await expect(output.write('a')).rejects.toThrow('Cannot write to standard output: i/o error');
    await expect(output.write('b')).rejects.toThrow(OutputError);
  });

  it('does so before the stream has emitted anything', async () => {
    const write = (_text: string, done: (error: Error) => void): void => done(systemError('ENOSPC'));
    const silent = { fd: -1, on: () => {}, write } as unknown as NodeJS.WriteStream & { readonly fd: number };
    const output = createNodeOutput(silent, { name: 'standard output', isEssential: true });
    await expect(output.write('a')).rejects.toThrow('Cannot write to standard output: no space left on device');
  });

  it('hears of a reader that leaves between writes', async () => {
    const stream = streamOf(() => null);
    const output = createNodeOutput(stream, { name: 'standard output', isEssential: true });
    stream.emit('error', systemError('EPIPE'));
    expect(output.isClosed).toBe(true);
    await output.write('a');
  });
});

describe('systemReason', () => {
  it('says it in words of ours, of the system, or of the error', () => {
    expect(systemReason(systemError('ENOENT'))).toBe('there is no such file');
    expect(systemReason(systemError('EMFILE'))).toBe('too many open files');
    expect(systemReason(new Error('broken'))).toBe('broken');
  });
});
