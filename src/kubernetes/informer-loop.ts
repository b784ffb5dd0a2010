import { backoffDelayMs } from '../queue/backoff.ts';
import { abortableSleep } from '../system/abortable.ts';
import { onAbort } from '../types/on-abort.ts';
import { ApiStatusError, TransportError } from './errors.ts';
import { deliver, type InformerContext } from './informer-context.ts';
import { InformerPace } from './informer-pace.ts';
import type { InformerConnection, InformerErrorContext, InformerListing } from './informer-types.ts';
import { listPages } from './list-pages.ts';
import { listStream, NoEndMark } from './list-stream.ts';
import { OpenWatch } from './open-watch.ts';
import { cannotStream, Recovery, type Retry } from './recovery.ts';
import type { WatchLine, WatchRequest } from './transport.ts';
import { takeLines } from './watch-lines.ts';

/** Why a watch was ended to list anew. No failure. */
const RELIST = Symbol('relist');

/** Servers end watches after so long, in s, and up to as much again: not all at once. */
const WATCH_SECONDS = 300;

/**
 * List, watch, and again, until its signal aborts: whatever happens in between is told, and tried again. One request at a time: the next
 * begins when the connection of the one before has ended (IN12).
 */
export class InformerLoop<T> {
  readonly #context: InformerContext<T>;
  readonly #pace: InformerPace;
  readonly #recovery: Recovery;
  readonly #onSynced: () => void;
  /** Of the watch from its request on, which a list that is wanted ends. A list that is under way comes to its end. */
  #following: AbortController | undefined;
  #reason: InformerConnection['reason'] = 'start';
  /** Before the next request, though nothing has failed. */
  #pauseMs = 0;
  #cancelRelist: (() => void) | undefined;

  constructor(context: InformerContext<T>, onSynced: () => void) {
    const { clock, random, limits } = context;
    this.#context = context;
    this.#onSynced = onSynced;
    this.#pace = new InformerPace({ clock, random, backoff: limits.backoff, retryAfterMaxMs: limits.retryAfterMaxMs });
    this.#recovery = new Recovery(limits.streamingList === 'auto');
  }

  /** As soon as what is under way allows. */
  relist(): void {
    this.#recovery.wantList();
    this.#following?.abort(RELIST);
  }

  /** Resolves when the signal has aborted and nothing is left of any request. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { status, limits } = this.#context;
    if (limits.relistMs !== undefined) this.#relistIn(limits.relistMs);
    // What the stop before has left over. Only the next stop ends the waiting, and then there is nothing more to do.
    await Promise.allSettled([deliver(this.#context, [], [], { from: 'watch', signal })]);
    while (!signal.aborted) {
      if (!this.#recovery.listWanted) await this.#follow(signal);
      else if (this.#recovery.streams) await this.#streamList(signal);
      else await this.#list(signal);
    }
    this.#cancelRelist?.();
    status.phase = 'stopped';
    status.retryAtMs = undefined;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { core, status, counts } = this.#context;
    status.phase = 'listing';
    this.#recovery.listing();
    try {
      const listing = await listPages(this.#context, this.#recovery.listVersion(core.resourceVersion), signal);
      this.#listed(listing);
      this.#reason = counts.relists === 0 ? 'start' : 'listed';
    } catch (error) {
      if (signal.aborted) return;
      counts.failedLists++;
      await this.#failed(error, 'list', this.#recovery.listFailed(), signal);
    }
  }

  /** The list and the watch behind it are one request. */
  async #streamList(signal: AbortSignal): Promise<void> {
    const { core, status } = this.#context;
    status.phase = 'listing';
    this.#recovery.listing();
    const version = this.#recovery.listVersion(core.resourceVersion);
    const request: Partial<WatchRequest> = {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      ...(version === undefined ? {} : { resourceVersion: version }),
    };
    let isListed = false;
    await this.#connected(
      request,
      signal,
      async (watch, connection) => {
        const { listing, rest } = await listStream(this.#context, watch, signal);
        this.#context.counts.streamedLists++;
        isListed = true;
        this.#following = connection;
        this.#listed(listing);
        // While it was under way, or by a callback: what has come is a list, the watch behind it is of no use.
        if (this.#recovery.listWanted) throw RELIST;
        await this.#takeAll(watch, rest, signal);
      },
      async (error) => {
        if (isListed) return this.#watchFailed(error, signal);
        if (cannotStream(error)) return this.#recovery.cannotStream();
        // Neither does one whose stream stays without an end; one that says nothing may be one that is down.
        if (error instanceof NoEndMark) this.#recovery.cannotStream();
        else if (isTimeout(error)) this.#recovery.streamTimedOut();
        this.#context.counts.failedLists++;
        await this.#failed(error, 'list', this.#recovery.listFailed(), signal);
      },
    );
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { core, limits, status } = this.#context;
    status.phase = 'connecting';
    const fromAny = this.#recovery.watchesFromAnyVersion;
    const request = fromAny || core.resourceVersion === '' ? {} : { resourceVersion: core.resourceVersion };
    await this.#connected(
      request,
      signal,
      async (watch) => {
        // Deletes between the list and the beginning of this watch are not told: only another list knows.
        if (fromAny) this.#relistIn(limits.backoff.maxMs);
        await this.#takeAll(watch, [], signal);
      },
      (error) => this.#watchFailed(error, signal),
    );
  }

  /** One watch, from its request to the end of its connection; then what was to be done about its error. */
  async #connected(
    request: Partial<WatchRequest>,
    signal: AbortSignal,
    use: (watch: OpenWatch, connection: AbortController) => Promise<void>,
    failed: (error: unknown) => void | Promise<void>,
  ): Promise<void> {
    const { transport, resource, selectors, clock, limits, counts, callbacks } = this.#context;
    const connection = new AbortController();
    const unlisten = onAbort(signal, (reason) => connection.abort(reason));
    if (request.sendInitialEvents !== true) this.#following = connection;
    let outcome: { readonly error: unknown } | undefined;
    let watch: OpenWatch | undefined;
    try {
      watch = await OpenWatch.open({
        transport,
        request: {
          resource,
          ...selectors,
          allowWatchBookmarks: true,
          timeoutSeconds: this.#watchSeconds(),
          ...request,
        },
        clock,
        connectTimeoutMs: limits.connectTimeoutMs,
        inactivityMs: limits.inactivityMs,
        signal: connection.signal,
      });
      counts.openWatches++;
      counts.watches++;
      this.#pace.opened();
      callbacks.connected({
        attempt: counts.watches,
        reason: this.#reason,
        resourceVersion: request.resourceVersion ?? '',
      });
      await use(watch, connection);
      this.#reason = 'ended';
    } catch (error) {
      outcome = { error };
    }
    this.#following = undefined;
    if (watch !== undefined) {
      await watch.close();
      counts.openWatches--;
    }
    unlisten();
    if (this.#pauseMs > 0) await abortableSleep(clock, this.#pauseMs, signal);
    this.#pauseMs = 0;
    if (outcome === undefined || signal.aborted) return;
    if (outcome.error === RELIST) this.#reason = 'listed';
    else await failed(outcome.error);
  }

  #watchSeconds(): number {
    const { limits, random } = this.#context;
    return limits.watchTimeoutSeconds ?? Math.ceil(WATCH_SECONDS * (1 + random()));
  }

  /** All that comes, until the server ends it or something else does. */
  async #takeAll(watch: OpenWatch, first: readonly WatchLine[], signal: AbortSignal): Promise<void> {
    const { core, status, clock, limits, random, resource } = this.#context;
    const from = core.resourceVersion;
    const hasNews = () => core.resourceVersion !== from;
    let hasHeard = first.length > 0;
    status.phase = 'watching';
    try {
      await takeLines(this.#context, first, signal);
      for (let group = await watch.next(); group !== undefined; group = await watch.next()) {
        status.heardAtMs = clock.now();
        hasHeard = true;
        await takeLines(this.#context, group, signal);
        if (status.failures > 0 && hasNews()) this.#succeeded();
      }
    } catch (error) {
      // One that lived long and said nothing in all that time shows nothing of the server.
      if (this.#pace.ended(hasNews()) && (hasHeard || !isTimeout(error))) this.#succeeded();
      throw error;
    }
    const { livedMs } = this.#pace;
    if (!this.#pace.ended(hasNews())) {
      throw new TransportError(`watch ${resource.resource}`, 'cut', 'the server ended it at once');
    }
    this.#succeeded();
    // News, but at the price of a connection each time: not in a hot loop.
    if (livedMs < limits.backoff.baseMs) this.#pauseMs = backoffDelayMs(0, limits.backoff, random);
  }

  #succeeded(): void {
    this.#pace.succeeded();
    this.#recovery.progressed();
    this.#context.status.failures = 0;
  }

  #listed(listing: InformerListing): void {
    const { counts, core, callbacks, limits } = this.#context;
    if (counts.lists++ > 0) counts.relists++;
    this.#recovery.listed();
    if (!listing.isComplete) this.#relistIn(limits.backoff.maxMs);
    else if (limits.relistMs !== undefined) this.#relistIn(limits.relistMs);
    callbacks.listed(listing);
    if (core.isSynced) this.#onSynced();
  }

  #relistIn(delayMs: number): void {
    this.#cancelRelist?.();
    this.#cancelRelist = this.#context.clock.after(delayMs, () => this.relist());
  }

  async #watchFailed(error: unknown, signal: AbortSignal): Promise<void> {
    const { counts } = this.#context;
    counts.failedWatches++;
    this.#reason = isTimeout(error) ? 'inactive' : 'error';
    if (isTimeout(error)) counts.inactiveWatches++;
    await this.#failed(error, 'watch', this.#recovery.watchFailed(error), signal);
  }

  /** Tells of it, and waits for as long as is due. */
  async #failed(
    error: unknown,
    during: InformerErrorContext['during'],
    retry: Retry,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, status, callbacks, counts } = this.#context;
    if (error instanceof ApiStatusError && error.isExpired) counts.expired++;
    const retryAfterMs = error instanceof ApiStatusError ? error.retryAfterMs : undefined;
    const retryMs = retry === 'now' ? 0 : this.#pace.failed(retryAfterMs);
    status.lastError = { error, atMs: clock.now() };
    status.failures = this.#pace.failures;
    callbacks.error(error, { during, failures: this.#pace.failures, retryMs });
    if (retryMs === 0 || signal.aborted) return;
    status.phase = 'waiting';
    status.retryAtMs = clock.now() + retryMs;
    await abortableSleep(clock, retryMs, signal);
    status.retryAtMs = undefined;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof TransportError && error.failure === 'timeout';
}
