import type { Backoff } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';
import type { InformerCallbacks } from './informer-callbacks.ts';
import type { InformerCore } from './informer-core.ts';
import type { InformerDelta } from './informer-delta.ts';
import type { InformerOptions, InformerPhase, InformerStats } from './informer-types.ts';
import type { CompareVersions } from './resource-version.ts';
import type { Subscribers, Subscription } from './subscribers.ts';
import type { KubernetesResource, KubernetesTransport, Selectors } from './transport.ts';

/** Options with their defaults. */
export type InformerLimits = Readonly<
  Required<
    Pick<
      InformerOptions,
      'pageLimit' | 'listTimeoutMs' | 'connectTimeoutMs' | 'inactivityMs' | 'retryAfterMaxMs' | 'streamingList'
    >
  >
> & {
  readonly watchTimeoutSeconds: number | undefined;
  readonly relistMs: number | undefined;
  readonly backoff: Backoff;
};

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** What the parts of an informer share. */
export interface InformerContext<T> {
  readonly transport: KubernetesTransport;
  readonly resource: KubernetesResource;
  readonly selectors: Selectors;
  readonly limits: InformerLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly core: InformerCore<T>;
  readonly compare: CompareVersions;
  readonly subscribers: Subscribers<T>;
  readonly callbacks: InformerCallbacks;
  readonly counts: Mutable<Omit<InformerStats, 'core' | 'subscribers'>>;
  readonly status: InformerStatus;
}

/** What an informer is at, for whoever looks at it. */
export interface InformerStatus {
  phase: InformerPhase;
  lastError: { readonly error: unknown; readonly atMs: number } | undefined;
  failures: number;
  retryAtMs: number | undefined;
  heardAtMs: number | undefined;
  deliveringSinceMs: number | undefined;
}

/** Hands changes over, behind what is left over, and waits until they have been taken. Rejects with the reason of the signal alone. */
export async function deliver<T>(
  { subscribers, status, clock }: InformerContext<T>,
  deltas: readonly InformerDelta<T>[],
  to: readonly Subscription<T>[],
  about: { readonly from: 'list' | 'watch'; readonly signal: AbortSignal },
): Promise<void> {
  if ((deltas.length === 0 || to.length === 0) && !subscribers.isBusy) return;
  const { phase } = status;
  status.phase = 'delivering';
  status.deliveringSinceMs = clock.now();
  try {
    await subscribers.deliver(deltas, to, about);
  } finally {
    status.phase = phase;
    status.deliveringSinceMs = undefined;
  }
}

/** Says what is no object, each with its reason; nothing is tried again for it. */
export function reportMalformed<T>(
  { callbacks }: InformerContext<T>,
  malformed: readonly { readonly key: string | undefined; readonly reason: string }[],
  makeError: (why: string) => Error,
): void {
  for (const { key, reason } of malformed) {
    const error = makeError(key === undefined ? reason : `of ${key}: ${reason}`);
    callbacks.error(error, { during: 'object', failures: 0, retryMs: undefined });
  }
}
