import { raceAborted } from '../types/until-aborted.ts';
import { TransportError } from './errors.ts';
import { joined } from './json-lines.ts';

export interface BodyContext {
  readonly action: string;
  /** Of the request: its abort ends the body. */
  readonly signal: AbortSignal;
}

/**
 * The body of an answer, piece by piece, each when it is asked for: what nobody asks for stays with the platform, which then stops
 * reading the connection (IN5).
 */
export class ResponseBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #context: BodyContext;

  constructor(response: Response, context: BodyContext) {
    this.#reader = response.body?.getReader();
    this.#context = context;
  }

  /**
   * The next piece; `undefined` at the end.
   *
   * @throws as a rejection: TransportError `cut`, the signal's reason
   */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined) return undefined;
    const { action, signal } = this.#context;
    try {
      const { value, done } = await raceAborted(this.#reader.read(), [signal]);
      return done ? undefined : value;
    } catch (cause) {
      signal.throwIfAborted();
      throw new TransportError(action, 'cut', 'the connection broke in the middle of the answer', cause);
    }
  }

  /** All that is left. Throws the same, and `too-large`. */
  async rest(bytesMax: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for (let part = await this.next(); part !== undefined; part = await this.next()) {
      size += part.length;
      if (size > bytesMax) {
        throw new TransportError(this.#context.action, 'too-large', `the answer is larger than ${bytesMax} bytes`);
      }
      parts.push(part);
    }
    return new TextDecoder().decode(joined(parts, size));
  }

  /** Nobody reads what is left. How that ends, nobody needs to know. */
  async cancel(): Promise<void> {
    if (this.#reader !== undefined) await Promise.allSettled([this.#reader.cancel()]);
  }
}
