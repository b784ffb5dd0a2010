const CHARS_MAX = 80;

/**
 * A wrong value in a few words, for the message that refuses it. Short whatever it is, and nothing of it is called: a
 * `toString` may be missing, may throw, and is user code.
 */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? '""' : value.length > CHARS_MAX ? `${value.slice(0, CHARS_MAX)}...` : value;
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    default:
      return value === null ? 'null' : `of type ${typeof value}`;
  }
}
