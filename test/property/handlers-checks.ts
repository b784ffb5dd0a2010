import type { Controller } from '../../src/handlers/controller.ts';
import { digestOfView } from '../../src/handlers/view.ts';
import type { SourceObject, SourcePatch, SourcePatchResult } from '../../src/types/source.ts';
import type { Thing } from '../unit/handlers/harness.ts';
import { type Journal, textOf } from './handlers-journal.ts';
import type { DeletionPlan, HandlerPlan } from './handlers-program.ts';
import { inputOf, isLabelled, seenBy, subInput, subsOf } from './handlers-views.ts';
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
  const planned = isAdopted ? [] : subsOf(plan, view);
  for (const sub of planned) {
    const { digest: subDigest, input } = subInput(plan, sub, object.object);
    checkSettled(journal, controller, object, `${plan.id}/${sub.id}`, subDigest, input);
  }
  const expected = planned.map(({ id }) => `${plan.id}/${id}`).sort();
  const found = Object.keys(doc?.records ?? {})
    .filter((id) => id.startsWith(`${plan.id}/`))
    .sort();
  if (textOf(expected) !== textOf(found)) {
    journal.violate("I10'", `${object.uid} ${plan.id}: records of ${textOf(found)}, planned ${textOf(expected)}`);
  }
  const others = plan.retires ? journal.effectsOf(object.uid, plan.id).filter((id) => !expected.includes(id)) : [];
  if (others.length > 0) journal.violate("I10'", `${object.uid}: effects of ${textOf(others)} are left`);
  // Complete without a write, where a field has come back to a settled value: `done` follows with the next outcome.
  if (record.done !== digest && planned.every(({ field }) => field === undefined))
    journal.violate("A9'a", `${object.uid} ${plan.id}: complete, but done is ${record.done}`);
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
