import type { BreakerStatus } from './breaker.ts';
import { type DocumentVersion, emptyDocument } from './document-version.ts';
import { isComplete, isFilteredStep, isPlannedAt } from './jobs.ts';
import type { Loop, LoopGuard } from './loop-guard.ts';
import type { ObjectState, UidMemory } from './object-memory.ts';
import type { Parent } from './parent.ts';
import { type HandlerRecord, isSettled } from './record.ts';
import { subRecordId } from './record-id.ts';
import type { Handler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';
import type { View } from './view.ts';

/** What a controller knows about one object at this moment. */
export interface ObjectStatus {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /**
   * Every handler and sub in scope has its final outcome on what it sees of the newest known state, and none is left to
   * retire. Of an object that is deleting: the same of the handlers for deletions.
   */
  readonly settled: boolean;
  /** The same, and each of them last *succeeded* on what it sees of the newest known state. */
  readonly succeeded: boolean;
  /** Whether its calls are held back; `undefined` where the controller has no `breaker` (A33'). */
  readonly breaker: BreakerStatus | undefined;
  /** Handlers in the order of registration, each followed by its planned subs, these by their own, and by those that it has to retire. */
  readonly handlers: readonly HandlerStatus[];
}

export interface HandlerStatus {
  /** `handler`, `handler/sub`, or, for a sub of a sub, `handler/sub/sub`. */
  readonly id: string;
  readonly inScope: boolean;
  /** Of what it sees of the newest known state; `undefined` out of scope. */
  readonly digest: string | undefined;
  /**
   * Of the last attempt; `new` before the first one. `open` covers running, waiting and interrupted attempts. `retiring`:
   * a sub that has left the plan, and whose work is to be undone.
   */
  readonly state: 'new' | 'open' | 'ok' | 'failed' | 'retiring';
  /** The digest of the last attempt. */
  readonly attempted: string | undefined;
  /** The digest of the last success; for a parent, of the last one that all of its subs have followed. */
  readonly succeeded: string | undefined;
  /** Failed attempts on the last input. */
  readonly attempts: number;
  /** Wall time of the next attempt in ms since the epoch, if one is waited for. */
  readonly wakeWallMs: number | undefined;
  /** What `when`, `select`, `view` or the digest threw on the newest state: the handler cannot be called on it. */
  readonly fault: unknown;
  /** Own writes call it again and again, so that it is slowed down: how often by now, and what differs each time (A8'). */
  readonly loop: Loop | undefined;
}

/** Describes the newest known state; `undefined` if nothing lives under the name. */
export function inspect(state: ObjectState | undefined, handlers: readonly Handler[]): ObjectStatus | undefined {
  const snapshot = state?.newest;
  if (state === undefined || snapshot === undefined) return undefined;
  const isCurrent = state.memory?.uid === snapshot.uid;
  const doc = (isCurrent ? state.memory?.effective(state.name) : undefined) ?? emptyDocument(snapshot.uid, state.name);
  const memory = isCurrent ? state.memory : undefined;
  const statuses = handlers.flatMap((handler) => statusesOf(handler, snapshot, doc, memory));
  // Of those out of scope: who would be in it but for a fault, and whose work is still to be undone.
  const concerned = statuses.filter(
    (status) => status.inScope || status.fault !== undefined || status.state === 'retiring',
  );
  return {
    name: snapshot.name,
    uid: snapshot.uid,
    resourceVersion: snapshot.resourceVersion,
    deleting: snapshot.deleting,
    breaker: isCurrent ? state.memory?.breaker?.status : undefined,
    settled: concerned.every(
      ({ id, digest, state }) => state !== 'retiring' && digest !== undefined && isSettled(doc.record(id), digest),
    ),
    succeeded: concerned.every(
      ({ digest, succeeded, state }) => digest !== undefined && state === 'ok' && succeeded === digest,
    ),
    handlers: statuses,
  };
}

function statusesOf(
  handler: Handler,
  snapshot: Snapshot,
  doc: DocumentVersion,
  memory: UidMemory | undefined,
): HandlerStatus[] {
  const guard = memory?.guard;
  // A handler for deletions is for no object that lives, and no other one for an object that is deleting.
  const isOfKind = snapshot.deleting === (handler.kind === 'delete');
  const record = doc.record(handler.id);
  const view = isOfKind && !isNotForThisStep(handler, record, doc, snapshot) ? snapshot.viewOf(handler) : undefined;
  const { id } = handler;
  const root = { id, handler, entry: undefined, parent: undefined };
  const isPlanned = view !== undefined && isPlannedAt(record, view.digest);
  // `done` of a parent is written with the last outcome of its subs; without a write it may lag behind what is true.
  const isDone = isPlanned && isComplete(root, doc, snapshot);
  const done = isDone ? view.digest : undefined;
  // Who is called for the creation alone, or once by this process, has done its part, whatever the object looks like now.
  const isCreated = handler.kind === 'create' && record?.attempt?.state === 'ok' && record.done !== null;
  const isOver = isCreated || memory?.resumed.has(id) === true;
  const seen = view !== undefined && isOver ? { value: undefined, digest: record?.attempt?.digest ?? '' } : view;
  const parent = statusOf(
    id,
    seen,
    record,
    isOver && record?.attempt?.state === 'ok' ? seen?.digest : done,
    snapshot.faultOf(id),
    guard?.loopOf(id),
  );
  const retiring = handler.retire === undefined ? [] : doc.retiring(handler.id);
  return [
    parent,
    ...subStatusesOf(root, isPlanned, snapshot, doc, guard),
    ...retiring.map((id) => retiringStatus(id, doc.record(id))),
  ];
}

/** Of the subs of a parent, each followed by its own; out of scope below one that is not planned. */
function subStatusesOf(
  parent: Parent,
  isPlanned: boolean,
  snapshot: Snapshot,
  doc: DocumentVersion,
  guard: LoopGuard | undefined,
): HandlerStatus[] {
  return (doc.record(parent.id)?.plan ?? []).flatMap((entry) => {
    const id = subRecordId(parent.id, entry.id);
    const record = doc.record(id);
    const sub = { id, handler: parent.handler, entry, parent };
    const view = isPlanned ? snapshot.viewOfSub(parent, entry) : undefined;
    const isParent = view !== undefined && isPlannedAt(record, view.digest);
    const done = isParent && isComplete(sub, doc, snapshot) ? view.digest : undefined;
    const status = statusOf(id, view, record, done, snapshot.faultOf(id), guard?.loopOf(id));
    return [status, ...subStatusesOf(sub, isParent, snapshot, doc, guard)];
  });
}

/** Not called for this state, whose change it is not for, and not called for it before. */
function isNotForThisStep(
  handler: Handler,
  record: HandlerRecord | undefined,
  doc: DocumentVersion,
  snapshot: Snapshot,
): boolean {
  const digest = snapshot.viewOf(handler)?.digest;
  return digest !== undefined && !isSettled(record, digest) && isFilteredStep(handler, doc, snapshot);
}

function retiringStatus(id: string, record: HandlerRecord | undefined): HandlerStatus {
  const { failures = 0, wakeAtWallMs = 0 } = record?.retirement ?? {};
  return {
    ...statusOf(id, undefined, record, undefined, undefined, undefined),
    state: 'retiring',
    attempts: failures,
    wakeWallMs: wakeAtWallMs === 0 ? undefined : wakeAtWallMs,
  };
}

function statusOf(
  id: string,
  view: View | undefined,
  record: HandlerRecord | undefined,
  complete: string | undefined,
  fault: unknown,
  loop: Loop | undefined,
): HandlerStatus {
  const attempt = record?.attempt ?? undefined;
  return {
    id,
    inScope: view !== undefined,
    digest: view?.digest,
    state: attempt?.state ?? 'new',
    attempted: attempt?.digest,
    succeeded: complete ?? record?.done ?? undefined,
    attempts: attempt?.failures ?? 0,
    wakeWallMs: attempt === undefined || attempt.wakeAtWallMs === 0 ? undefined : attempt.wakeAtWallMs,
    fault,
    loop: loop && { episodes: loop.episodes, paths: loop.paths },
  };
}
