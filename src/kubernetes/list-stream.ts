import { statusError } from './api-status.ts';
import { TransportError } from './errors.ts';
import { deliver, type InformerContext, reportMalformed } from './informer-context.ts';
import type { InformerListing } from './informer-types.ts';
import { InitialEvents, isEndMark, versionOf } from './initial-events.ts';
import type { OpenWatch } from './open-watch.ts';
import type { WatchLine } from './transport.ts';

/** What a stream may take in all, as a share of how long it may be silent: a server that does not know of marks never ends it. */
const SILENCES_MAX = 5;

export interface StreamedListing {
  readonly listing: InformerListing;
  /** What came behind the mark in its group: the beginning of the watch. */
  readonly rest: readonly WatchLine[];
}

/**
 * Takes the list in that a watch begins with (IN19). Nothing of it counts before its end mark.
 *
 * @throws as a rejection: {@link NoEndMark} when the server has ended it without one; an ERROR event; what ended the watch
 */
export async function listStream<T>(
  context: InformerContext<T>,
  watch: OpenWatch,
  signal: AbortSignal,
): Promise<StreamedListing> {
  const { clock, limits, resource, status } = context;
  const action = `list ${resource.resource}`;
  watch.limitSilence(limits.listTimeoutMs);
  const late = () => watch.end(new NoEndMark(action));
  const cancel = clock.after(limits.listTimeoutMs * SILENCES_MAX, late);
  const events = new InitialEvents();
  try {
    for (;;) {
      const group = await watch.next();
      if (group === undefined) throw new NoEndMark(action);
      status.heardAtMs = clock.now();
      for (const [index, line] of group.entries()) {
        if (events.take(line)) continue;
        if (line.type === 'ERROR') throw statusError(action, line.object);
        const version = line.type === 'BOOKMARK' && isEndMark(line.object) ? versionOf(line.object) : undefined;
        if (version === undefined) continue;
        cancel();
        watch.limitSilence(limits.inactivityMs);
        return { listing: await takeAll(context, events, version, signal), rest: group.slice(index + 1) };
      }
    }
  } finally {
    cancel();
  }
}

/** The stream of a list has come to no end: this server, or what is in between, does not do that. */
export class NoEndMark extends TransportError {
  constructor(action: string) {
    super(action, 'cut', 'the stream of the list came to no end mark');
  }
}

async function takeAll<T>(
  context: InformerContext<T>,
  events: InitialEvents,
  resourceVersion: string,
  signal: AbortSignal,
): Promise<InformerListing> {
  const { core, limits, subscribers, resource } = context;
  const missedBefore = core.stats.missed;
  const list = core.beginList();
  for (const page of events.pages(limits.pageLimit)) {
    const to = subscribers.present;
    const { deltas, malformed } = list.add(page);
    const action = `take an item of ${resource.resource}`;
    reportMalformed(context, malformed, (why) => new TransportError(action, 'malformed', why));
    await deliver(context, deltas, to, { from: 'list', signal });
  }
  const to = subscribers.present;
  const { deltas, isComplete } = list.end(resourceVersion);
  await deliver(context, deltas, to, { from: 'list', signal });
  return { resourceVersion, missed: core.stats.missed - missedBefore, isComplete, isStreamed: true };
}
