import { type CallFacts, HandlerCall } from '../handlers/call-context.ts';
import type { HandlerFunction } from '../handlers/context.ts';
import type { ControllerOptions, HandlerOptions } from '../handlers/options.ts';
import { PatchCollector } from '../handlers/patch-collector.ts';
import { type Handler, Registry } from '../handlers/registry.ts';
import { Snapshot, type ViewRules } from '../handlers/snapshot.ts';
import { TimedCall } from '../handlers/timed-call.ts';
import { defaultViewBy, digestOfView, type View } from '../handlers/view.ts';
import { resolveBackoff } from '../queue/backoff.ts';
import { PlimsollError } from '../types/errors.ts';
import { checkKitOptions } from './kit-options.ts';

/** Options of {@link assertPlanOfView}. */
export interface PlanAssertionOptions<T = unknown> extends Pick<ControllerOptions<T>, 'essence' | 'view'> {
  /** How the parent is registered. */
  readonly handler: HandlerOptions<T>;
  readonly fn: HandlerFunction<T>;
  /** Objects to call it on: pairs of them should have an equal view and differ elsewhere. */
  readonly objects: readonly T[];
}

/**
 * Calls a parent on every object, twice, once as for a creation and once as for an update, and compares what it registers
 * where its view is the same: ids and args must be a function of the view alone (A9'b). A controller does not call a parent
 * for changes outside its view, so a plan that depends on them would stay as it was.
 *
 * Resolves to the number of comparisons of different objects; 0 means that the objects have shown nothing.
 *
 * @throws as a rejection: PlimsollError with code `ASSERTION` where two plans differ, and what the parent throws; TypeError
 * for options that cannot be
 * @example
 * ```ts
 * import { assertPlanOfView } from 'plimsoll/testing';
 *
 * const rest = { status: { ready: true } };
 * await assertPlanOfView<{ spec: { zones: string[] }; status?: object }>({
 *   handler: { id: 'rollout', field: 'spec' },
 *   fn: (ctx) => {
 *     for (const zone of (ctx.new as { zones: string[] }).zones) ctx.sub(zone, { args: zone }, () => {});
 *   },
 *   objects: [{ spec: { zones: ['a'] } }, { spec: { zones: ['a'] }, ...rest }],
 * });
 * ```
 */
export async function assertPlanOfView<T = unknown>(options: PlanAssertionOptions<T>): Promise<number> {
  checkKitOptions(options, ['handler', 'fn', 'objects', 'essence', 'view'], 'assert a plan');
  const registry = new Registry(resolveBackoff(), true);
  registry.add('change', options.handler, options.fn);
  const [handler] = registry.handlers;
  const plans = new Map<string, { readonly digest: string; readonly index: number }>();
  let comparisons = 0;
  for (const [index, object] of options.objects.entries()) {
    const snapshot = new Snapshot(sourceObject(object, index), rulesOf(options));
    const view = handler && snapshot.viewOf(handler);
    if (handler === undefined || view === undefined) continue;
    for (const cause of ['create', 'update'] as const) {
      const digest = await planOn(handler, snapshot, view, cause);
      const known = plans.get(view.digest) ?? { digest, index };
      plans.set(view.digest, known);
      if (known.index !== index) comparisons++;
      if (known.digest !== digest) {
        const where = known.index === index ? `${index}, with another cause,` : `${known.index} and ${index}`;
        const reason = `the plans on objects ${where} differ, though its view is the same`;
        throw new PlimsollError('ASSERTION', `Cannot rely on the plan of "${handler.id}": ${reason}`);
      }
    }
  }
  return comparisons;
}

async function planOn(handler: Handler, snapshot: Snapshot, view: View, cause: 'create' | 'update'): Promise<string> {
  const { uid, name, resourceVersion, object } = snapshot;
  const facts: CallFacts = {
    object,
    uid,
    name,
    resourceVersion,
    old: cause === 'create' ? undefined : view.value,
    new: view.value,
    cause,
    attempt: 0,
    key: [uid, cause],
    call: new TimedCall(handler.id),
    patches: new PatchCollector(handler.id, true),
    // Ids and args must not depend on it, so an empty one will do.
    index: () => NO_INDEX,
  };
  const call = new HandlerCall(facts, handler, cause === 'update');
  await handler.fn(call);
  return digestOfView(call.seal().plan);
}

const NO_INDEX = Object.freeze({ get: () => [], has: () => false, keys: () => [], size: 0, omitted: 0 });

function sourceObject<T>(object: T, index: number) {
  return { name: `object-${index}`, uid: `uid-${index}`, resourceVersion: String(index + 1), deleting: false, object };
}

function rulesOf<T>({ view, essence }: PlanAssertionOptions<T>): ViewRules {
  return {
    process: 'assertion',
    // The objects are those of the caller, so this is where `T` becomes `unknown`.
    defaultView: defaultViewBy(view as ((object: unknown) => unknown) | undefined, essence),
    onFault: (_snapshot, _id, error) => {
      throw error;
    },
  };
}
