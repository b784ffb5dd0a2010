import { getSystemErrorMap } from 'node:util';
import { JsonSyntaxError, PlimsollError } from '../types/errors.ts';

/**
 * The three ways a command fails that are not bugs. Everything else that is thrown is one, and shows with its stack.
 *
 * | class | exit code | what |
 * |---|---|---|
 * | UsageError | 2 | the command line cannot be: shown with a hint to `--help` |
 * | DataError | 1 | the input, or what was found in it, is at fault |
 * | OutputError | 1 | what was found cannot be written down |
 */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
  /** Whose `--help` to point to; `undefined` for that of `plimsoll` itself. */
  readonly command: string | undefined;

  constructor(message: string, command?: string) {
    super(message);
    this.command = command;
  }
}

/** Where something is in a text, after unpacking: lines count from 1, bytes from 0. */
export interface Place {
  readonly line: number;
  readonly offset: number;
}

export class DataError extends Error {
  override readonly name: string = 'DataError';
  readonly place: Place | undefined;

  constructor(action: string, reason: string, options: ErrorOptions & { readonly place?: Place } = {}) {
    const { place } = options;
    super(
      `Cannot ${action}: ${place === undefined ? '' : `line ${place.line}, byte ${place.offset}: `}${reason}`,
      options,
    );
    this.place = place;
  }
}

/** Standard output does not take what has to be on it. */
export class OutputError extends Error {
  override readonly name: string = 'OutputError';

  constructor(output: string, cause: unknown) {
    super(`Cannot write to ${output}: ${systemReason(cause)}`, { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

/** Why the system refused, in words: Node's own messages repeat the path and name the system call. */
export function systemReason(error: unknown): string {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  const system = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return REASONS[code ?? ''] ?? system ?? message ?? String(error);
}

/** The place of a byte inside a text whose own place is known. */
export function placeInside(start: Place, bytes: Uint8Array, offset: number): Place {
  let { line } = start;
  const end = Math.min(offset, bytes.length);
  for (let index = 0; index < end; index++) if (bytes[index] === 0x0a) line++;
  return { line, offset: start.offset + offset };
}

/** What a hasher said about a text, with the place of the fault; what is no fault of the text stays as it is. */
export function textFault(error: unknown, action: string, text: Place & { readonly bytes: Uint8Array }): unknown {
  if (error instanceof JsonSyntaxError) {
    const place = placeInside(text, text.bytes, error.offset);
    return new DataError(action, error.reason, { place, cause: error });
  }
  if (error instanceof PlimsollError) return new DataError(action, error.message, { place: text, cause: error });
  return error;
}
