import { byteRangeHas, compareBytes } from '../../core/key-order.ts';
import type {
  BackendEvent,
  BackendPosition,
  BackendWatchItem,
  BackendWatchRequest,
  BackendWatchStream,
  ByteRange,
} from '../../types/backend.ts';
import type { Clock } from '../../types/clock.ts';
import { BackendError, CompactedError } from '../../types/errors.ts';
import type { Revision } from '../../types/revision.ts';
import type { CallOptions, EtcdClient, MessageSource, OpenedStream } from './client.ts';
import { EtcdRefusal, Unreadable } from './errors.ts';
import { hasSoundProgress, versionOf } from './version.ts';
import {
  flagOf,
  holdsNothing,
  integerOf,
  keyOf,
  listOf,
  objectOf,
  positionOf,
  positiveOf,
  rowOf,
  type WireObject,
  wireRange,
} from './wire.ts';

/** One message, read. */
interface WatchAnswer {
  readonly isCanceled: boolean;
  readonly compactRevision: Revision;
  /** More of the same revision follows. */
  readonly isFragment: boolean;
  readonly events: readonly BackendEvent[];
  /** Of one that says only how far the member is: all up to here was sent. Else 0. */
  readonly progressRevision: Revision;
}

export interface EtcdStreamOptions {
  readonly client: EtcdClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly position: (signal: AbortSignal | undefined) => Promise<BackendPosition>;
  /** Whether the members are asked for progress, where their version allows it. */
  readonly offersProgress: boolean;
}

const ACTION = 'watch etcd';
/** A question for progress that has no answer by then is the last one on its stream. */
const PROGRESS_MS_MAX = 5_000;
const EMPTY = new Uint8Array(0);

/**
 * One watch of etcd over a range that covers all that is wanted (B9): of several watches each would have to prove for itself
 * how far it is. What lies in between is dropped here.
 *
 * ```text
 *   created         ask where the cluster is (the member that watches may be behind)    -> open
 *   events          of one revision or several; a large answer comes in fragments       -> change, one a revision
 *   no events       only where the member is, for it was asked; all up to there was sent -> progress
 *   canceled        compact_revision                                                     -> CompactedError
 * ```
 *
 * Of a watch that starts at the very revision of a compaction etcd may have forgotten a delete there (E2 of
 * docs/etcd-differences.md). So each starts one revision earlier, where that is a `CompactedError` instead of a gap.
 */
export class EtcdStream implements BackendWatchStream {
  readonly #options: EtcdStreamOptions;
  readonly #request: BackendWatchRequest;
  /** There once the member that watches is known to keep B5. */
  #send: OpenedStream['send'] | undefined;
  /** When the oldest question without an answer was asked. */
  #askedAt: number | undefined;

  constructor(options: EtcdStreamOptions, request: BackendWatchRequest) {
    this.#options = options;
    this.#request = request;
  }

  /** Not there on a member whose answers are not to be believed, or do not come: then whoever wants to know asks otherwise. */
  get requestProgress(): (() => void) | undefined {
    const send = this.#send;
    const now = this.#options.clock.now();
    if (send === undefined || now - (this.#askedAt ?? now) >= PROGRESS_MS_MAX) return undefined;
    return () => {
      this.#askedAt ??= this.#options.clock.now();
      send({ progress_request: {} });
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<BackendWatchItem, void, undefined> {
    const { ranges, fromRevision, signal } = this.#request;
    const { client, clock, position } = this.#options;
    const request = {
      create_request: {
        ...wireRange(coverOf(ranges)),
        start_revision: String(Math.max(1, fromRevision - 1)),
        fragment: true,
      },
    };
    let opened: OpenedStream | undefined;
    const onOpened = (stream: OpenedStream) => {
      opened = stream;
    };
    const call: CallOptions = { action: ACTION, signal, onOpened };
    let pending: BackendEvent[] = [];
    try {
      for await (const answer of client.explainedStream('watch', request, call, watchAnswerOf)) {
        if (opened !== undefined) {
          const [where] = await Promise.all([position(signal), this.#offerProgress(opened)]);
          opened = undefined;
          yield { type: 'open', ...where };
        }
        if (answer.isCanceled) throw endOf(answer, fromRevision);
        for (const event of answer.events) pending.push(event);
        // It answers only where it has nothing left to send.
        if (this.#askedAt !== undefined && answer.events.length > 0) this.#askedAt = clock.now();
        if (answer.isFragment) continue;
        yield* changesOf(pending, ranges, fromRevision);
        pending = [];
        if (answer.progressRevision > 0 && this.#send !== undefined) {
          this.#askedAt = undefined;
          yield { type: 'progress', revision: answer.progressRevision };
        }
      }
    } finally {
      this.#send = undefined;
    }
    signal?.throwIfAborted();
    throw new BackendError(ACTION, 'etcd ended the stream');
  }

  async #offerProgress({ endpoint, send }: OpenedStream): Promise<void> {
    const { client, offersProgress } = this.#options;
    if (!offersProgress) return;
    const version = await versionOf(client, endpoint, this.#request.signal);
    if (hasSoundProgress(version)) this.#send = send;
  }
}

/** From the smallest start to the largest end; an empty end is none. etcd refuses to watch what holds nothing: then it is some key. */
function coverOf(all: readonly ByteRange[]): ByteRange {
  const ranges = all.filter((range) => !holdsNothing(range));
  if (ranges.length === 0 && all.length > 0) return { start: EMPTY };
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined) return only;
  let start: Uint8Array | undefined;
  let end: Uint8Array | undefined;
  for (const range of ranges) {
    if (start === undefined || compareBytes(range.start, start) < 0) start = range.start;
    const last = range.end ?? Uint8Array.of(...range.start, 0);
    if (end?.length === 0 || last.length === 0) end = EMPTY;
    else if (end === undefined || compareBytes(last, end) > 0) end = last;
  }
  return { start: start ?? EMPTY, end: end ?? EMPTY };
}

/** A watch that is refused is one that is canceled, with the refusal as its reason: a token that is too old, for instance. */
export function watchAnswerOf(answer: WireObject, { endpoint, isFirst }: MessageSource): WatchAnswer {
  const { cancel_reason: reason } = answer;
  const isCanceled = flagOf(answer.canceled, 'whether the watch has ended');
  const compactRevision = integerOf(answer.compact_revision, 'a compact revision');
  if (isCanceled && compactRevision === 0 && typeof reason === 'string' && reason !== '') {
    throw new EtcdRefusal(endpoint, reason, 0);
  }
  if (isFirst && !isCanceled && !flagOf(answer.created, 'whether there is a watch')) {
    throw new Unreadable('a watch that was not created');
  }
  const events = listOf(answer.events, 'the events').map(eventOf);
  const isProgress = !isFirst && !isCanceled && events.length === 0;
  return {
    isCanceled,
    compactRevision,
    isFragment: flagOf(answer.fragment, 'whether it is a fragment'),
    events,
    progressRevision: isProgress ? positionOf(answer).revision : 0,
  };
}

function eventOf(value: unknown): BackendEvent {
  const { type, kv } = objectOf(value, 'an event');
  if (type === undefined || type === 'PUT' || type === 0) return { type: 'put', kv: rowOf(kv) };
  if (type !== 'DELETE' && type !== 1) throw new Unreadable(`an event of type ${JSON.stringify(type)}`);
  const row = objectOf(kv, 'what was deleted');
  return { type: 'delete', key: keyOf(row), modRevision: positiveOf(row.mod_revision, 'a mod revision') };
}

/** One item a revision, with what lies in the ranges. */
function* changesOf(
  events: readonly BackendEvent[],
  ranges: readonly ByteRange[],
  fromRevision: Revision,
): Generator<BackendWatchItem, void, undefined> {
  for (let index = 0; index < events.length; ) {
    const revision = revisionOf(events[index] as BackendEvent);
    const found: BackendEvent[] = [];
    for (; index < events.length && revisionOf(events[index] as BackendEvent) === revision; index++) {
      const event = events[index] as BackendEvent;
      const key = event.type === 'put' ? event.kv.key : event.key;
      if (ranges.some((range) => byteRangeHas(range, key))) found.push(event);
    }
    if (found.length > 0 && revision >= fromRevision) yield { type: 'change', revision, events: found };
  }
}

function revisionOf(event: BackendEvent): Revision {
  return event.type === 'put' ? event.kv.modRevision : event.modRevision;
}

function endOf({ compactRevision }: WatchAnswer, fromRevision: Revision): Error {
  if (compactRevision >= fromRevision) {
    return new CompactedError(ACTION, { minRevision: compactRevision + 1, compactRevision });
  }
  return new BackendError(ACTION, 'etcd ended the watch without a reason');
}
