import { fstatSync, writeSync } from 'node:fs';
import { OutputError } from './errors.ts';

/** Where a command writes text to: standard output, or standard error. */
export interface TextOutput {
  /**
   * Resolves once the system has all of the text; at once when the reader is gone, which `isClosed` tells. Rejects with
   * `OutputError` when what has to arrive cannot be written.
   */
  write(text: string): Promise<void>;
  /** Nothing that is written any more is seen by anybody. */
  readonly isClosed: boolean;
  readonly isTerminal: boolean;
  /** Width of the terminal in characters. */
  readonly columns: number;
}

export interface OutputOptions {
  /** For messages. */
  readonly name: string;
  /** Hands all of a text to the system, or rejects with the system's error. */
  readonly sink: (text: string) => void | Promise<void>;
  /** A failure fails the command. Not so for standard error: there is nowhere left to tell it. */
  readonly isEssential: boolean;
}

/**
 * What a write that fails means for the command.
 *
 * | failure | essential (standard output) | not (standard error) |
 * | --- | --- | --- |
 * | the reader went away | closed, quietly: `plimsoll hash ... \| head` is no failure | closed, quietly |
 * | any other: disk full, quota, device | `OutputError`, also at every later write | closed, quietly |
 */
export class OutputState {
  readonly #options: OutputOptions;
  #isClosed = false;
  #failure: OutputError | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async write(text: string): Promise<void> {
    if (!this.#isClosed) {
      try {
        await this.#options.sink(text);
      } catch (error) {
        this.fail(error);
      }
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The first failure counts: those behind it only say that the stream is of no use any more. */
  fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#options.isEssential && !isReaderGone(error)) this.#failure = new OutputError(this.#options.name, error);
  }
}

/** Standard output or standard error of this process. */
export function createNodeOutput(
  stream: NodeJS.WriteStream & { readonly fd: number },
  options: Omit<OutputOptions, 'sink'>,
): TextOutput {
  const isTerminal = stream.isTTY === true;
  const isFile = !isTerminal && isWrittenAtOnce(stream.fd);
  const sink = (text: string): void | Promise<void> => (isFile ? writeFile(stream.fd, text) : send(stream, text));
  const state = new OutputState({ ...options, sink });
  stream.on('error', (error) => state.fail(error));
  return {
    write: (text) => state.write(text),
    get isClosed() {
      return state.isClosed;
    },
    isTerminal,
    get columns() {
      return stream.columns ?? 80;
    },
  };
}

/**
 * Writes a file to the end. Not by way of the stream, which writes once and takes the count that comes back for
 * everything: on a disk that fills up, the part that found room would pass for the whole.
 */
function writeFile(fd: number, text: string): void {
  let rest: Uint8Array = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
}

function send(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // By the callback, not the event: the event comes later, when a command that is done would have ended with 0.
    stream.write(text, (error) => (error == null ? resolve() : reject(error)));
  });
}

/** A file, or a device that is no terminal: what Node, too, writes to at once. */
function isWrittenAtOnce(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFile() || stats.isCharacterDevice();
  } catch {
    // The write will say what is wrong with it.
    return false;
  }
}

/** A pipe, or a socket in its place, whose other end was closed. */
function isReaderGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ECONNRESET';
}
