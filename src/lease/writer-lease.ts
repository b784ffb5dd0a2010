import { checkInteger } from '../types/check-integer.ts';
import { ClosedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import type {
  ClassicWriterLease,
  ClassicWriterLeaseOptions,
  Observation,
  WaitResult,
  WriterLease,
  WriterLeaseOptions,
  WriterLeaseStats,
  WriterRole,
  WriterTry,
} from '../types/writer-lease.ts';
import { createClassicWriterLease } from './classic-writer-lease.ts';
import { checkKey, checkNames, checkWait, checkWork } from './writer-checks.ts';
import { WriterCounts } from './writer-counts.ts';
import { Estimates } from './writer-estimates.ts';
import { WriterKeys } from './writer-keys.ts';
import { WriterMachine } from './writer-machine.ts';
import type { WriterParts } from './writer-moves.ts';
import { resolveWriter, type WriterSettings } from './writer-options.ts';
import { Term } from './writer-term.ts';
import { checkObservation } from './writer-view.ts';
import { WriterWaits } from './writer-waits.ts';

/**
 * Makes a {@link WriterLease}: of N replicas that all want to write the same M values one writes them, for about M writes
 * in all instead of N x M. There is no lock object. Who writes successfully leads, and each write renews that; who sees
 * that somebody else has written follows, and keeps its wishes until a silence is longer than its window.
 *
 * Promised, with watch latency λ below a fifth of `capMs`:
 * - At most one work function at a time. A leader writes at once, in the order of asking, without waits between.
 * - No wish is lost: it is written, or seen to be right, or tried again for ever (conflict: when something newer is seen;
 *   error: after a growing wait of that key alone).
 * - The last successful writer stays leader until it sees newer work of another one (WL14): two leaders become one.
 * - After the death of a leader the first write of another one comes within `capMs`, whatever the number of keys (WL4).
 * - A cold start costs at most N - 1 conflicts, with `read` or a fast watch about N / 10 (WL11); a change after a long quiet
 *   none, while the last leader lives.
 *
 * Not promised: that there is one leader. The store's compare excludes, the lease only saves work; write with
 * `context.revision` as what you expect.
 *
 * Tell the first list by `observe`, with `changed: false`, then what is not right by `try`; every change afterwards by
 * `observe` and, if it is not right, `try`. When the wish becomes what is stored already, or the key goes, `remove`.
 *
 * `strategy: 'classic'` is the state machine that this one was measured against.
 *
 * @throws TypeError for an unknown option or a wrong type; RangeError for a number that is impossible, alone or beside
 *   another one, with the inequality that fails
 * @example
 * ```ts
 * import { createWriterLease, openStore } from 'plimsoll';
 *
 * const store = await openStore<string>();
 * const writer = createWriterLease<string>({ capMs: 15_000 });
 *
 * const want = (key: string, wanted: string, revision: number) =>
 *   writer.try(key, {
 *     revision,
 *     wanted,
 *     work: ({ revision, signal }) => store.put(key, wanted, { expect: { modRevision: revision }, signal }),
 *   });
 *
 * want('status/a', 'ready', 0);
 * for await (const { events } of store.watch({ prefix: 'status/' })) {
 *   for (const { type, kv } of events) {
 *     const value = type === 'put' ? kv.value : undefined;
 *     writer.observe(kv.key, { revision: kv.modRevision, value, wanted: 'ready' });
 *     if (value !== 'ready') want(kv.key, 'ready', kv.modRevision);
 *   }
 *   break; // an application would go on
 * }
 * console.log(await writer.wait()); // 'leader'
 * await writer.close();
 * await store.close();
 * ```
 */
export function createWriterLease<V = unknown>(options?: WriterLeaseOptions<V>): WriterLease<V>;
export function createWriterLease(options: ClassicWriterLeaseOptions): ClassicWriterLease;
export function createWriterLease<V>(
  options: WriterLeaseOptions<V> | ClassicWriterLeaseOptions = {},
): WriterLease<V> | ClassicWriterLease {
  // (Whoever has no types may give null; resolveWriter says what is wrong with that.)
  if (options?.strategy === 'classic') return createClassicWriterLease(options);
  return new DefaultWriterLease<V>(resolveWriter(options as WriterLeaseOptions));
}

const TRY_NAMES: ReadonlySet<string> = new Set<keyof WriterTry<unknown>>(['revision', 'work', 'wanted']);

class DefaultWriterLease<V> implements WriterLease<V> {
  readonly #parts: WriterParts;
  readonly #machine: WriterMachine;
  #isClosed = false;

  constructor(settings: WriterSettings) {
    const now = settings.clock.now();
    const estimates = new Estimates(settings);
    this.#parts = {
      settings,
      keys: new WriterKeys(settings.keysMax),
      estimates,
      term: new Term(settings, estimates, settings.random, now),
      counts: new WriterCounts(),
      waits: new WriterWaits(),
    };
    this.#machine = new WriterMachine(this.#parts);
  }

  get role(): WriterRole {
    return this.#isClosed ? 'follower' : this.#parts.term.role;
  }

  get fencingToken(): Revision | undefined {
    return this.#isClosed ? undefined : this.#parts.term.fencingToken;
  }

  try(key: string, request: WriterTry<V>): boolean {
    const action = 'try a key';
    if (this.#isClosed) throw new ClosedError(action);
    checkKey(action, key);
    checkNames(action, request, TRY_NAMES);
    checkInteger('the revision', request.revision, action, 0);
    checkWork(action, request.work);
    return this.#machine.try(key, request);
  }

  observe(key: string, observation: Observation<V>): void {
    if (this.#isClosed) return;
    checkKey('observe a key', key);
    checkObservation(observation);
    this.#machine.observe(key, observation);
  }

  remove(key: string): void {
    if (!this.#isClosed) this.#machine.remove(key);
  }

  async wait(options: SignalOptions = {}): Promise<WaitResult> {
    const signal = checkWait(options);
    return this.#parts.waits.wait(signal, () => (this.#isClosed ? 'closed' : this.role));
  }

  stats(): WriterLeaseStats {
    const { keys, counts, term, estimates, settings } = this.#parts;
    return {
      role: this.role,
      pending: keys.pending.size,
      parked: keys.parked,
      blocked: keys.blocked,
      keys: keys.size,
      ...counts.numbers(),
      ...term.timeInRoles(settings.clock.now()),
      watchLatencyMs: estimates.watchLatencyMs,
      gapMs: estimates.gapMs,
      windowMs: term.windowMs,
      minimumMs: estimates.minimumMs,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#machine.close(new ClosedError('write a key'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
