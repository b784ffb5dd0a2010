import { type Backoff, backoffDelayMs } from '../queue/backoff.ts';
import { abortableSleep } from '../system/abortable.ts';
import type { Clock } from '../types/clock.ts';
import { BackendError, ClosedError, IdentityChangedError, UnsupportedError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { ObjectSource, SourceList } from '../types/source.ts';
import { untilAborted } from '../types/until-aborted.ts';
import type { BackPressure } from './back-pressure.ts';
import type { ObjectTable } from './object-table.ts';

export interface InformerOptions {
  readonly source: ObjectSource;
  readonly table: ObjectTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: Backoff;
  readonly logger: Logger;
  /** @default none: items are taken in as they come */
  readonly pressure?: BackPressure;
  /** Called with every list after it was taken in. The first one means that all objects are known. */
  readonly onList: (list: SourceList) => void;
}

/**
 * Keeps the table up to date: list, watch from there, and when the watch ends, for whatever reason, again. A list is
 * taken as a difference, so an object that went away in between is found out (A1').
 *
 * Waits by backoff between two lists. The backoff begins anew once a watch has delivered something, or has lived longer
 * than the longest wait: a quiet watch that is cut every hour is no failure, but a source that accepts the list and
 * refuses every watch must not be listed in a tight loop.
 *
 * Between two items it waits for the back-pressure (A34'). What the source does with a watch that is read slowly is up to it:
 * if it ends the watch, there is another list.
 *
 * Each list and watch has a signal of its own, for sources that leave their listeners behind: however often it is
 * listed again, `signal` has the listeners of one.
 *
 * Resolves when the signal aborts; rejects when trying again cannot help.
 */
export async function inform(options: InformerOptions, signal: AbortSignal): Promise<void> {
  const { table, clock, random, backoff, logger } = options;
  let failures = 0;
  let watchedFromMs = Number.POSITIVE_INFINITY;
  const hooks: WatchHooks = {
    onWatch: () => {
      watchedFromMs = clock.now();
    },
    onDelivery: () => {
      failures = 0;
    },
  };
  while (!signal.aborted) {
    watchedFromMs = Number.POSITIVE_INFINITY;
    try {
      // A source that does not obey its signal must not keep the controller from stopping.
      await untilAborted((own) => listAndWatch(options, own, hooks), [signal]);
      if (signal.aborted) return;
      logger.warn('The watch of the source has ended: listing again');
    } catch (error) {
      if (signal.aborted) return;
      if (isFinal(error)) throw error;
      if (error instanceof IdentityChangedError) table.vanishAll();
      logger.warn('Cannot go on watching the source: listing again', { error, failures });
    }
    if (clock.now() - watchedFromMs > backoff.maxMs) failures = 0;
    await abortableSleep(clock, backoffDelayMs(failures++, backoff, random), signal);
  }
}

interface WatchHooks {
  /** The list is taken in, the watch begins. */
  readonly onWatch: () => void;
  readonly onDelivery: () => void;
}

async function listAndWatch(options: InformerOptions, signal: AbortSignal, hooks: WatchHooks): Promise<void> {
  const { source, table } = options;
  const list = await source.list({ signal });
  if (signal.aborted) return;
  table.observeList(list);
  options.onList(list);
  hooks.onWatch();
  // What is not newer came late: the list has it, or knows that it is gone.
  const isAfter = (version: string): boolean => source.compare(version, list.resourceVersion) > 0;
  for await (const item of source.watch({ after: list.resourceVersion, signal })) {
    if (signal.aborted) return;
    hooks.onDelivery();
    if (item.type === 'deleted') table.observeDeletion(item);
    else if (item.type !== 'bookmark' && isAfter(item.object.resourceVersion)) table.observe(item.object);
    const held = options.pressure?.hold(signal);
    if (held !== undefined) await held;
    if (signal.aborted) return;
  }
}

/** Errors that the same call will meet again for ever. */
function isFinal(error: unknown): boolean {
  if (error instanceof BackendError) return error.permanent;
  return error instanceof ClosedError || error instanceof UnsupportedError;
}
