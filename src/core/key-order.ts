import type { ByteRange } from '../types/backend.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';

/**
 * Key text in the order of its bytes.
 *
 * JavaScript compares strings by UTF-16 units, and a surrogate (0xd800-0xdfff) stands for a code point above 0xffff
 * that UTF-8 sorts behind 0xe000-0xffff: "\u{1F600}" belongs after "\uE000", and `<` says before (store:U46).
 */
export function compareKeyText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Moves surrogates above the rest of the plane, keeping the order among themselves. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Unsigned byte order; a prefix comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] as number) - (b[index] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/**
 * The end of the half-open range that holds every key with this prefix: the last byte below 0xff incremented and the
 * rest cut. Empty means "no upper bound", for an empty prefix and for one of 0xff bytes only (store:R7).
 */
export function prefixEnd(prefix: Uint8Array): Uint8Array {
  for (let index = prefix.length - 1; index >= 0; index--) {
    const byte = prefix[index] as number;
    if (byte < 0xff) {
      const end = prefix.slice(0, index + 1);
      end[index] = byte + 1;
      return end;
    }
  }
  return new Uint8Array(0);
}

/** The same for key text: the end of the range of every key text behind a prefix; `undefined` is "no upper bound". */
export function prefixEndText(prefix: string, mode: 'utf8' | 'bytes'): string | undefined {
  const last = mode === 'utf8' ? 0x10ffff : 0xff;
  const points = Array.from(prefix, (point) => point.codePointAt(0) as number);
  while (points.length > 0) {
    const point = points.pop() as number;
    if (point === last) continue;
    // Surrogates are no code points: behind U+D7FF comes U+E000, in bytes too.
    const next = point === 0xd7ff ? 0xe000 : point + 1;
    return points.map((one) => String.fromCodePoint(one)).join('') + String.fromCodePoint(next);
  }
  return undefined;
}

/** The later of two ends of ranges, as key text; `undefined` is "no upper bound". */
export function laterEndText(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return undefined;
  return compareKeyText(a, b) < 0 ? b : a;
}

/** Bytes as text of one UTF-16 unit a byte: a Map key, and `<` on such texts is the order of the bytes. */
export function byteText(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index++) text += String.fromCharCode(bytes[index] as number);
  return text;
}

/** Whether a range in a backend's terms holds a key. */
export function byteRangeHas(range: ByteRange, key: Uint8Array): boolean {
  const { start, end } = range;
  if (end === undefined) return compareBytes(start, key) === 0;
  return compareBytes(start, key) <= 0 && (end.length === 0 || compareBytes(key, end) < 0);
}

/** Whether a range holds a key. */
export function rangeHas(range: ResolvedRange, text: string): boolean {
  if (range.kind === 'point') return text === range.text;
  if (range.kind === 'prefix') return text.startsWith(range.text);
  return (
    compareKeyText(text, range.text) >= 0 && (range.endText === undefined || compareKeyText(text, range.endText) < 0)
  );
}
