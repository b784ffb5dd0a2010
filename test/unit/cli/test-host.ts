import { DataError } from '../../../src/cli/errors.ts';
import type { CliHost, Input, TextOutput } from '../../../src/cli/host.ts';
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

export interface TestHostOptions {
  /** By path; `-` is standard input. */
  readonly inputs?: Readonly<Record<string, TestInput | string | Uint8Array>>;
  readonly isTerminal?: boolean;
  /** Standard output is gone after so many writes. */
  readonly closedAfter?: number;
}

const encoder = new TextEncoder();

export function createTestHost(options: TestHostOptions = {}): TestHost {
  const clock = createVirtualClock();
  const stdout = createOutput(false, options.closedAfter);
  const stderr = createOutput(options.isTerminal === true);
  const interrupt = new AbortController();
  return {
    clock,
    stdout,
    stderr,
    out: () => stdout.text,
    err: () => stderr.text,
    interrupt: (reason) => interrupt.abort(reason),
    interrupted: () => interrupt.signal,
    openInput: (path) => createInput(clock, path === '-' ? 'standard input' : path, options.inputs?.[path]),
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

function createOutput(isTerminal: boolean, closedAfter = Number.POSITIVE_INFINITY): TextOutput & { text: string } {
  let writes = 0;
  return {
    text: '',
    isTerminal,
    columns: 80,
    get isClosed() {
      return writes >= closedAfter;
    },
    async write(text) {
      if (writes++ < closedAfter) this.text += text;
    },
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
