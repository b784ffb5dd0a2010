import type { Controller } from '../../handlers/controller.ts';
import type { SourceObject } from '../../types/source.ts';
import { type Check, count, judge } from '../demo/checks.ts';
import type { Difference } from '../demo/difference.ts';
import type { App } from './app.ts';
import { PARENT, UPDATE } from './handlers.ts';
import type { OutsideWorld } from './outside-world.ts';

export interface ChaosCheckInput {
  /** Those that live at the end. */
  readonly objects: readonly SourceObject<App>[];
  readonly world: OutsideWorld;
  /** The last one. */
  readonly controller: Controller<App>;
  /** The number of its process. */
  readonly process: number;
  /** Uids of objects that were held when they were deleted. */
  readonly deleted: ReadonlySet<string>;
  /** What happened when everything that had ever happened was told once more. */
  readonly rest: { readonly calls: number; readonly writes: number };
}

/** Everything that has to be so at the end, whatever went wrong before. */
export function checkChaos(input: ChaosCheckInput): { readonly checks: readonly Check[]; readonly misses: number } {
  const missed = input.objects.flatMap((object) => missesOf(input, object));
  const checks = [
    checkLastState(input, missed),
    checkRetired(input),
    checkDeletions(input),
    checkPatches(input),
    checkResumed(input),
    checkRest(input),
  ];
  return { checks, misses: missed.length };
}

/** Handlers and subs of an object whose effect is not that of the last state; and what the controller says of itself. */
function missesOf({ world, controller }: ChaosCheckInput, { name, uid, object }: SourceObject<App>): Difference[] {
  const { image, zones } = object.spec;
  const missed = [PARENT, ...zones.map((zone) => `${PARENT}/${zone}`)].flatMap((id) => {
    const actual = world.effect(uid, id);
    return actual === image ? [] : [{ key: name, expected: `${id}: ${image}`, actual: actual ?? 'no effect' }];
  });
  // The first state counts as handled for a handler of updates, so it may have had nothing to do.
  const updated = world.effect(uid, UPDATE);
  if (updated !== undefined && updated !== image) {
    missed.push({ key: name, expected: `${UPDATE}: ${image}`, actual: updated });
  }
  const status = controller.state(name);
  if (missed.length === 0 && (status?.uid !== uid || !status.succeeded)) {
    missed.push({ key: name, expected: 'settled and succeeded', actual: JSON.stringify(status ?? 'unknown object') });
  }
  return missed;
}

function checkLastState({ objects }: ChaosCheckInput, missed: readonly Difference[]): Check {
  const handlers = objects.reduce((sum, { object }) => sum + 1 + object.spec.zones.length, 0);
  const of = `${handlers} handlers and sub-handlers of ${count(objects.length, 'object')}`;
  return judge('last state', missed[0], `${of} had their effect on the last state, 0 misses`);
}

function checkRetired({ objects, world }: ChaosCheckInput): Check {
  const left = objects.flatMap(({ name, uid, object }) => {
    const planned = new Set(object.spec.zones.map((zone) => `${PARENT}/${zone}`));
    return world
      .effects(uid)
      .filter((id) => id.includes('/') && !planned.has(id))
      .map((id) => ({ key: name, expected: `nothing of ${id}, which has left the plan`, actual: 'its effect' }));
  });
  return judge(
    'retired',
    left[0],
    `${count(world.retired, 'effect')} taken back of subs that left their plan, none is left`,
  );
}

function checkDeletions({ objects, world, deleted }: ChaosCheckInput): Check {
  const alive = new Set(objects.map(({ uid }) => uid));
  const [open] = [...deleted].filter((uid) => alive.has(uid) || !world.isReleased(uid));
  const [left] = world.uids.filter((uid) => !alive.has(uid));
  const difference =
    open !== undefined
      ? { key: open, expected: 'deleted, by its handler', actual: 'not deleted, or without it' }
      : left !== undefined
        ? { key: left, expected: 'nothing is left of a deleted object', actual: world.effects(left).join(', ') }
        : world.early === 0
          ? undefined
          : { key: '', expected: 'subs are retired before a deletion', actual: `${world.early} were not` };
  return judge(
    'deletions',
    difference,
    `${count(deleted.size, 'object')} deleted, each by its handler, nothing of them is left`,
  );
}

function checkPatches({ objects }: ChaosCheckInput): Check {
  const wrong = objects.find(({ object }) => object.status?.deployed !== object.spec.image);
  const difference = wrong && {
    key: wrong.name,
    expected: `status.deployed: ${wrong.object.spec.image}`,
    actual: wrong.object.status?.deployed ?? 'no status',
  };
  return judge('patches', difference, `${count(objects.length, 'object')} with the status of the last state`);
}

function checkResumed({ objects, world, process }: ChaosCheckInput): Check {
  const missing = objects.find(({ uid }) => world.greetings(uid, process) === 0);
  const difference = missing && { key: missing.name, expected: 'resumed in the last process', actual: 'not resumed' };
  return judge('resumed', difference, `${count(objects.length, 'object')} in the last process`);
}

function checkRest({ rest }: ChaosCheckInput): Check {
  const { calls, writes } = rest;
  const difference =
    calls + writes === 0
      ? undefined
      : { key: '', expected: '0 calls, 0 writes', actual: `${calls} calls, ${writes} writes` };
  return judge('rest', difference, 'all that is remembered told once more: 0 calls, 0 writes');
}
