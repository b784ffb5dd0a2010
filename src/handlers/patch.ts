import { unescapeSegment } from '../core/json-pointer.ts';
import type { JsonPatch, JsonPatchOperation, MergePatch, Patch } from '../types/patch.ts';
import { shown } from '../types/shown.ts';
import { equalData } from './diff.ts';
import { isObject, misfit, own, PatchDraft, setOwn } from './patch-draft.ts';

/** An array is a JSON patch, everything else a merge patch. */
export function isJsonPatch(patch: Patch): patch is JsonPatch {
  return Array.isArray(patch);
}

/**
 * The object as it is after the patch. Neither is changed; parts that stay the same are shared.
 *
 * Throws `ValueError` where a JSON patch cannot be applied: a place is not there, or a `test` fails. `path` says where.
 */
export function applyPatch(object: unknown, patch: Patch): unknown {
  return isJsonPatch(patch) ? applyJsonPatch(object, patch) : merge(object, patch);
}

/** Applies one patch after the other. */
export function applyPatches(object: unknown, patches: readonly Patch[]): unknown {
  return patches.reduce<unknown>(applyPatch, object);
}

/**
 * Checks the form of a patch that was given by a user. That it fits an object shows when it is applied.
 *
 * Throws `TypeError` for what is no patch, an unknown operation, and a path that is no JSON pointer.
 */
export function checkPatch(action: string, patch: unknown): void {
  if (typeof patch !== 'object' || patch === null) {
    throw new TypeError(`Cannot ${action}: the patch is ${patch === null ? 'null' : typeof patch}, not an object`);
  }
  if (!Array.isArray(patch)) return;
  for (const [index, operation] of patch.entries()) checkOperation(`${action}: operation ${index}`, operation);
}

const OPERATIONS: readonly string[] = ['add', 'replace', 'test', 'remove', 'move', 'copy'];

function checkOperation(action: string, operation: unknown): void {
  if (typeof operation !== 'object' || operation === null) throw new TypeError(`Cannot ${action} is not an object`);
  const op: unknown = Reflect.get(operation, 'op');
  if (typeof op !== 'string' || !OPERATIONS.includes(op)) {
    throw new TypeError(`Cannot ${action} has the op ${shown(op)}, allowed are ${OPERATIONS.join(', ')}`);
  }
  for (const name of op === 'move' || op === 'copy' ? ['path', 'from'] : ['path']) {
    const pointer: unknown = Reflect.get(operation, name);
    if (typeof pointer !== 'string' || !/^(?:\/(?:[^~]|~[01])*)?$/.test(pointer)) {
      throw new TypeError(`Cannot ${action} has the ${name} ${String(pointer)}, which is no JSON pointer`);
    }
  }
  if (['add', 'replace', 'test'].includes(op) && Reflect.get(operation, 'value') === undefined) {
    throw new TypeError(`Cannot ${action} has no value`);
  }
}

function merge(target: unknown, patch: MergePatch): unknown {
  const merged = isObject(target) ? { ...target } : {};
  for (const [name, part] of Object.entries(patch)) {
    if (part === undefined) continue;
    if (part === null) delete merged[name];
    else setOwn(merged, name, isObject(part) ? merge(own(merged, name), part) : part);
  }
  return merged;
}

function applyJsonPatch(object: unknown, patch: JsonPatch): unknown {
  const draft = new PatchDraft(object);
  for (const operation of patch) applyOperation(draft, operation);
  return draft.root;
}

function applyOperation(draft: PatchDraft, operation: JsonPatchOperation): void {
  const path = segmentsOf(operation.path);
  switch (operation.op) {
    case 'add':
      draft.insert(path, operation.value);
      break;
    case 'replace':
      draft.replace(path, operation.value);
      break;
    case 'remove':
      draft.remove(path);
      break;
    case 'test':
      if (!equalData(draft.read(path), operation.value)) throw misfit(path, 'is not what the test expects');
      break;
    case 'copy':
      draft.copy(segmentsOf(operation.from), path);
      break;
    case 'move': {
      const from = segmentsOf(operation.from);
      const isInside = path.length > from.length && from.every((segment, index) => path[index] === segment);
      if (isInside) throw misfit(path, 'is inside of what is moved');
      draft.move(from, path);
    }
  }
}

/** Of a JSON pointer. */
export function segmentsOf(pointer: string): readonly string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map(unescapeSegment);
}
