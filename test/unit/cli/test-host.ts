import { constants } from 'node:os';
import { DataError } from '../../../src/cli/errors.ts';
import { escapeName } from '../../../src/cli/escape.ts';
import type { CliHost, Input } from '../../../src/cli/host.ts';
import { OutputState, type TextOutput } from '../../../src/cli/output.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';

/** An input as a test writes it: its chunks, each delivered `afterMs` after the one before. */
export interface TestInput {
  readonly chunks: readonly (string | Uint8Array)[];
  readonly afterMs?: number;
  /** Slow, but never silent. */
  readonly isFile?: boolean;
  /** Never ends, as a live watch does. */
  readonly isOpen?: boolean;
}

export interface TestHost extends CliHost {
  readonly clock: VirtualClock;
  readonly out: () => string;
  readonly err: () => string;
  readonly interrupt: (reason: unknown) => void;
  /** Moves the clock on until the promise is settled; `maxMs` of virtual time at most. */
  readonly settle: <T>(promise: Promise<T>, maxMs?: number) => Promise<T>;
}

/** An output that takes so many writes and no more. */
export interface Breakage {
  readonly after: number;
  /** What the system says. */
  readonly error: { readonly code: string; readonly errno: number };
}

export const NO_READER = { code: 'EPIPE', errno: -constants.errno.EPIPE };
export const DISK_FULL = { code: 'ENOSPC', errno: -constants.errno.ENOSPC };

export interface TestHostOptions {
  /** By path; `-` is standard input. */
  readonly inputs?: Readonly<Record<string, TestInput | string | Uint8Array>>;
  readonly isTerminal?: boolean;
  readonly stdoutBreaks?: Breakage;
  readonly stderrBreaks?: Breakage;
}

const encoder = new TextEncoder();

export function createTestHost(options: TestHostOptions = {}): TestHost {
  const clock = createVirtualClock();
  const stdout = createOutput(false, true, options.stdoutBreaks);
  const stderr = createOutput(options.isTerminal === true, false, options.stderrBreaks);
  const interrupt = new AbortController();
  return {
    clock,
    stdout,
    stderr,
    out: () => stdout.text,
    err: () => stderr.text,
    interrupt: (reason) => interrupt.abort(reason),
    interrupted: () => interrupt.signal,
    openInput: (path) => createInput(clock, path === '-' ? 'standard input' : escapeName(path), options.inputs?.[path]),
    settle: (promise, maxMs = 600_000) => settle(clock, promise, maxMs),
  };
}

async function settle<T>(clock: VirtualClock, promise: Promise<T>, maxMs: number): Promise<T> {
  let isSettled = false;
  const end = (): void => {
    isSettled = true;
  };
  promise.then(end, end);
  const until = clock.now() + maxMs;
  while (!isSettled && clock.now() < until) {
    await clock.settle();
    // Without a timer, only what is not on this clock could move things on.
    if (!isSettled && !(await clock.advanceToNext())) await clock.advance(1);
  }
  if (!isSettled) throw new Error(`Cannot settle the promise: nothing came of it in ${maxMs} ms`);
  return promise;
}

interface CollectedOutput extends TextOutput {
  readonly text: string;
}

/** The outputs of the real host, on a sink that may break. */
function createOutput(isTerminal: boolean, isEssential: boolean, breakage?: Breakage): CollectedOutput {
  let text = '';
  let writes = 0;
  const sink = (piece: string): void => {
    if (breakage !== undefined && writes++ >= breakage.after) throw Object.assign(new Error('broken'), breakage.error);
    text += piece;
  };
  const state = new OutputState({ name: isEssential ? 'standard output' : 'standard error', sink, isEssential });
  return {
    get text() {
      return text;
    },
    isTerminal,
    columns: 80,
    get isClosed() {
      return state.isClosed;
    },
    write: (piece) => state.write(piece),
  };
}

function createInput(clock: VirtualClock, name: string, input: TestInput | string | Uint8Array | undefined): Input {
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const read = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    if (input === undefined) throw new DataError(`read ${name}`, 'there is no such file');
    const {
      chunks,
      afterMs = 0,
      isOpen = false,
    } = typeof input === 'object' && 'chunks' in input ? input : { chunks: [input] };
    for (const chunk of chunks) {
      if (afterMs > 0) await new Promise<void>((resolve) => void clock.after(afterMs, resolve));
      yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
    }
    if (isOpen) await closed;
  };
  const isLive = !(typeof input === 'object' && 'chunks' in input && input.isFile === true);
  return { name, chunks: read(), isLive, close: () => close() };
}
