import type { Key, KeyRange } from './revision.ts';
import { shown } from './shown.ts';

const CHARS_MAX = 100;

/** A key in a message: quoted, and short whatever it is. Bytes are their numbers. */
export function keyName(key: Key): string {
  // Whoever makes an error of ours may leave out the key.
  if (typeof key !== 'string' && !(key instanceof Uint8Array)) return shown(key);
  const name = typeof key === 'string' ? key : String(key.subarray(0, CHARS_MAX));
  return JSON.stringify(name.length > CHARS_MAX ? `${name.slice(0, CHARS_MAX)}...` : name);
}

/** What a range says, in the same way. */
export function rangeName(range: KeyRange<Key>): string {
  if (typeof range !== 'object' || range === null) return 'the range';
  if ('key' in range) return `the key ${keyName(range.key)}`;
  if ('prefix' in range) return `the prefix ${keyName(range.prefix)}`;
  return `the range from ${keyName(range.start)}${range.end === undefined ? '' : ` to ${keyName(range.end)}`}`;
}

/** A few of several keys. */
export function keyNames(keys: readonly Key[] = []): string {
  const shown = keys.slice(0, 3).map(keyName).join(', ');
  return keys.length > 3 ? `${shown} and ${keys.length - 3} more` : shown;
}
