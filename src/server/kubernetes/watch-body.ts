import type { StorageWatch } from '../../storage/types.ts';
import type { Clock } from '../../types/clock.ts';
import { ClosedError } from '../../types/errors.ts';
import { onAbort } from '../../types/on-abort.ts';
import { statusOf } from './failures.ts';
import type { ServedKind } from './kinds.ts';
import type { ApiObject } from './stored-object.ts';

export interface WatchBodyOptions {
  readonly kind: ServedKind;
  /** The kind is no longer served: the watch ends. */
  readonly gone: AbortSignal;
  /** The client's. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'after'>;
  /** That of the watch, which ends by itself then. */
  readonly timeoutMs: number;
  /** Objects in the form that the client asked for. */
  readonly show: (object: ApiObject) => object;
}

/**
 * A watch as lines of JSON, each read when the client asks for it: a client that does not read costs the position of a cursor,
 * whatever happens meanwhile, until compaction passes it; then it is told so.
 *
 * ```text
 *   event           {"type":"ADDED","object":{...}}       also MODIFIED, DELETED, BOOKMARK
 *   410, 504, 500   {"type":"ERROR","object":Status}      and the end of the stream
 *   the time is over, the kind is gone, the server closes: the end of the stream
 *   the client has gone (its signal): the stream fails with the signal's reason
 * ```
 *
 * The last two come whether the client reads or not: nothing is left of a watch that nobody reads.
 */
export function watchBody(watch: StorageWatch<ApiObject>, options: WatchBodyOptions): ReadableStream<Uint8Array> {
  const { kind, gone, signal, clock, timeoutMs, show } = options;
  let undo: (() => void)[] = [];
  let isOver = false;
  const over = (finish: () => void) => {
    if (isOver) return;
    isOver = true;
    for (const take of undo) take();
    finish();
  };
  const encoder = new TextEncoder();
  const line = (type: string, object: object) => encoder.encode(`${JSON.stringify({ type, object })}\n`);
  const read = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { value: event, done } = await watch.next();
    if (done === true) return over(() => controller.close());
    if (isOver) return;
    const { type, object } = event;
    if (type !== 'BOOKMARK') return controller.enqueue(line(type, show(object)));
    const { metadata, ...rest } = show(object) as ApiObject;
    controller.enqueue(line(type, { ...rest, metadata: { ...metadata, creationTimestamp: null } }));
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        undo = [
          // What was there by then can still be read: the deletions of what goes with the kind, too.
          onAbort(gone, () => watch.stop()),
          onAbort(signal, (reason) => over(() => controller.error(reason))),
          clock.after(timeoutMs, () => over(() => controller.close())),
        ];
      },
      async pull(controller) {
        try {
          await read(controller);
        } catch (error) {
          over(() => {
            if (signal.aborted) return controller.error(error);
            if (!(error instanceof ClosedError)) {
              controller.enqueue(line('ERROR', statusOf(error, { kind, name: undefined })));
            }
            controller.close();
          });
        }
      },
      async cancel() {
        over(() => undefined);
        await watch.return();
      },
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
}
