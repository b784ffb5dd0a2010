import { expect } from 'vitest';
import { isEndMark } from '../../src/kubernetes/initial-events.ts';
import type { KubernetesTransport, WatchLine, WatchStream } from '../../src/kubernetes/transport.ts';
import type { ApiFault } from '../../src/testing/api-faults.ts';
import type { TestApiServer } from '../../src/testing/test-api-server.ts';
import type { Random } from '../../src/types/random.ts';

/** What a test API server gives, as far as it is looked at here. */
export interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

const PATH = '/api/v1/namespaces/ns/configmaps';
const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;
const HARMS = [
  ...['fail', 'fail', 'unauthorized', 'expire', 'reset', 'delay', 'hang', 'stale', 'stall', 'duplicate'],
  ...['end', 'break', 'expireOpen', 'truncate', 'truncateBroken', 'garbage', 'heal'],
] as const;

/** Changes objects at random, in and out of the selector, and does to the server what can be done to it. */
export class LoopWorld {
  readonly #server: TestApiServer;
  readonly #random: Random;
  readonly #objects = new Map<string, Thing>();
  readonly #lasting: ApiFault[] = [];
  readonly met: Record<string, number> = {};

  constructor(server: TestApiServer, random: Random) {
    this.#server = server;
    this.#random = random;
  }

  /** One of 0 to max. */
  upTo(max: number): number {
    return Math.floor(this.#random() * (max + 1));
  }

  /** One write; the faults are for lists and watches. */
  async change(): Promise<void> {
    const name = NAMES[this.upTo(NAMES.length - 1)] as string;
    const luck = this.#random();
    const labels = { app: this.#random() < 0.75 ? 'web' : 'other', turn: String(this.upTo(1_000_000)) };
    if (!this.#objects.has(name)) await this.#write(name, 'POST', PATH, { metadata: { name, labels } });
    else if (luck < 0.3) {
      await this.#server.call('DELETE', `${PATH}/${name}`);
      this.#objects.delete(name);
    } else await this.#write(name, 'PATCH', `${PATH}/${name}`, { metadata: { labels } });
  }

  /** What matches the selector, by key. */
  get truth(): ReadonlyMap<string, Thing> {
    const matching = [...this.#objects.values()].filter(({ metadata }) => metadata.labels?.app === 'web');
    return new Map(matching.map((one) => [`ns/${one.metadata.name}`, one]));
  }

  harm(): void {
    const { faults } = this.#server;
    const what = HARMS[this.upTo(HARMS.length - 1)] as (typeof HARMS)[number];
    this.met[what] = (this.met[what] ?? 0) + 1;
    const scope = { resource: 'configmaps', verb: ['list', 'watch'] as const };
    const times = 1 + this.upTo(2);
    const code = [403, 404, 429, 500, 503][this.upTo(4)] as number;
    switch (what) {
      case 'fail':
        faults.fail({ ...scope, code, times });
        break;
      case 'unauthorized':
        faults.fail({ ...scope, code: 401, times });
        break;
      case 'expire':
        faults.expire({ ...scope, times });
        break;
      case 'reset':
        faults.reset({ ...scope, times, when: (['before', 'after', 'body'] as const)[this.upTo(2)] ?? 'body' });
        break;
      case 'delay':
        faults.delay({ ...scope, times, delayMs: 1000 * this.upTo(100) });
        break;
      case 'hang':
        this.#lasting.push(faults.hang({ ...scope, times }));
        break;
      case 'stale':
        this.#lasting.push(faults.stale({ ...scope, times }));
        break;
      case 'stall':
        this.#lasting.push(faults.stallWatches(scope));
        break;
      case 'duplicate':
        faults.duplicateEvents({ ...scope, times });
        break;
      case 'end':
        faults.endWatches(scope);
        break;
      case 'break':
        faults.resetWatches(scope);
        break;
      case 'expireOpen':
        faults.expireWatches(scope);
        break;
      case 'truncate':
        faults.truncateWatches(scope);
        break;
      case 'truncateBroken':
        faults.truncateWatches({ ...scope, isBroken: true });
        break;
      case 'garbage':
        faults.injectLine(this.#random() < 0.5 ? '{"type":"ADDED","object":{"metadata":{}}}' : '{"type":', scope);
        break;
      case 'heal':
        this.heal();
        break;
    }
  }

  heal(): void {
    for (const fault of this.#lasting.splice(0)) fault.remove();
    this.#server.faults.heal();
  }

  async #write(name: string, method: string, path: string, body: object): Promise<void> {
    const answer = await this.#server.call<Thing>(method, path, body);
    expect([200, 201]).toContain(answer.status);
    this.#objects.set(name, answer.body);
  }
}

/** A connection that loses events, without a word: only a list can tell. */
export function losing(transport: KubernetesTransport, loses: () => boolean): KubernetesTransport {
  return {
    list: (request, options) => transport.list(request, options),
    watch: async (request, options) => {
      const stream = await transport.watch(request, options);
      // A list that is streamed is whole, as one in pages is.
      let isListed = request.sendInitialEvents !== true;
      const isKept = ({ type, object }: WatchLine) => {
        if (type === 'BOOKMARK') isListed ||= isEndMark(object);
        return !isListed || type === 'BOOKMARK' || type === 'ERROR' || !loses();
      };
      const lossy: WatchStream = {
        [Symbol.asyncIterator]: () => lossy,
        async next() {
          const { value, done } = await stream.next();
          return done === true ? { done, value: undefined } : { done: false, value: value.filter(isKept) };
        },
        return: async () => {
          await stream.return?.();
          return { done: true, value: undefined };
        },
      };
      return lossy;
    },
  };
}
