/**
 * JSON pointers (RFC 6901): the one way in which errors, rules and differences name a part of a value. `''` is the whole
 * value; `~` and `/` in a name are written `~0` and `~1`.
 */
export function jsonPointer(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const part of path) pointer += `/${escapeSegment(String(part))}`;
  return pointer;
}

export function escapeSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function unescapeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
