import type { TokenProvider } from '../../src/kubernetes/bearer-tokens.ts';
import { createFetchTransport } from '../../src/kubernetes/create-fetch-transport.ts';
import { createInformer } from '../../src/kubernetes/create-informer.ts';
import type { InformerDelta } from '../../src/kubernetes/informer-delta.ts';
import type {
  Informer,
  InformerConnection,
  InformerErrorContext,
  InformerListing,
  InformerOptions,
} from '../../src/kubernetes/informer-types.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { PODS, type Pod, ScriptedApi } from './scripted-api.ts';

/** A delta in one word and two versions: `added ns/a 2`, `updated ns/a 2<1`, `deleted ns/a ?<2 deleted`. */
export function brief(delta: InformerDelta<Pod>): string {
  const version = (object: Pod | undefined) => (object === undefined ? '?' : object.metadata.resourceVersion);
  switch (delta.type) {
    case 'added':
      return `added ${delta.key} ${version(delta.object)}`;
    case 'updated':
      return `updated ${delta.key} ${version(delta.object)}<${version(delta.old)}`;
    case 'deleted':
      return `deleted ${delta.key} ${version(delta.object)}<${version(delta.old)} ${delta.reason}`;
  }
}

export type RigOptions = Partial<InformerOptions<Pod>> & {
  readonly token?: TokenProvider;
  readonly lineBytesMax?: number;
};

/** An informer over a scripted server in virtual time, and all that it says. Lists in pages, unless told otherwise. */
export class InformerRig {
  readonly clock = createVirtualClock();
  readonly api = new ScriptedApi();
  readonly informer: Informer<Pod>;
  /** Since they were last taken. */
  #deltas: string[] = [];
  readonly errors: { readonly error: unknown; readonly about: InformerErrorContext }[] = [];
  readonly connections: InformerConnection[] = [];
  readonly listings: InformerListing[] = [];

  constructor({ token, lineBytesMax, ...options }: RigOptions = {}) {
    const transport = createFetchTransport({
      baseUrl: 'https://api.test:6443',
      fetch: this.api.fetch,
      clock: this.clock,
      ...(token === undefined ? {} : { token }),
      ...(lineBytesMax === undefined ? {} : { lineBytesMax }),
    });
    this.informer = createInformer<Pod>({
      transport,
      resource: PODS,
      clock: this.clock,
      // No share is taken away: pauses are 2 s, 4 s, 8 s, 16 s, 30 s.
      random: () => 0,
      streamingList: 'never',
      onDeltas: (deltas) => {
        this.#deltas.push(...deltas.map(brief));
      },
      onError: (error, about) => this.errors.push({ error, about }),
      onConnect: (about) => this.connections.push(about),
      onListed: (about) => this.listings.push(about),
      ...options,
    });
  }

  /** What has been delivered since the last call. */
  get deltas(): readonly string[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }

  /** `code: what` of each error since the beginning. */
  get failures(): readonly string[] {
    return this.errors.map(({ error }) => {
      const { code, failure, httpStatus } = error as { code: string; failure?: string; httpStatus?: number };
      return `${code}: ${failure ?? httpStatus}`;
    });
  }

  async start(): Promise<void> {
    this.informer.start();
    await this.clock.settle();
  }

  /** Started, listed, and a watch is open. */
  async follow(version: number, ...items: readonly Pod[]): Promise<ReturnType<ScriptedApi['last']['open']>> {
    await this.start();
    this.api.lastList.list(String(version), items);
    await this.clock.settle();
    const stream = this.api.lastWatch.open();
    await this.clock.settle();
    return stream;
  }

  /** Lets time pass until another request comes; throws if none does within ten minutes. */
  async nextRequest(): Promise<void> {
    const { length } = this.api.requests;
    for (let turn = 0; turn < 1200; turn++) {
      await (turn === 0 ? this.clock.settle() : this.clock.advance(500));
      if (this.api.requests.length > length) return;
    }
    throw new Error('No request has come within ten minutes');
  }

  settle(): Promise<void> {
    return this.clock.settle();
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }
}
