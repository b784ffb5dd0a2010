import { failure } from '../server/kubernetes/api-status.ts';
import type { RequestInfo } from '../server/kubernetes/request-info.ts';

export interface ApiWatchBodyOptions {
  readonly info: RequestInfo;
  /** One line a chunk. */
  readonly lines: ReadableStream<Uint8Array>;
  /** Resolves when nothing stalls this watch; `undefined` if nothing does. */
  readonly stalled: () => Promise<unknown> | undefined;
  /** Whether the next event comes twice; counts it. */
  readonly isDoubled: () => boolean;
  readonly onEnd: (watch: ApiWatchBody) => void;
}

/**
 * The body of a watch on its way to a client, where faults get at it. It reads a line when the client asks for one, and no
 * more, so that back-pressure passes through. When the lines end while nobody reads, so does this.
 */
export class ApiWatchBody {
  readonly info: RequestInfo;
  readonly stream: ReadableStream<Uint8Array>;
  readonly #options: ApiWatchBodyOptions;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isEnded = false;
  #isPulling = false;
  /** The lines have ended or failed: there is nothing to let go of. */
  #isOver = false;
  #cut: { readonly isBroken: boolean } | undefined;

  constructor(options: ApiWatchBodyOptions) {
    this.info = options.info;
    this.#options = options;
    this.#reader = options.lines.getReader();
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: (controller) => this.#pull(controller),
        cancel: (reason) => this.#stop(reason),
      },
      { highWaterMark: 0 },
    );
    this.#reader.closed.then(
      () => this.#over((controller) => controller.close()),
      (error: unknown) => this.#over((controller) => controller.error(error)),
    );
  }

  end(): void {
    this.#finish((controller) => controller.close());
  }

  break(): void {
    this.#finish((controller) => controller.error(connectionReset()));
  }

  expire(): void {
    const object = failure(410, 'too old resource version: a fault of the test');
    const line = new TextEncoder().encode(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    this.#finish((controller) => {
      controller.enqueue(line);
      controller.close();
    });
  }

  truncate(isBroken: boolean): void {
    this.#cut = { isBroken };
  }

  inject(line: string): void {
    if (!this.#isEnded) this.#controller?.enqueue(new TextEncoder().encode(`${line}\n`));
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#isPulling = true;
    try {
      const { value: line, done } = await this.#read();
      await this.#whileStalled();
      if (this.#isEnded) return;
      if (done) return this.end();
      if (this.#cut !== undefined) return this.#sendHalf(line, this.#cut.isBroken);
      controller.enqueue(line);
      if (this.#options.isDoubled()) controller.enqueue(line.slice());
    } catch (error) {
      this.#finish((open) => open.error(error));
    } finally {
      this.#isPulling = false;
    }
  }

  /** The lines are over: who reads them hears of it himself. */
  async #over(finish: (controller: ReadableStreamDefaultController<Uint8Array>) => void): Promise<void> {
    this.#isOver = true;
    await this.#whileStalled();
    if (!this.#isPulling) this.#finish(finish);
  }

  async #whileStalled(): Promise<void> {
    for (let wait = this.#options.stalled(); wait !== undefined; wait = this.#options.stalled()) {
      await wait;
    }
  }

  async #read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    try {
      const next = await this.#reader.read();
      this.#isOver = next.done;
      return next;
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }

  #sendHalf(line: Uint8Array, isBroken: boolean): void {
    this.#controller?.enqueue(line.slice(0, Math.ceil(line.length / 2)));
    if (isBroken) this.break();
    else this.end();
  }

  #finish(how: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void {
    if (this.#isEnded || this.#controller === undefined) return;
    how(this.#controller);
    void this.#stop(undefined);
  }

  async #stop(reason: unknown): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#options.onEnd(this);
    if (!this.#isOver) await this.#reader.cancel(reason);
  }
}

/** What `fetch` of any runtime rejects with when a connection breaks: a TypeError. */
export function connectionReset(): TypeError {
  const cause = Object.assign(new Error('the connection was reset: a fault of the test'), { code: 'ECONNRESET' });
  return new TypeError('fetch failed', { cause });
}
