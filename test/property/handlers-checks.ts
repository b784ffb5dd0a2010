import type { Controller } from '../../src/handlers/controller.ts';
import { digestOfView } from '../../src/handlers/view.ts';
import type { SourceObject, SourcePatch, SourcePatchResult } from '../../src/types/source.ts';
import type { Thing } from '../unit/handlers/harness.ts';
import { type Journal, textOf } from './handlers-journal.ts';
import type { DeletionPlan, HandlerPlan, SubPlan } from './handlers-program.ts';
import { inputOf, isLabelled, recordId, type SubPath, seenBy, subInput, subsOf } from './handlers-views.ts';
import type { Process } from './handlers-world.ts';

/** The handler for deletions. */
export const DELETION = 'd';

/** A process and what is registered in it. */
interface Version {
  readonly process: Process;
  readonly handlers: readonly HandlerPlan[];
  readonly deletion: DeletionPlan | undefined;
}

/** Nothing is written into an object whose deletion was seen, but for the end of it; and that only when all is done. */
export function checkPatch(
  journal: Journal,
  { process, handlers, deletion }: Version,
  change: SourcePatch,
  result: SourcePatchResult<Thing> | undefined,
): void {
  const { uid, removeFinalizer } = change;
  if (result === undefined) {
    if (process.buried.has(uid) && removeFinalizer === undefined) {
      journal.violate("I12'", `${uid} is patched after its deletion was seen`);
    }
    return;
  }
  if (removeFinalizer === undefined || result.type !== 'patched') return;
  const record = journal.docs.get(uid)?.records[DELETION];
  const isInScope = deletion?.onlyLabelled !== true || isLabelled(result.object.object);
  if (deletion !== undefined && isInScope && (record?.attempt ?? { state: 'open' }).state === 'open') {
    journal.violate("I12'", `${uid} is released before its deletion was handled`);
  }
  for (const { id, retires, subs } of handlers) {
    const left = retires && subs !== undefined ? journal.effectsOf(uid, id) : [];
    if (left.length > 0) journal.violate("I12'", `${uid} is released with effects of ${left.join(', ')}`);
  }
}

/** What has to be so for a handler at rest (I1', I2', I10'). */
export function checkHandler(
  journal: Journal,
  controller: Controller<Thing>,
  object: SourceObject<Thing>,
  plan: HandlerPlan,
): void {
  if (plan.onlyLabelled && !isLabelled(object.object)) return;
  const view = seenBy(plan, object.object);
  const digest = digestOfView(view);
  const doc = journal.docs.get(object.uid);
  const record = doc?.records[plan.id];
  // Done for good with its first success, whatever the object looks like now.
  if (plan.kind === 'create' && (record?.done ?? null) !== null) return;
  checkSettled(journal, controller, object, plan.id, digest, inputOf(plan.id, view));
  if (record?.attempt?.digest !== digest || record.attempt.state !== 'ok') return;
  // Who has adopted what there was has no plan.
  const isAdopted = journal.adopted.has(`${object.uid} ${plan.id}`);
  const planned = isAdopted ? [] : subsOf(plan.subs, inputOf(plan.id, view));
  const expected = new Set<string>();
  checkPlan(journal, controller, object, plan, [], planned, expected);
  const others = plan.retires ? journal.effectsOf(object.uid, plan.id).filter((id) => !expected.has(id)) : [];
  if (others.length > 0) journal.violate("I10'", `${object.uid}: effects of ${textOf(others)} are left`);
  checkDone(journal, object.uid, plan.id, digest, planned);
}

/** What has to be so for the subs of a parent that is planned at what it sees; collects all that may have left effects. */
function checkPlan(
  journal: Journal,
  controller: Controller<Thing>,
  object: SourceObject<Thing>,
  plan: HandlerPlan,
  path: SubPath,
  planned: readonly SubPlan[],
  expected: Set<string>,
): void {
  const parentId = recordId(plan, path);
  const records = journal.docs.get(object.uid)?.records ?? {};
  const below = Object.keys(records).filter((id) => id.startsWith(`${parentId}/`));
  const found = below.filter((id) => !id.slice(parentId.length + 1).includes('/')).sort();
  const ids = planned.map(({ id }) => `${parentId}/${id}`).sort();
  if (textOf(ids) !== textOf(found)) {
    journal.violate("I10'", `${object.uid} ${parentId}: records of ${textOf(found)}, planned ${textOf(ids)}`);
  }
  for (const sub of planned) {
    const own = [...path, sub];
    const id = recordId(plan, own);
    const { digest, input } = subInput(plan, own, object.object);
    expected.add(id);
    checkSettled(journal, controller, object, id, digest, input);
    if (records[id]?.attempt?.state !== 'ok') {
      // What was planned below it before it failed rests.
      for (const resting of below) if (resting.startsWith(`${id}/`)) expected.add(resting);
      continue;
    }
    const subs = subsOf(sub.subs, input);
    checkPlan(journal, controller, object, plan, own, subs, expected);
    checkDone(journal, object.uid, id, digest, subs);
  }
}

/** At rest a parent that is planned is complete, and its `done` says so. */
function checkDone(journal: Journal, uid: string, id: string, digest: string, planned: readonly SubPlan[]): void {
  // Complete without a write, where a field has come back to a settled value: `done` follows with the next outcome.
  if (hasFields(planned)) return;
  const done = journal.docs.get(uid)?.records[id]?.done;
  if (done !== digest) journal.violate("A9'a", `${uid} ${id}: complete, but done is ${done}`);
}

function hasFields(planned: readonly SubPlan[]): boolean {
  return planned.some(({ field, subs }) => field !== undefined || (subs ?? []).some(hasFields));
}

function checkSettled(
  journal: Journal,
  controller: Controller<Thing>,
  { name, uid }: SourceObject<Thing>,
  id: string,
  digest: string,
  input: string,
): void {
  const attempt = journal.docs.get(uid)?.records[id]?.attempt;
  if (attempt?.digest !== digest || attempt.state === 'open') {
    journal.violate("I1'", `${uid} ${id}: not settled at ${digest} but ${attempt?.state} at ${attempt?.digest}`);
    return;
  }
  const effect = journal.ledger.get(`${uid} ${id}`);
  if (journal.adopted.has(`${uid} ${id}`)) return;
  if (attempt.state === 'ok' && (effect?.input !== input || effect.partial)) {
    journal.violate(
      "I2'",
      `${uid} ${id}: ok at ${input}, the world has ${effect?.input} (${effect?.partial ? 'partial' : 'whole'})`,
    );
  }
  const status = controller.state(name)?.handlers.find((handler) => handler.id === id);
  if (status?.digest !== digest || status.attempted !== digest || status.state !== attempt.state) {
    journal.violate('state', `${uid} ${id}: ${JSON.stringify(status)}`);
  }
}
