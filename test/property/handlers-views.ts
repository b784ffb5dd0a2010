import { createEssenceHasherWith } from '../../src/core/essence-hasher.ts';
import { coreModule } from '../../src/core/module.ts';
import type { CallContext } from '../../src/handlers/context.ts';
import { applyPatch } from '../../src/handlers/patch.ts';
import { parsePath, valueAt } from '../../src/handlers/path.ts';
import { digestOfSub, digestOfView } from '../../src/handlers/view.ts';
import type { Thing } from '../unit/handlers/harness.ts';
import { type CallEntry, type Ending, type Seen, textOf } from './handlers-journal.ts';
import type { HandlerPlan, SubPlan, SubPlans, WritePlan } from './handlers-program.ts';
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

/** A number for each input, so that a plan is a function of the view alone; and not of what the parent itself writes into it. */
export function subsOf(subs: SubPlans | undefined, input: string): readonly SubPlan[] {
  let sum = 0;
  for (const letter of input) sum += letter.charCodeAt(0);
  return subs?.[sum % subs.length] ?? [];
}

/** The subs of a handler on a way down to one of them. */
export type SubPath = readonly SubPlan[];

/** Names the record of a sub. */
export function recordId(plan: HandlerPlan, path: SubPath): string {
  return [plan.id, ...path.map(({ id }) => id)].join('/');
}

/** Names the places that a handler or sub writes. */
export function writerId(plan: HandlerPlan, path: SubPath): string {
  return recordId(plan, path).replaceAll('/', '-');
}

export function subOptions(plan: HandlerPlan, path: SubPath, sub: SubPlan) {
  const parent = writerId(plan, path);
  return {
    retries: sub.retries,
    timeoutMs: TIMEOUT_MS,
    ...(sub.args === undefined ? {} : { args: sub.args }),
    ...(sub.field === undefined ? {} : { field: sub.field }),
    ...(sub.selects ? { select: (view: unknown) => half(parent, view) } : {}),
  };
}

/** Half of what there is to see, so that some changes of the parent's view are none for the sub. */
function half(parent: string, view: unknown): unknown {
  const text = inputOf(parent, view);
  return text.length % 2 === 0 ? text.slice(0, 8) : (valueAt(view, ['a']) ?? null);
}

export function subView(plan: HandlerPlan, path: SubPath, object: Thing): unknown {
  const sub = path.at(-1);
  if (sub === undefined) return seenBy(plan, object);
  if (sub.field !== undefined) return valueAt(object, parsePath(sub.field));
  const above = path.slice(0, -1);
  const view = subView(plan, above, object);
  return sub.selects ? half(writerId(plan, above), view) : view;
}

/** Whether a sub sees a selection, its own or that of a parent: it stays as it is for as long as the plan. */
export function isSelected(path: SubPath): boolean {
  const sub = path.at(-1);
  if (sub === undefined || sub.field !== undefined) return false;
  return sub.selects || isSelected(path.slice(0, -1));
}

export function subInput(plan: HandlerPlan, path: SubPath, object: Thing): { digest: string; input: string } {
  const seen = subView(plan, path, object);
  const args = path.at(-1)?.args;
  return {
    digest: digestOfSub(seen, args),
    input: inputOf(writerId(plan, path), [seen ?? 'undefined', args ?? 'undefined']),
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
  /** Its own writes are news to it. */
  readonly selfTrigger?: boolean;
}

/** Writes what a plan says, and works out what the handler sees with it. */
export function writeBy(
  context: CallContext<Thing>,
  { id, writes, value, look, digestOn = digestOfView, selfTrigger = false }: Writer,
  ending: Ending,
  unwritten: Seen,
): Seen {
  if (writes === undefined || (ending !== 'ok' && !writes.onFailure)) return unwritten;
  const patch = { spec: ending === 'ok' ? { [`w-${id}`]: value } : { [`e-${id}`]: 1 } };
  context.patch(patch, writes.ifUnchanged ? { ifUnchanged: true } : {});
  if (selfTrigger) return unwritten;
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
