import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { KubernetesFetch } from '../../src/kubernetes/fetch-transport.ts';
import type { Random } from '../../src/types/random.ts';

/** The recorded stream of the shared data, where that is installed: 20,000 events of real objects, of many kinds. */
const RECORDED = fileURLToPath(new URL('../../../shared/data/watch-stream.ndjson.gz', import.meta.url));

export interface Recorded {
  readonly metadata: { name: string; readonly uid: string; readonly resourceVersion: string };
  readonly kind?: string;
  readonly apiVersion?: string;
}

export interface StreamLine {
  readonly type: string;
  readonly object: Recorded;
  readonly version: bigint;
  readonly bytes: Uint8Array;
}

/** The lines, one resource: the kind goes into the name, since an informer's key has none. Without the data, a stream that is made here. */
export function readStream(random: Random): readonly StreamLine[] {
  const texts = existsSync(RECORDED)
    ? gunzipSync(readFileSync(RECORDED)).toString('utf8').trimEnd().split('\n')
    : made(random);
  const encoder = new TextEncoder();
  return texts.map((text) => {
    const { type, object } = JSON.parse(text) as { type: string; object: Recorded };
    if (type !== 'BOOKMARK') object.metadata.name = `${object.apiVersion}/${object.kind}/${object.metadata.name}`;
    const bytes = encoder.encode(`${JSON.stringify({ type, object })}\n`);
    return { type, object, version: BigInt(object.metadata.resourceVersion), bytes };
  });
}

function made(random: Random): readonly string[] {
  const alive = new Map<string, object>();
  return Array.from({ length: 12_000 }, (_, index) => {
    const name = `ü${Math.floor(random() * 200)}`;
    const resourceVersion = String(1000 + 3 * index);
    const before = alive.get(name) as { readonly metadata: object } | undefined;
    const metadata = { ...(before?.metadata ?? { name, namespace: 'ns', uid: `u${index}` }), resourceVersion };
    const object = { apiVersion: 'v1', kind: 'Pod', metadata, note: '€😀'.repeat(Math.floor(random() * 20)) };
    const type = before === undefined ? 'ADDED' : random() < 0.2 ? 'DELETED' : 'MODIFIED';
    if (type === 'DELETED') alive.delete(name);
    else alive.set(name, object);
    return JSON.stringify({ type, object });
  });
}

/** What is there behind the first `count` lines, by uid. */
export function foldOf(lines: readonly StreamLine[], count: number): ReadonlyMap<string, Recorded> {
  const known = new Map<string, Recorded>();
  for (const { type, object } of lines.slice(0, count)) {
    if (type === 'DELETED') known.delete(object.metadata.uid);
    else if (type !== 'BOOKMARK') known.set(object.metadata.uid, object);
  }
  return known;
}

/** By the number of the watch: plain with half a line, expired, replayed. */
const FIRST_LUCK: readonly (number | undefined)[] = [undefined, 0.5, 0.5, 0, 0.1];

/**
 * A server that replays the stream, and does not do so well: each watch brings some of it, in pieces of any size, and then breaks in the middle of a line,
 * ends, says 410, or sends what it has sent before; lists are in two pages.
 */
export class ReplayServer {
  readonly #lines: readonly StreamLine[];
  readonly #random: Random;
  /** Lines that have happened. */
  #now = 0;
  readonly met = { lists: 0, watches: 0, halfLines: 0, expired: 0, replayed: 0 };

  constructor(lines: readonly StreamLine[], random: Random) {
    this.#lines = lines;
    this.#random = random;
  }

  get isOver(): boolean {
    return this.#now === this.#lines.length;
  }

  readonly fetch: KubernetesFetch = async (text) => {
    const query = new URL(text).searchParams;
    if (query.get('watch') !== 'true') return this.#list(query);
    const from = BigInt(query.get('resourceVersion') ?? '0');
    this.met.watches++;
    // Each kind of trouble is met in every run: the first watches have one of each.
    const luck = FIRST_LUCK[this.met.watches] ?? this.#random();
    if (luck < 0.05) {
      this.met.expired++;
      this.#now = Math.min(this.#lines.length, this.#now + this.#upTo(300));
      return Response.json({ kind: 'Status', reason: 'Expired', code: 410 }, { status: 410 });
    }
    let begin = this.#lines.findIndex(({ version }) => version > from);
    if (begin < 0) begin = this.#lines.length;
    if (luck < 0.3 && begin > 0) {
      this.met.replayed++;
      begin = Math.max(0, begin - this.#upTo(50));
    }
    const end = Math.min(this.#lines.length, begin + 1 + this.#upTo(800));
    this.#now = Math.max(this.#now, end);
    return new Response(this.#body(begin, end, luck < 0.7));
  };

  #list(query: URLSearchParams): Response {
    // A page goes on at the state of the one before it.
    const [at, isSecond] = query.has('continue')
      ? [Number(query.get('continue')), true]
      : [Math.max(1, this.#now), false];
    this.#now = Math.max(this.#now, at);
    this.met.lists++;
    const items = [...foldOf(this.#lines, at).values()];
    const half = Math.ceil(items.length / 2);
    return Response.json({
      metadata: {
        resourceVersion: String(this.#lines[at - 1]?.version),
        ...(isSecond ? {} : { continue: String(at) }),
      },
      items: isSecond ? items.slice(half) : items.slice(0, half),
    });
  }

  #body(begin: number, end: number, isCut: boolean): ReadableStream<Uint8Array> {
    const parts = this.#lines.slice(begin, end).map(({ bytes }) => bytes);
    const next = this.#lines[end];
    if (isCut && next !== undefined) {
      this.met.halfLines++;
      parts.push(next.bytes.subarray(0, 1 + this.#upTo(next.bytes.length - 2)));
    }
    const all = Buffer.concat(parts);
    let at = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (at === all.length) return controller.close();
          const size = 1 + this.#upTo(60_000);
          controller.enqueue(Uint8Array.from(all.subarray(at, at + size)));
          at = Math.min(all.length, at + size);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #upTo(max: number): number {
    return Math.floor(this.#random() * (max + 1));
  }
}
