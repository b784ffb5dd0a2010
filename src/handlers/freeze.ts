import { DEPTH_MAX } from '../core/canonical-text.ts';
import { ValueError } from '../types/errors.ts';

/** Roots that were frozen here to the last leaf, and whether there are bytes in them. */
const whole = new WeakMap<object, boolean>();

/**
 * Freezes plain data to the last leaf and returns it, so that no handler can change what another one sees (I5'). Whoever
 * made the data may have frozen the top of it alone, so frozen containers are walked like others; a value that has been
 * through here costs one look-up.
 *
 * Throws `ValueError` for what is nested deeper than JSON data may be, rather than overflow the stack.
 * Not frozen: bytes (the platform refuses; see {@link handOut}), and what maps, sets and class instances hide from
 * `Object.values`.
 */
export function deepFreeze<T>(value: T): T {
  freezeRoot(value);
  return value;
}

/**
 * Freezes like {@link deepFreeze} and returns what can be given to somebody: the value itself, or, if there are bytes in
 * it, a copy of its containers with bytes of its own. Instances of classes cannot be copied: bytes in them are shared.
 */
export function handOut<T>(value: T): T {
  return freezeRoot(value) ? (copyWithBytes(value, new Map()) as T) : value;
}

/** Whether there are bytes in it. */
function freezeRoot(value: unknown): boolean {
  if (!isContainer(value)) return isBytes(value);
  const known = whole.get(value);
  if (known !== undefined) return known;
  const holdsBytes = freeze(value, {}, 0);
  whole.set(value, holdsBytes);
  return holdsBytes;
}

/**
 * For values that share parts or contain themselves: containers that were frozen when the walk came to them. One that was not
 * is new to it, so of most values there are none to be remembered; one that is met again is walked once more.
 */
interface Seen {
  frozen?: Set<object>;
}

function freeze(value: unknown, seen: Seen, depth: number): boolean {
  if (!isContainer(value)) return isBytes(value);
  const known = whole.get(value);
  if (known !== undefined) return known;
  if (Object.isFrozen(value)) {
    seen.frozen ??= new Set();
    if (seen.frozen.has(value)) return false;
    seen.frozen.add(value);
  }
  if (depth > DEPTH_MAX) {
    throw new ValueError('freeze an object', { path: '', reason: `is nested deeper than ${DEPTH_MAX} levels` });
  }
  Object.freeze(value);
  let holdsBytes = false;
  for (const part of Object.values(value)) {
    if (freeze(part, seen, depth + 1)) holdsBytes = true;
  }
  return holdsBytes;
}

/** `copies`: of the containers on the way, for values that share parts or contain themselves. */
function copyWithBytes(value: unknown, copies: Map<object, object>): unknown {
  if (isBytes(value)) return copyOfBytes(value);
  if (!isContainer(value) || !isPlain(value)) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const copy: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value));
  copies.set(value, copy);
  for (const [name, part] of Object.entries(value)) {
    Object.defineProperty(copy, name, { value: copyWithBytes(part, copies), enumerable: true });
  }
  return Object.freeze(copy);
}

/** A plain `slice` would not do: that of a Node `Buffer` shares the memory. */
function copyOfBytes(bytes: ArrayBufferView | ArrayBuffer): ArrayBufferView | ArrayBuffer {
  if (bytes instanceof ArrayBuffer) return bytes.slice(0);
  const { buffer, byteOffset, byteLength } = bytes;
  if (bytes instanceof DataView) return new DataView(buffer.slice(byteOffset, byteOffset + byteLength));
  return Uint8Array.prototype.slice.call(bytes as Uint8Array);
}

export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function isBytes(value: unknown): value is ArrayBufferView | ArrayBuffer {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isBytes(value);
}
