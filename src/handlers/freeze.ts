import { DEPTH_MAX } from '../core/canonical-text.ts';
import { ValueError } from '../types/errors.ts';

/** Roots that were frozen here to the last leaf. That a container is frozen says nothing of what it holds. */
const whole = new WeakSet<object>();

/**
 * Freezes plain data to the last leaf and returns it, so that no handler can change what another one sees (I5'). Whoever
 * made the data may have frozen the top of it alone, so frozen containers are walked like others; a value that has been
 * through here costs one look-up.
 *
 * Throws `ValueError` for what is nested deeper than JSON data may be, rather than overflow the stack.
 * Not frozen: bytes (the platform refuses), and what maps, sets and class instances hide from `Object.values`.
 */
export function deepFreeze<T>(value: T): T {
  freeze(value, new Set(), 0);
  if (isContainer(value)) whole.add(value);
  return value;
}

/** `seen`: containers of this walk, for values that share parts or contain themselves. */
function freeze(value: unknown, seen: Set<object>, depth: number): void {
  if (!isContainer(value) || whole.has(value) || seen.has(value)) return;
  if (depth > DEPTH_MAX) {
    throw new ValueError('freeze an object', { path: '', reason: `is nested deeper than ${DEPTH_MAX} levels` });
  }
  seen.add(value);
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part, seen, depth + 1);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
}
