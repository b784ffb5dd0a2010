import type { DocumentVersion } from './document-version.ts';
import type { HandlerRecord } from './record.ts';
import type { Handler } from './registry.ts';
import { doneSchemaOf, readSchema } from './schema.ts';
import { seenBaseOf } from './seen-base.ts';
import type { Snapshot } from './snapshot.ts';
import { digestOfView, type View } from './view.ts';

/** What is to be recorded of a state without a call. */
export interface Adoption {
  /** Can be done over, on any document. */
  readonly apply: (doc: DocumentVersion) => DocumentVersion;
  /** It is of use only beside other records: an object that nobody cares about gets no document. */
  readonly isOptional: boolean;
}

/**
 * What handlers take as done without a call (A14'), `undefined` if nothing.
 *
 * | handler | record | state | what is recorded |
 * | --- | --- | --- | --- |
 * | `update` | none | in scope | done: the first view is what it has before its first change |
 * | `onAdded: 'adopt'` | none, no others either | any | seen: from now on it is like any other handler |
 * | `onAdded: 'adopt'` | none, but others | in scope | done: the handler is new, the object is not |
 * | `onAdded: 'adopt'` | none, but others | out of scope | seen: when it comes into scope, it is called (row 26) |
 * | any, its view is defined otherwise now | ok | in scope | done, if what it sees was so at its last success; or by `onSchemaChange` |
 *
 * A view is defined by the rules of the essence, too, if it is the default one.
 */
export function adoptionOn(
  doc: DocumentVersion,
  handlers: readonly Handler[],
  snapshot: Snapshot,
): Adoption | undefined {
  if (snapshot.deleting) return undefined;
  const isNew = doc.isEmpty;
  const changes = handlers.flatMap((handler) => changeOf(doc, handler, snapshot, isNew) ?? []);
  if (changes.length === 0) return undefined;
  return {
    apply: (stored) => {
      const found = handlers.flatMap((handler) => changeOf(stored, handler, snapshot, stored.isEmpty) ?? []);
      return found.reduce((next, change) => change(next), stored);
    },
    isOptional:
      isNew && !handlers.some((handler) => handler.kind === 'update' && snapshot.viewOf(handler) !== undefined),
  };
}

type Change = (doc: DocumentVersion) => DocumentVersion;

function changeOf(doc: DocumentVersion, handler: Handler, snapshot: Snapshot, isNew: boolean): Change | undefined {
  const { id, kind, schema } = handler;
  const record = doc.record(id);
  const adopts = handler.onAdded === 'adopt';
  if (record === undefined && kind !== 'update' && !adopts) return undefined;
  const view = snapshot.viewOf(handler);
  if (record === undefined) {
    if (view !== undefined && (kind === 'update' || !isNew)) return adopting(handler, view);
    return adopts ? (next) => next.mark(id) : undefined;
  }
  if (view === undefined || record.schema === schema || record.attempt?.digest === view.digest) return undefined;
  return isSameInput(doc, record, handler, snapshot, view) ? adopting(handler, view) : undefined;
}

function adopting({ id, kind, schema }: Handler, view: View): Change {
  return (next) => next.adopt(id, view.digest, kind === 'create' ? undefined : view.value, schema);
}

/**
 * Whether the last success, on a view that was defined otherwise, was on what the handler sees now. That can be told
 * where the new view is a part of the old one; else `onSchemaChange` says. A parent is called: its plan belongs to its view.
 */
function isSameInput(
  doc: DocumentVersion,
  record: HandlerRecord,
  handler: Handler,
  snapshot: Snapshot,
  view: View,
): boolean {
  const { attempt, done, plan } = record;
  if (attempt?.state !== 'ok' || attempt.digest !== done || plan !== undefined) return false;
  const adopts = handler.onSchemaChange === 'adopt';
  // Another function may select something else from what is the same object.
  const old = handler.select === undefined ? seenBaseOf(doc, record, handler, snapshot) : undefined;
  if (old === undefined) return adopts;
  if (digestOfView(old.value) !== digestOfView(view.value)) return false;
  // What is seen is the same; what the handler makes of it is not, where it says so.
  return readSchema(doneSchemaOf(record)).version === handler.version || adopts;
}
