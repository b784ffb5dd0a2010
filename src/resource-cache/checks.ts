import { checkFlag, checkMembers } from '../store/checks.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkSignal } from '../types/check-signal.ts';
import { shown } from '../types/shown.ts';
import type { ResourceKey } from './resource-key.ts';

/** What calls of a resource store check in what they are given, before anything else happens. */

const SELECTOR_NAMES: ReadonlySet<string> = new Set(['group', 'kind', 'namespace']);
const WALK_NAMES: ReadonlySet<string> = new Set(['sliceMs', 'signal']);
const HANDLER_NAMES: ReadonlySet<string> = new Set(['name', 'snapshotView', 'coalesce', 'queueMax']);

/** Throws TypeError for what is no key. */
export function checkKey(key: ResourceKey, action: string): void {
  if (typeof key !== 'object' || key === null) throw new TypeError(`Cannot ${action}: the key is ${shown(key)}`);
  // One by one: a walk may begin with a hundred thousand of them.
  checkText('group', key.group, action);
  checkText('kind', key.kind, action);
  checkText('namespace', key.namespace, action);
  checkText('name', key.name, action);
}

/** Which kind and namespace are meant. Throws TypeError for a misspelt member, and for a group without a kind. */
export function checkSelector(
  selector: { readonly group?: string; readonly kind?: string; readonly namespace?: string },
  action: string,
): { readonly namespace: string | undefined; readonly groupKind: { group: string; kind: string } | undefined } {
  checkMembers(selector, SELECTOR_NAMES, action, 'the selector is not an object', 'member of a selector');
  const { group, kind, namespace } = selector;
  if (namespace !== undefined) checkText('namespace', namespace, action);
  if (group === undefined && kind === undefined) return { namespace, groupKind: undefined };
  checkText('group', group, action);
  checkText('kind', kind, action);
  return { namespace, groupKind: { group: group as string, kind: kind as string } };
}

/** Throws TypeError for what is no kind. */
export function checkGroupKind(groupKind: { readonly group: string; readonly kind: string }, action: string): void {
  if (typeof groupKind !== 'object' || groupKind === null)
    throw new TypeError(`Cannot ${action}: the kind is ${shown(groupKind)}, not an object with group and kind`);
  checkText('group', groupKind.group, action);
  checkText('kind', groupKind.kind, action);
  if (groupKind.kind === '') throw new TypeError(`Cannot ${action}: kind is empty`);
}

export function checkWalk(keys: readonly ResourceKey[], visit: unknown, action: string, options?: object): void {
  if (!Array.isArray(keys)) throw new TypeError(`Cannot ${action}: the keys are ${shown(keys)}, not an array`);
  for (const key of keys) checkKey(key, action);
  if (typeof visit !== 'function') throw new TypeError(`Cannot ${action}: visit is ${shown(visit)}, not a function`);
  if (options === undefined) return;
  checkMembers(options, WALK_NAMES, action, 'the options are not an object', 'option');
  const { sliceMs, signal } = options as { sliceMs?: unknown; signal?: unknown };
  if (sliceMs !== undefined) checkInteger('sliceMs', sliceMs, action, 1);
  checkSignal(signal, action);
}

export function checkHandlerOptions(handler: unknown, options: object): void {
  const action = 'subscribe';
  if (typeof handler !== 'function') throw new TypeError(`Cannot ${action}: the handler is ${shown(handler)}`);
  checkMembers(options, HANDLER_NAMES, action, 'the options are not an object', 'option');
  const { name, snapshotView, coalesce, queueMax } = options as Record<string, unknown>;
  if (name !== undefined) checkText('name', name, action);
  checkFlag('snapshotView', snapshotView, action);
  checkFlag('coalesce', coalesce, action);
  if (queueMax !== undefined) checkInteger('queueMax', queueMax, action, 1);
}

export function checkText(name: string, value: unknown, action: string): void {
  if (typeof value !== 'string') throw new TypeError(`Cannot ${action}: ${name} is ${shown(value)}, not a string`);
}
