import { member } from './api-status.ts';
import { TransportError } from './errors.ts';
import { JsonLines } from './json-lines.ts';
import type { BodyContext, ResponseBody } from './response-body.ts';
import type { WatchLine, WatchStream } from './transport.ts';

/**
 * The lines of a watch, as its body brings them: one piece of the body, one group. A class and no generator, whose `return()` would wait
 * for a `next()` that waits for the server.
 */
export class LineStream implements WatchStream {
  readonly #body: ResponseBody;
  readonly #action: string;
  readonly #lines: JsonLines;
  readonly #end: () => void;
  #isOver = false;
  /** Came behind lines that were right: they go first. */
  #error: unknown;

  /** `end` ends the connection. */
  constructor(body: ResponseBody, { action, lineBytesMax, end }: BodyContext & LineStreamOptions) {
    this.#body = body;
    this.#action = action;
    this.#lines = new JsonLines(action, lineBytesMax);
    this.#end = end;
  }

  [Symbol.asyncIterator](): WatchStream {
    return this;
  }

  async next(): Promise<IteratorResult<readonly WatchLine[], undefined>> {
    if (this.#isOver) return { done: true, value: undefined };
    try {
      if (this.#error !== undefined) throw this.#error;
      const piece = await this.#body.next();
      if (piece !== undefined) return { done: false, value: this.#group(piece) };
      const { rest } = this.#lines;
      if (rest > 0 && !this.#isOver) {
        throw new TransportError(
          this.#action,
          'truncated',
          `it ended in the middle of a line, after ${rest} bytes of it`,
        );
      }
    } catch (error) {
      // Whoever has ended it meanwhile knows why.
      if (this.#isOver) return { done: true, value: undefined };
      await this.return();
      throw error;
    }
    return this.return();
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#isOver = true;
    // The body first: of one that is aborted, some platforms say so to nobody but their console.
    const canceled = this.#body.cancel();
    this.#end();
    await canceled;
    return { done: true, value: undefined };
  }

  #group(piece: Uint8Array): readonly WatchLine[] {
    const group: WatchLine[] = [];
    try {
      this.#lines.add(piece, (value) => group.push(this.#lineOf(value)));
    } catch (error) {
      if (group.length === 0) throw error;
      this.#error = error;
    }
    return group;
  }

  #lineOf(value: unknown): WatchLine {
    const type = member(value, 'type');
    if (typeof type === 'string') return { type, object: member(value, 'object') };
    throw new TransportError(this.#action, 'malformed', 'a line is no event: it has no type');
  }
}

export interface LineStreamOptions {
  readonly lineBytesMax: number;
  readonly end: () => void;
}
