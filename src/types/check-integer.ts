/**
 * Refuses what is not one of the integers that are allowed, in words that name it.
 *
 * Throws TypeError for what is no number, RangeError for a fraction, NaN, an infinity, and what is out of range.
 */
export function checkInteger(
  name: string,
  value: unknown,
  action: string,
  min: number = Number.MIN_SAFE_INTEGER,
  max: number = Number.MAX_SAFE_INTEGER,
): asserts value is number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return;
  const allowed = `allowed is ${allowedIntegers(min, max)}`;
  if (typeof value !== 'number')
    throw new TypeError(`Cannot ${action}: ${name} is of type ${typeof value}, ${allowed}`);
  throw new RangeError(`Cannot ${action}: ${name} is ${value}, ${allowed}`);
}

function allowedIntegers(min: number, max: number): string {
  if (max < Number.MAX_SAFE_INTEGER) return `an integer from ${min} to ${max}`;
  return min > Number.MIN_SAFE_INTEGER ? `a safe integer from ${min} on` : 'a safe integer';
}
