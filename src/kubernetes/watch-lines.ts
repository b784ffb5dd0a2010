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
  let failed: { readonly error: unknown } | undefined;
  try {
    for (const line of lines) take(line);
  } catch (error) {
    failed = { error };
  }
  await deliver(context, deltas, to, { from: 'watch', signal });
  if (failed !== undefined) throw failed.error;

  function take({ type, object }: WatchLine): void {
    if (isEventType(type)) {
      const applied = core.apply({ type, object });
      for (const delta of applied.deltas) deltas.push(delta);
      if (applied.malformed !== undefined) malformed(applied.malformed);
    } else if (type === 'BOOKMARK') {
      const version = versionOf(object);
      if (version === undefined) malformed({ key: undefined, reason: 'a bookmark has no resourceVersion' });
      else core.bookmark(version);
      counts.bookmarks++;
    } else if (type === 'ERROR') {
      throw statusError(`watch ${resource.resource}`, object);
    } else malformed({ key: undefined, reason: `${type.slice(0, TYPE_MAX)} is no type of an event` });
  }
  function malformed(what: { readonly key: string | undefined; readonly reason: string }): void {
    reportMalformed(context, [what], (why) => new TransportError(action, 'malformed', why));
  }
}

const TYPE_MAX = 40;

function isEventType(type: string): type is InformerEvent['type'] {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
}
