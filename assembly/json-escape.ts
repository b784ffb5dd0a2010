import { Char, writeControlEscape } from './json-text';

/**
 * The text of a long string that the host has put into the input region, without quotes and as it is, becomes that of a
 * JSON string: the host would take longer to look at each of its characters than all the rest of a digest takes.
 *
 * ```text
 *   a"b\n      4 bytes, and 1 for ", 5 for the line feed
 *   a\"b\u000a
 * ```
 *
 * Canonical is what the scan makes of it afterwards.
 */

/** What `countEscapes` adds when the text may have come from half of a surrogate pair. */
const REPLACED: usize = 1 << 30;
const REPLACEMENT_LEAD: i8 = <i8>0xef;

/**
 * How many bytes more the `length` bytes at `from` take with escapes: often none. `REPLACED` is added if a byte is 0xEF,
 * with which U+FFFD begins: that is what an encoder writes for half of a surrogate pair, so somebody has to look.
 */
export function countEscapes(from: usize, length: usize): usize {
  let extra: usize = 0;
  let replaced: i32 = 0;
  for (let offset: usize = 0; offset < length; offset += 16) {
    // What lies behind the end does not count.
    const inside = length - offset < 16 ? (1 << (<i32>(length - offset))) - 1 : 0xffff;
    const bytes = v128.load(from + offset);
    replaced |= i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(REPLACEMENT_LEAD))) & inside;
    const special = escapedBytes(bytes) & inside;
    if (special == 0) continue;
    extra += <usize>popcnt<i32>(special) + 4 * <usize>popcnt<i32>(controlBytes(bytes) & inside);
  }
  return replaced != 0 ? extra + REPLACED : extra;
}

/** Vectors are stored whole: so far must the text be out of the way of what is written. */
const GAP: usize = 16;

/** Writes the escapes, `extra` bytes in all; needs `extra` and 32 more free bytes behind the text. */
export function writeEscapes(from: usize, length: usize, extra: usize): void {
  let at = from + extra + GAP;
  let to = from;
  const end = at + length;
  memory.copy(at, from, length);
  while (true) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const special = escapedBytes(bytes);
    const plain: usize = special == 0 ? 16 : <usize>ctz<i32>(special);
    at += plain;
    to += plain;
    if (at >= end) return;
    if (special != 0) to = writeEscape(load<u8>(at++), to);
  }
}

function writeEscape(code: u32, to: usize): usize {
  if (code >= 0x20) {
    store<u16>(to, <u16>(Char.Backslash | (code << 8)));
    return to + 2;
  }
  return writeControlEscape(to, code);
}

/** A bit for every byte that needs an escape. */
@inline
function escapedBytes(bytes: v128): i32 {
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(<i8>Char.Quote)), i8x16.eq(bytes, i8x16.splat(<i8>Char.Backslash))),
      i8x16.lt_u(bytes, i8x16.splat(<i8>Char.Space)),
    ),
  );
}

@inline
function controlBytes(bytes: v128): i32 {
  return i8x16.bitmask(i8x16.lt_u(bytes, i8x16.splat(<i8>Char.Space)));
}
