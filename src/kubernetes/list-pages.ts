import { onAbort } from '../types/on-abort.ts';
import { member } from './api-status.ts';
import { withDeadline } from './deadlines.ts';
import { ApiStatusError, TransportError } from './errors.ts';
import { deliver, type InformerContext, reportMalformed } from './informer-context.ts';
import type { InformerList } from './informer-core.ts';
import type { InformerListing } from './informer-types.ts';
import type { ListPage, ListPageRequest } from './transport.ts';

/** How often the token of one list may be too old before the list is asked for as one page. */
const TOKENS_MAX = 10;

/**
 * Lists in pages, each with a deadline, and takes them in as they come; what is gone is taken away at the end of the last one (IN18). A list
 * that fails anywhere has taken nothing away.
 *
 * @param version the list is not older than it; without one it is the newest state
 */
export async function listPages<T>(
  context: InformerContext<T>,
  version: string | undefined,
  signal: AbortSignal,
): Promise<InformerListing> {
  const { core, limits, subscribers } = context;
  const start: Partial<ListPageRequest> =
    version === undefined ? {} : { resourceVersion: version, resourceVersionMatch: 'NotOlderThan' };
  const missedBefore = core.stats.missed;
  let list = core.beginList();
  let oldest: string | undefined;
  let request: Partial<ListPageRequest> = { limit: limits.pageLimit, ...start };
  for (let tokens = 0; ; ) {
    let page: ListPage;
    try {
      page = await pageOf(context, request, signal);
    } catch (error) {
      if (request.continue === undefined || !(error instanceof ApiStatusError) || !error.isExpired) throw error;
      context.counts.expired++;
      const token = ++tokens < TOKENS_MAX ? error.continue : undefined;
      if (token !== undefined && token !== request.continue) request = { limit: limits.pageLimit, continue: token };
      else {
        // The server has nothing to go on from: all at once, then, as client-go does.
        list = core.beginList();
        oldest = undefined;
        request = start;
      }
      continue;
    }
    await takePage(context, list, page, signal);
    // The rest of a list whose token was too old is newer than its beginning.
    if (oldest === undefined || context.compare(page.resourceVersion, oldest) === 'older')
      oldest = page.resourceVersion;
    if (page.continue === undefined) break;
    if (page.continue === request.continue) {
      throw new TransportError(`list ${context.resource.resource}`, 'malformed', 'a page continues with itself');
    }
    request = { limit: limits.pageLimit, continue: page.continue };
  }
  const to = subscribers.present;
  const { deltas, isComplete } = list.end(oldest);
  await deliver(context, deltas, to, { from: 'list', signal });
  const missed = core.stats.missed - missedBefore;
  return { resourceVersion: oldest, missed, isComplete, isStreamed: false };
}

async function pageOf<T>(
  { transport, resource, selectors, clock, limits, status }: InformerContext<T>,
  part: Partial<ListPageRequest>,
  signal: AbortSignal,
): Promise<ListPage> {
  const action = `list ${resource.resource}`;
  const controller = new AbortController();
  const unlisten = onAbort(signal, (reason) => controller.abort(reason));
  const late = () => new TransportError(action, 'timeout', `no answer within ${limits.listTimeoutMs} ms`);
  try {
    const page = await withDeadline(
      { clock, timeoutMs: limits.listTimeoutMs, controller, late, discard: () => {} },
      (ofRequest, hold) => transport.list({ resource, ...selectors, ...part }, { signal: ofRequest, hold }),
    );
    status.heardAtMs = clock.now();
    return page;
  } finally {
    unlisten();
  }
}

async function takePage<T>(
  context: InformerContext<T>,
  list: InformerList<T>,
  { items, itemType }: ListPage,
  signal: AbortSignal,
): Promise<void> {
  const to = context.subscribers.present;
  const { deltas, malformed } = list.add(itemType === undefined ? items : items.map((item) => typed(item, itemType)));
  const action = `take an item of ${context.resource.resource}`;
  reportMalformed(context, malformed, (why) => new TransportError(action, 'malformed', why));
  await deliver(context, deltas, to, { from: 'list', signal });
}

/** Items of a list do not say what they are, the same objects in a watch do: here all of them do. */
function typed(item: unknown, { apiVersion, kind }: NonNullable<ListPage['itemType']>): unknown {
  if (typeof item !== 'object' || item === null || member(item, 'kind') !== undefined) return item;
  return { apiVersion, kind, ...item };
}
