import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import {
  openTestApiServer,
  type TestApiServer,
  type TestApiServerOptions,
} from '../../../src/testing/test-api-server.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';

export interface Rig {
  readonly server: TestApiServer;
  readonly clock: VirtualClock;
}

export const PODS = '/api/v1/namespaces/ns1/pods';
export const CONFIG_MAPS = '/api/v1/namespaces/ns1/configmaps';

/** A server whose time stands still and whose chance is known, closed behind the test; then no timer may be left. */
export async function withServer(
  test: (rig: Rig) => Promise<void>,
  options: Partial<TestApiServerOptions> = {},
): Promise<void> {
  const clock = createVirtualClock({ wallTimeMs: Date.UTC(2026, 0, 2, 3, 4, 5) });
  const server = await openTestApiServer({ clock, random: createSeededRandom(7), ...options });
  try {
    await test({ server, clock });
  } finally {
    await server.close();
    await clock.settle();
  }
  if (clock.pending > 0) throw new Error(`${clock.pending} timers are left behind the server`);
}

/** An event of a watch, in short. */
export interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string; readonly annotations?: object };
    readonly [member: string]: unknown;
  };
}

/** Reads the body of a watch line by line. */
export class Lines {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  constructor(response: Response) {
    if (response.body === null) throw new Error('the response has no body');
    this.response = response;
    this.#reader = response.body.getReader();
  }

  /** The next line; `undefined` at the end. What is left without a line feed is thrown, as what was cut off. */
  async next(): Promise<WatchLine | undefined> {
    for (;;) {
      const at = this.#text.indexOf('\n');
      if (at >= 0) {
        const line = this.#text.slice(0, at);
        this.#text = this.#text.slice(at + 1);
        return JSON.parse(line) as WatchLine;
      }
      const { value, done } = await this.#reader.read();
      if (done && this.#text !== '') throw new Error(`cut off: ${this.#text}`);
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The next so many, as `ADDED a@2`. */
  async brief(count: number): Promise<readonly string[]> {
    const lines: string[] = [];
    for (let index = 0; index < count; index++) lines.push(briefLine(await this.next()));
    return lines;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

export function briefLine(line: WatchLine | undefined): string {
  if (line === undefined) return 'end';
  const { type, object } = line;
  if (type === 'ERROR') return `ERROR ${object.code} ${object.reason}`;
  return `${type} ${object.metadata.name ?? ''}@${object.metadata.resourceVersion}`;
}

export async function watch(server: TestApiServer, path: string, init: RequestInit = {}): Promise<Lines> {
  const separator = path.includes('?') ? '&' : '?';
  return new Lines(await server.fetch(`${path}${separator}watch=true`, init));
}

export async function createAll(server: TestApiServer, path: string, names: readonly string[]): Promise<void> {
  for (const name of names) await server.call('POST', path, { metadata: { name } });
}
