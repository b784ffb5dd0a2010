import { createEssenceHasherWith } from '../../src/core/essence-hasher.ts';
import { coreModule } from '../../src/core/module.ts';
import type { CallContext } from '../../src/handlers/context.ts';
import { applyPatch } from '../../src/handlers/patch.ts';
import { parsePath, valueAt } from '../../src/handlers/path.ts';
import { digestOfSub, digestOfView } from '../../src/handlers/view.ts';
import type { Thing } from '../unit/handlers/harness.ts';
import { type CallEntry, type Ending, type Seen, textOf } from './handlers-journal.ts';
import type { HandlerPlan, SubPlan, WritePlan } from './handlers-program.ts';
import type { Process } from './handlers-world.ts';

/** What the handlers of a program see and write: worked out here a second time, apart from the controller. */
export const kubernetes = createEssenceHasherWith(coreModule());
export const TIMEOUT_MS = 300;

export function isLabelled(object: Thing): boolean {
  return valueAt(object, ['metadata', 'labels', 'on']) === 1;
}

export function seenBy(plan: HandlerPlan, object: Thing): unknown {
  return plan.field === undefined
    ? JSON.parse(kubernetes.canonicalize(object))
    : valueAt(object, parsePath(plan.field));
}

/** A number for each view, so that a plan is a function of the view alone; and not of what the parent itself writes into it. */
export function subsOf({ id, subs }: HandlerPlan, view: unknown): readonly SubPlan[] {
  let sum = 0;
  for (const letter of inputOf(id, view)) sum += letter.charCodeAt(0);
  return subs?.[sum % subs.length] ?? [];
}

export function subOptions(plan: HandlerPlan, sub: SubPlan) {
  return {
    retries: sub.retries,
    timeoutMs: TIMEOUT_MS,
    ...(sub.args === undefined ? {} : { args: sub.args }),
    ...(sub.field === undefined ? {} : { field: sub.field }),
    ...(sub.selects ? { select: (view: unknown) => half(plan, view) } : {}),
  };
}

/** Half of what there is to see, so that some changes of the parent's view are none for the sub. */
export function half({ id }: HandlerPlan, view: unknown): unknown {
  const text = inputOf(id, view);
  return text.length % 2 === 0 ? text.slice(0, 8) : (valueAt(view, ['a']) ?? null);
}

export function subView(plan: HandlerPlan, sub: SubPlan, object: Thing): unknown {
  if (sub.field !== undefined) return valueAt(object, parsePath(sub.field));
  const view = seenBy(plan, object);
  return sub.selects ? half(plan, view) : view;
}

export function subInput(plan: HandlerPlan, sub: SubPlan, object: Thing): { digest: string; input: string } {
  const seen = subView(plan, sub, object);
  return {
    digest: digestOfSub(seen, sub.args),
    input: inputOf(`${plan.id}-${sub.id}`, [seen ?? 'undefined', sub.args ?? 'undefined']),
  };
}

/** A view without the places that one handler writes. */
export function inputOf(writer: string, view: unknown): string {
  return textOf(without(view, (name) => name === `w-${writer}` || name === `e-${writer}`));
}

/** A number that is a function of what nobody writes: so that the writes of all handlers come to rest. */
export function numberOf(view: unknown): number {
  let sum = 0;
  for (const letter of textOf(without(view, (name) => /^[we]-/.test(name)))) sum += letter.charCodeAt(0);
  return sum % 3;
}

function without(view: unknown, isOut: (name: string) => boolean): unknown {
  if (view === undefined) return undefined;
  return JSON.parse(JSON.stringify(view, (name, part: unknown) => (isOut(name) ? undefined : part)));
}

export function isRevocable({ writes }: { readonly writes: WritePlan | undefined }): boolean {
  return writes?.ifUnchanged === true;
}

/** Who writes what, and what it sees of an object. */
export interface Writer {
  readonly id: string;
  readonly writes: WritePlan | undefined;
  readonly value: number;
  readonly look: (object: Thing) => unknown;
  readonly digestOn?: (view: unknown) => string;
}

/** Writes what a plan says, and works out what the handler sees with it. */
export function writeBy(
  context: CallContext<Thing>,
  { id, writes, value, look, digestOn = digestOfView }: Writer,
  ending: Ending,
  unwritten: Seen,
): Seen {
  if (writes === undefined || (ending !== 'ok' && !writes.onFailure)) return unwritten;
  const patch = { spec: ending === 'ok' ? { [`w-${id}`]: value } : { [`e-${id}`]: 1 } };
  context.patch(patch, writes.ifUnchanged ? { ifUnchanged: true } : {});
  const view = look(applyPatch(context.object, patch) as Thing);
  return { digest: digestOn(view), view };
}

/** What the journal is told of a call. */
export function entryOf(
  process: Process,
  { uid, idempotencyKey: key, object, old, cause, attempt, new: view, resourceVersion }: CallContext<Thing>,
  facts: Pick<CallEntry, 'id' | 'digest' | 'input' | 'retries' | 'isRebuild' | 'isRevocable' | 'args' | 'kind'>,
): CallEntry {
  const version = Number(resourceVersion);
  return { process: process.number, uid, key, version, object, view, old, cause, attempt, ...facts };
}
