import { createReadStream, fstatSync, type Stats, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { systemClock } from '../system/system-clock.ts';
import type { Clock } from '../types/clock.ts';
import { DataError, systemReason } from './errors.ts';
import { escapeName } from './escape.ts';
import { createNodeOutput, type TextOutput } from './output.ts';

/** Everything a command may touch of the process it runs in. Tests pass one of their own. */
export interface CliHost {
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  readonly clock: Clock;
  /** Opens a file, or standard input for `-`. What goes wrong shows when it is read, as a `DataError`. */
  openInput(path: string): Input;
  /** Aborts on Ctrl-C and on a request to end; the reason is an {@link Interrupt}. Only who asks keeps it from ending the process. */
  interrupted(): AbortSignal;
}

export interface Input {
  /** For messages: the path, escaped to stand on a line, or "standard input". */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Somebody may still be writing to it: a pipe or a terminal, not a file, which may be slow but never silent. */
  readonly isLive: boolean;
  /** Ends a read that waits. */
  close(): void;
}

/** The user asked the command to end. */
export class Interrupt extends Error {
  override readonly name: string = 'Interrupt';
  /** 128 plus the number of the signal, as shells have it. */
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('Cannot go on: interrupted');
    this.exitCode = exitCode;
  }
}

export function createNodeHost(): CliHost {
  return {
    stdout: createNodeOutput(process.stdout, { name: 'standard output', isEssential: true }),
    stderr: createNodeOutput(process.stderr, { name: 'standard error', isEssential: false }),
    clock: systemClock,
    openInput: (path) =>
      path === '-'
        ? createInput(process.stdin, 'standard input', !isFile(() => fstatSync(0)))
        : createInput(createReadStream(path), escapeName(path), !isFile(() => statSync(path))),
    interrupted: listenForSignals,
  };
}

function listenForSignals(): AbortSignal {
  const abort = new AbortController();
  // Once: a second Ctrl-C ends the process at once, in case closing hangs.
  process.once('SIGINT', () => abort.abort(new Interrupt(130)));
  process.once('SIGTERM', () => abort.abort(new Interrupt(143)));
  return abort.signal;
}

/** What cannot be looked at cannot be read either, and the reader says why. */
function isFile(look: () => Stats): boolean {
  try {
    return look().isFile();
  } catch {
    return false;
  }
}

function createInput(stream: Readable, name: string, isLive: boolean): Input {
  return { name, chunks: readStream(stream, name), isLive, close: () => stream.destroy() };
}

async function* readStream(stream: Readable, name: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    throw new DataError(`read ${name}`, systemReason(error), { cause: error });
  }
}
