import { AbortableItems } from '../system/abortable.ts';
import type { BackendWatchItem, BackendWatchStream } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import { BackendError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Key } from '../types/revision.ts';
import { Replaced, Violation } from './failures.ts';
import { checkItem } from './ingress.ts';
import type { Sides } from './sides.ts';
import { Turns } from './turns.ts';
import { verify } from './verify.ts';

export interface FollowOptions<V, K extends Key> extends Sides<V, K> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The stream is open, and of the data that are here. */
  readonly onVerified: (stream: BackendWatchStream) => void;
  /** Takes what has come; throws what ends the connection. */
  readonly onItem: (item: BackendWatchItem) => void;
}

/**
 * One connection, from its `open` to its end, which is a throw: OPENING, VERIFYING, LIVE. Items that come before the answer
 * of {@link verify} are not pulled, the backend keeps them (B10).
 */
export async function follow<V, K extends Key>(
  options: FollowOptions<V, K>,
  isListed: boolean,
  signal: AbortSignal,
): Promise<never> {
  const { backend, mvcc, prefixes, questions, clock, logger } = options;
  const { seen } = questions;
  const fromRevision = mvcc.window.revision + 1;
  const stream = backend.watch({ ranges: prefixes.ranges, fromRevision, signal });
  const items = new AbortableItems(stream[Symbol.asyncIterator](), signal);
  const turns = new Turns(clock);
  const next = async (): Promise<BackendWatchItem> => {
    const { value, done } = await items.next();
    // It may have been on its way when the connection was given up.
    signal.throwIfAborted();
    if (done === true) throw new BackendError('follow the backend', 'the stream ended');
    checkItem(value);
    return value;
  };
  try {
    const open = await next();
    if (open.type !== 'open') throw new Violation(`the stream began with ${open.type}, not with open`);
    if (!questions.admit(open, seen)) throw new Replaced();
    await verify(options, isListed, signal);
    // Given up while the answer was on its way.
    signal.throwIfAborted();
    options.onVerified(stream);
    for (;;) {
      options.onItem(await next());
      if (turns.isOver()) await turns.yield(signal);
    }
  } finally {
    turns.stop();
    // A backend that fails at it, or takes its time, is not worth waiting for.
    items.return().catch((error: unknown) => logger.debug('A stream ended with an error', { error }));
  }
}
