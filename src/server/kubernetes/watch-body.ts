import { StorageError } from '../../storage/errors.ts';
import type { StorageWatch } from '../../storage/types.ts';
import { ClosedError } from '../../types/errors.ts';
import { onAbort } from '../../types/on-abort.ts';
import { statusOf } from './failures.ts';
import type { ServedKind } from './kinds.ts';
import { type ApiObject, shownObject } from './stored-object.ts';

export interface WatchBodyOptions {
  readonly kind: ServedKind;
  /** The kind is no longer served: the watch ends. */
  readonly gone: AbortSignal;
  /** Objects in the form that the client asked for. */
  readonly show: (object: ApiObject) => object;
}

/**
 * A watch as lines of JSON, each read when the client asks for it: a client that does not read costs the position of a cursor,
 * whatever happens meanwhile, until compaction passes it; then it is told so.
 *
 * ```text
 *   event      {"type":"ADDED","object":{...}}       also MODIFIED, DELETED, BOOKMARK
 *   410, 504   {"type":"ERROR","object":Status}      and the end of the stream
 *   the time is over, the kind is gone, the server closes: the end of the stream
 *   the client has gone (its signal): the stream fails with the signal's reason
 * ```
 */
export function watchBody(watch: StorageWatch<ApiObject>, options: WatchBodyOptions): ReadableStream<Uint8Array> {
  const { kind, gone, show } = options;
  // What was there by then can still be read: the deletions of what goes with the kind, too.
  const unlisten = onAbort(gone, () => watch.stop());
  const encoder = new TextEncoder();
  const line = (type: string, object: object) => encoder.encode(`${JSON.stringify({ type, object })}\n`);
  const read = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { value: event, done } = await watch.next();
    if (done === true) return end(controller);
    if (event.type !== 'BOOKMARK') return controller.enqueue(line(event.type, show(event.object)));
    const metadata = { ...event.object.metadata, creationTimestamp: null };
    controller.enqueue(line('BOOKMARK', shownObject(kind, { metadata })));
  };
  const end = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    unlisten();
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await read(controller);
        } catch (error) {
          if (error instanceof ClosedError) return end(controller);
          unlisten();
          if (!(error instanceof StorageError)) return controller.error(error);
          controller.enqueue(line('ERROR', statusOf(error, { kind, name: undefined })));
          controller.close();
        }
      },
      async cancel() {
        unlisten();
        await watch.return();
      },
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
}
