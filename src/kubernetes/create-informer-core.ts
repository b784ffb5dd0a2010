import { checkChoice, checkFlag, checkMembers } from '../store/checks.ts';
import { systemClock } from '../system/system-clock.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkMethods } from '../types/check-methods.ts';
import { isPromise } from '../types/is-promise.ts';
import { InformerCore, type InformerCoreOptions } from './informer-core.ts';
import { type CompareVersions, compareVersions, type VersionOrder } from './resource-version.ts';

const ACTION = 'create an informer core';
const NAMES: ReadonlySet<string> = new Set<keyof InformerCoreOptions>([
  'clock',
  'compare',
  'isSelective',
  'tombstoneMs',
  'tombstonesMax',
]);

/**
 * What is known of the objects of one kind, from lists and events of whatever transport. See {@link InformerCore} for what it
 * promises, and docs/spec/informers.md for its rules.
 *
 * @example
 * ```ts
 * import { createVirtualClock } from 'plimsoll/testing';
 * import { createInformerCore } from 'plimsoll/kubernetes';
 *
 * const pod = (resourceVersion: string) => ({ metadata: { name: 'web', namespace: 'a', uid: 'u1', resourceVersion } });
 * const core = createInformerCore({ clock: createVirtualClock() });
 * const list = core.beginList();
 * list.add([pod('7')]);
 * list.end('9');
 * console.log(core.apply({ type: 'MODIFIED', object: pod('6') }).ignored); // older
 * console.log(core.apply({ type: 'DELETED', object: pod('12') }).deltas[0]?.type, core.size); // deleted 0
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be
 */
export function createInformerCore<T = unknown>(options: InformerCoreOptions = {}): InformerCore<T> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const { clock = systemClock, compare = compareVersions, tombstoneMs = 600_000, tombstonesMax = 10_000 } = options;
  const isSelective = checkFlag('isSelective', options.isSelective, ACTION);
  checkMethods('clock', clock, ACTION, ['now']);
  if (typeof compare !== 'function') throw new TypeError(`Cannot ${ACTION}: compare is not a function`);
  checkInteger('tombstoneMs', tombstoneMs, ACTION, 1);
  checkInteger('tombstonesMax', tombstonesMax, ACTION, 0);
  const order = compare === compareVersions ? compare : checked(compare);
  return new InformerCore<T>({ clock, compare: order, isSelective, tombstoneMs, tombstonesMax });
}

/** One's own order, whose answers are believed for what they are only. */
function checked(compare: CompareVersions): CompareVersions {
  return (a, b) => {
    const order: unknown = compare(a, b);
    isPromise(order);
    checkChoice('what compare answered', order, 'compare versions', ORDERS);
    return order as VersionOrder;
  };
}

const ORDERS: readonly VersionOrder[] = ['older', 'same', 'newer', 'unknown'];
