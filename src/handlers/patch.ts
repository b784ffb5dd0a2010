import { jsonPointer, unescapeSegment } from '../core/json-pointer.ts';
import { ValueError } from '../types/errors.ts';
import type { JsonPatch, JsonPatchOperation, MergePatch, Patch } from '../types/patch.ts';
import { equalData } from './diff.ts';

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
  return isJsonPatch(patch) ? patch.reduce(applyOperation, object) : merge(object, patch);
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
    throw new TypeError(`Cannot ${action} has the op ${String(op)}, allowed are ${OPERATIONS.join(', ')}`);
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
  const merged = isObject(target) ? copyOf(target) : {};
  for (const [name, part] of Object.entries(patch)) {
    if (part === undefined) continue;
    if (part === null) delete merged[name];
    else setOwn(merged, name, isObject(part) ? merge(own(merged, name), part) : part);
  }
  return merged;
}

function applyOperation(root: unknown, operation: JsonPatchOperation): unknown {
  const path = pathOf(operation.path);
  switch (operation.op) {
    case 'add':
      return insert(root, path, operation.value);
    case 'replace':
      read(root, path);
      return path.length === 0 ? operation.value : insert(remove(root, path), path, operation.value);
    case 'remove':
      return remove(root, path);
    case 'test':
      if (!equalData(read(root, path), operation.value)) throw misfit(path, 'is not what the test expects');
      return root;
    case 'copy':
      return insert(root, path, read(root, pathOf(operation.from)));
    case 'move': {
      const from = pathOf(operation.from);
      const isInside = path.length > from.length && from.every((segment, index) => path[index] === segment);
      if (isInside) throw misfit(path, 'is inside of what is moved');
      const value = read(root, from);
      return insert(remove(root, from), path, value);
    }
  }
}

function pathOf(pointer: string): readonly string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map(unescapeSegment);
}

function read(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const [index, segment] of path.entries()) {
    const found = Array.isArray(value) ? value[placeIn(value, segment, path, 0)] : own(value, segment);
    if (found === undefined) throw misfit(path.slice(0, index + 1), 'is not there');
    value = found;
  }
  return value;
}

function insert(root: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  return change(root, path, 0, (container, last) => {
    if (Array.isArray(container)) container.splice(placeIn(container, last, path, 1), 0, value);
    else setOwn(container, last, value);
  });
}

function remove(root: unknown, path: readonly string[]): unknown {
  if (path.length === 0) throw misfit(path, 'is the whole object, which cannot be removed');
  read(root, path);
  return change(root, path, 0, (container, last) => {
    if (Array.isArray(container)) container.splice(placeIn(container, last, path, 0), 1);
    else delete container[last];
  });
}

type Container = unknown[] | Record<string, unknown>;

/** Copies the containers on the way to a place and lets `edit` have the last one. */
function change(
  value: unknown,
  path: readonly string[],
  depth: number,
  edit: (container: Container, last: string) => void,
): unknown {
  const segment = path[depth];
  if (segment === undefined) return undefined;
  if (!Array.isArray(value) && !isObject(value)) throw misfit(path.slice(0, depth), 'is no object and no array');
  const copy: Container = Array.isArray(value) ? [...value] : copyOf(value);
  if (depth === path.length - 1) {
    edit(copy, segment);
    return copy;
  }
  const place = Array.isArray(copy) ? placeIn(copy, segment, path, 0) : segment;
  const part: unknown = own(copy, String(place));
  if (part === undefined) throw misfit(path.slice(0, depth + 1), 'is not there');
  setOwn(copy, String(place), change(part, path, depth + 1, edit));
  return copy;
}

/** `beyond`: how far behind the last element a place may be. */
function placeIn(array: readonly unknown[], segment: string, path: readonly string[], beyond: number): number {
  const place = segment === '-' ? array.length : /^(?:0|[1-9]\d*)$/.test(segment) ? Number(segment) : Number.NaN;
  if (!(place < array.length + beyond)) throw misfit(path, `has no place "${segment}" in an array of ${array.length}`);
  return place;
}

/** Bytes are one value, like a string: replaced as a whole. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  const isBytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBytes;
}

function own(value: unknown, name: string): unknown {
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function copyOf(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) setOwn(copy, name, part);
  return copy;
}

/** An assignment to `__proto__` would set the prototype. */
function setOwn(target: Container, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function misfit(path: readonly string[], reason: string): ValueError {
  return new ValueError('apply a JSON patch', { path: jsonPointer(path), reason });
}
