import type { KubernetesFetch } from '../../src/kubernetes/fetch-transport.ts';

/**
 * An API server of one kind whose every answer the test gives, over a `fetch` in memory: for the cases in which the order of single lines and
 * bytes is the point. Requests wait until they are answered.
 */
export interface ScriptedRequest {
  readonly url: URL;
  readonly isWatch: boolean;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  /** Answers as JSON, with a status. */
  answer(body: unknown, status?: number, headers?: Record<string, string>): void;
  /** Answers with a list. */
  list(resourceVersion: string, items: readonly unknown[], more?: Record<string, unknown>): void;
  refuse(
    status: number,
    reason: string,
    more?: { retryAfter?: string; continue?: string; causes?: readonly string[] },
  ): void;
  /** No answer: the connection fails. */
  fail(error?: Error): void;
  /** Accepts a watch. */
  open(): ScriptedStream;
}

export interface ScriptedStream {
  /** The client has gone. */
  readonly isCanceled: boolean;
  /** Pieces that were written and not read yet. */
  readonly waiting: number;
  send(type: string, object: unknown): void;
  bookmark(resourceVersion: string, isEnd?: boolean): void;
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  /** The server ends it in order, behind what it has written. */
  end(): void;
  /** The connection breaks. */
  reset(): void;
}

export class ScriptedApi {
  /** All requests, in their order. */
  readonly requests: ScriptedRequest[] = [];
  /** Requests that the server has not answered and the client not given up. */
  unanswered = 0;
  /** Streams that are neither ended nor given up. */
  openStreams = 0;
  /** The most of them at one time. */
  openStreamsMax = 0;

  readonly fetch: KubernetesFetch = (text, { headers, signal }) =>
    new Promise((resolve, reject) => {
      if (signal === undefined || signal === null) throw new TypeError('A request without a signal');
      const url = new URL(text);
      const query = Object.fromEntries(url.searchParams);
      this.unanswered++;
      const onAbort = () => {
        this.unanswered--;
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const answered = (response: Response) => {
        signal.removeEventListener('abort', onAbort);
        this.unanswered--;
        resolve(response);
      };
      const answer: ScriptedRequest['answer'] = (body, status = 200, more = {}) =>
        answered(new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers: more }));
      this.requests.push({
        url,
        isWatch: query.watch === 'true',
        query,
        headers: new Headers(headers),
        signal,
        answer,
        list: (resourceVersion, items, more = {}) =>
          answer({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion, ...more }, items }),
        refuse: (status, reason, { retryAfter, continue: token, causes = [] } = {}) =>
          answer(
            {
              kind: 'Status',
              apiVersion: 'v1',
              metadata: token === undefined ? {} : { continue: token },
              status: 'Failure',
              message: `refused: ${reason}`,
              reason,
              details: { causes: causes.map((cause) => ({ reason: cause, message: cause })) },
              code: status,
            },
            status,
            retryAfter === undefined ? {} : { 'retry-after': retryAfter },
          ),
        fail: (error = new TypeError('fetch failed')) => {
          signal.removeEventListener('abort', onAbort);
          this.unanswered--;
          reject(error);
        },
        open: () => this.#open(signal, answered),
      });
    });

  /** The newest request; throws if it has another form. */
  get last(): ScriptedRequest {
    const last = this.requests.at(-1);
    if (last === undefined) throw new Error('No request has come');
    return last;
  }

  get lastWatch(): ScriptedRequest {
    if (!this.last.isWatch) throw new Error(`The newest request is no watch: ${this.last.url}`);
    return this.last;
  }

  get lastList(): ScriptedRequest {
    if (this.last.isWatch) throw new Error(`The newest request is no list: ${this.last.url}`);
    return this.last;
  }

  get watches(): readonly ScriptedRequest[] {
    return this.requests.filter(({ isWatch }) => isWatch);
  }

  get lists(): readonly ScriptedRequest[] {
    return this.requests.filter(({ isWatch }) => !isWatch);
  }

  #open(signal: AbortSignal, answered: (response: Response) => void): ScriptedStream {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    let isOver = false;
    let isEnded = false;
    let isCanceled = false;
    let written = 0;
    let read = 0;
    const pieces: Uint8Array[] = [];
    let wake: (() => void) | undefined;
    const over = () => {
      if (isOver) return false;
      isOver = true;
      this.openStreams--;
      wake?.();
      return true;
    };
    const body = new ReadableStream<Uint8Array>(
      {
        start: (given) => {
          controller = given;
        },
        pull: async (given) => {
          while (pieces.length === 0 && !isOver && !isEnded) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          const piece = pieces.shift();
          if (piece !== undefined) {
            read++;
            given.enqueue(piece);
          } else if (over()) given.close();
        },
        cancel: () => {
          isCanceled = true;
          over();
        },
      },
      // As a socket: nothing is read ahead of who reads.
      { highWaterMark: 0 },
    );
    signal.addEventListener('abort', () => {
      if (!over()) return;
      isCanceled = true;
      controller?.error(signal.reason);
    });
    this.openStreams++;
    this.openStreamsMax = Math.max(this.openStreamsMax, this.openStreams);
    answered(new Response(body, { status: 200 }));
    const bytes = (piece: Uint8Array) => {
      written++;
      pieces.push(piece);
      wake?.();
    };
    const text = (one: string) => bytes(new TextEncoder().encode(one));
    const send = (type: string, object: unknown) => text(`${JSON.stringify({ type, object })}\n`);
    return {
      get isCanceled() {
        return isCanceled;
      },
      get waiting() {
        return written - read;
      },
      send,
      bookmark: (resourceVersion, isEnd = false) =>
        send('BOOKMARK', {
          metadata: {
            resourceVersion,
            ...(isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
          },
        }),
      text,
      bytes,
      end: () => {
        isEnded = true;
        wake?.();
      },
      reset: () => {
        if (over()) controller?.error(new Error('ECONNRESET'));
      },
    };
  }
}

export const PODS = { version: 'v1', resource: 'pods', namespace: 'ns' } as const;

export interface Pod {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string; readonly resourceVersion: string };
}

export function pod(name: string, uid: string, version: number | string, more: Record<string, unknown> = {}): Pod {
  return { metadata: { namespace: 'ns', name, uid, resourceVersion: String(version), ...more } };
}
