import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const cli = `${root}dist/cli.js`;

export interface Outcome {
  readonly code: number | null;
  /** What came out on a pipe; nothing for an output that went elsewhere. */
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  /** Keeps standard input open. */
  readonly isOpen?: boolean;
  /** Called with what has come out so far on standard error, at every piece of it. */
  readonly onError?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
  /** Closes these before the command writes to them. */
  readonly deaf?: readonly ('stdout' | 'stderr')[];
  /** A file descriptor in the place of a pipe. */
  readonly stdout?: number;
  readonly stderr?: number;
  /** Largest file that it may write, in blocks of 512 bytes: a disk that fills up. Needs a POSIX shell. */
  readonly fileBlocksMax?: number;
}

/** Runs the built command in a process of its own. */
export function plimsoll(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  if (!existsSync(cli)) throw new Error('Cannot test the command: dist/cli.js is not there, run "npm run build" first');
  const { stdout = 'pipe', stderr = 'pipe', fileBlocksMax } = options;
  const direct = [process.execPath, cli, ...args] as const;
  const limited = ['sh', '-c', `ulimit -f ${fileBlocksMax}; exec "$0" "$@"`, ...direct] as const;
  const [command, ...rest] = fileBlocksMax === undefined ? direct : limited;
  const child = spawn(command, rest, { cwd: root, stdio: ['pipe', stdout, stderr] });
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    err += text;
    options.onError?.(err, (signal) => child.kill(signal));
  });
  for (const name of options.deaf ?? []) child[name]?.destroy();
  // A command that ends early leaves its input unread.
  child.stdin?.on('error', (error: NodeJS.ErrnoException) => expect(error.code).toMatch(/^(?:EPIPE|ECONNRESET)$/));
  if (options.input !== undefined) child.stdin?.write(options.input);
  if (options.isOpen !== true) child.stdin?.end();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      child.stdin?.destroy();
      resolve({ code, out, err });
    });
  });
}
