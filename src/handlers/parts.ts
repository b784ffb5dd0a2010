import { DEPTH_MAX, PARTS_MAX } from '../core/canonical-text.ts';
import { LimitExceededError } from '../types/errors.ts';

/**
 * Throws `LimitExceededError` for a value of more than `max` members and elements: one that shares parts can be small in
 * memory, and yet unfold without end where it is copied or written as text. A JSON patch can make one in a few operations,
 * by copying the whole object into itself. What is deeper than JSON data may be is not looked at: who copies it refuses it.
 */
export function checkParts(action: string, value: unknown, max: number = PARTS_MAX): void {
  countParts(action, value, { max, parts: 0 }, 0);
}

function countParts(
  action: string,
  value: unknown,
  count: { readonly max: number; parts: number },
  depth: number,
): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || depth > DEPTH_MAX) return;
  for (const part of Object.values(value)) {
    if (++count.parts > count.max) {
      throw new LimitExceededError(action, { limit: 'parts', max: count.max, actual: count.parts });
    }
    countParts(action, part, count, depth + 1);
  }
}
