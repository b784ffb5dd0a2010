import { statusError } from './api-status.ts';
import { TransportError } from './errors.ts';
import { deliver, type InformerContext, reportMalformed } from './informer-context.ts';
import type { InformerEvent } from './informer-core.ts';
import type { InformerDelta } from './informer-delta.ts';
import { versionOf } from './initial-events.ts';
import type { WatchLine } from './transport.ts';

/**
 * Takes one group of lines in, and hands over what it has changed, all at once. What is no object, or of a type that nobody knows, is told and
 * changes nothing; what is behind it goes on.
 *
 * @throws as a rejection: ApiStatusError for an ERROR event, after what was before it has been delivered; the signal's reason
 */
export async function takeLines<T>(
  context: InformerContext<T>,
  lines: readonly WatchLine[],
  signal: AbortSignal,
): Promise<void> {
  const { core, counts, resource, subscribers } = context;
  const action = `take an event of ${resource.resource}`;
  const to = subscribers.present;
  const deltas: InformerDelta<T>[] = [];
  let error: Error | undefined;
  for (const { type, object } of lines) {
    if (isEventType(type)) {
      const applied = core.apply({ type, object });
      for (const delta of applied.deltas) deltas.push(delta);
      if (applied.malformed !== undefined) malformed(context, applied.malformed);
    } else if (type === 'BOOKMARK') {
      const version = versionOf(object);
      if (version === undefined) malformed(context, { key: undefined, reason: 'a bookmark has no resourceVersion' });
      else core.bookmark(version);
      counts.bookmarks++;
    } else if (type === 'ERROR') {
      error = statusError(`watch ${resource.resource}`, object);
      break;
    } else malformed(context, { key: undefined, reason: `${type.slice(0, TYPE_MAX)} is no type of an event` });
  }
  await deliver(context, deltas, to, { from: 'watch', signal });
  if (error !== undefined) throw error;

  function malformed(
    of: InformerContext<T>,
    what: { readonly key: string | undefined; readonly reason: string },
  ): void {
    reportMalformed(of, [what], (why) => new TransportError(action, 'malformed', why));
  }
}

const TYPE_MAX = 40;

function isEventType(type: string): type is InformerEvent['type'] {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
}
