import { Fault, fail } from './json-fault';
import { Char, setWritten, writeControlEscape, written } from './json-text';

/**
 * Strings: validated, and copied with the spelling RFC 8785 asks for (the one of `JSON.stringify`).
 *
 * ```text
 *   text        canonical
 *   \/  é  \u0041    /  é  A          nothing is escaped without need
 *   \b \f \n \r \t \" \\              kept; \u000a becomes \n
 *   \u0001                            the other controls: \u and four lower-case digits
 *   \ud83d\ude00                      the character; half of a pair is refused
 * ```
 *
 * The canonical string is never longer than the text's, which bounds the output buffer.
 */

/**
 * Set when a canonical string has an escape or a lead byte of 0xEE and above: only then can the order of its bytes
 * differ from the order of its UTF-16 units, which is the one members are sorted by. Cleared by whoever asks.
 */
export let unitOrderDiffers: bool = false;

export function clearUnitOrder(): void {
  unitOrderDiffers = false;
}

/**
 * Copies the string at `at`, a quote, up to the first byte that cannot stay as it is, and at least 15 more, and returns
 * the length up to there. If that byte is a quote, the string is complete; otherwise `copyString` reads it.
 */
@inline
export function copyRun(at: usize, to: usize): usize {
  store<u8>(to, Char.Quote);
  const first = v128.load(at, 1);
  v128.store(to, first, 1);
  const mask = specialBytes(first);
  return mask != 0 ? <usize>ctz<i32>(mask) + 1 : copyLongRun(at + 17, to + 17) + 17;
}

/**
 * Copies the quote at `at` and the 32 bytes behind it, and returns a bit for each of those that cannot stay as it is. Most
 * members of objects are within one window, name and value: finding both ends in it takes half the time of looking twice.
 */
@inline
export function copyWindow(at: usize, to: usize): i32 {
  const first = v128.load(at, 1);
  const second = v128.load(at, 17);
  store<u8>(to, Char.Quote);
  v128.store(to, first, 1);
  v128.store(to, second, 17);
  return specialBytes(first) | (specialBytes(second) << 16);
}

/** As many vectors a step as keep it from being inlined, see `skipRun`. */
function copyLongRun(at: usize, to: usize): usize {
  let offset: usize = 0;
  while (true) {
    const first = v128.load(at + offset);
    v128.store(to + offset, first);
    let mask = specialBytes(first);
    if (mask != 0) return offset + <usize>ctz<i32>(mask);
    const second = v128.load(at + offset, 16);
    v128.store(to + offset, second, 16);
    mask = specialBytes(second);
    if (mask != 0) return offset + 16 + <usize>ctz<i32>(mask);
    const third = v128.load(at + offset, 32);
    v128.store(to + offset, third, 32);
    mask = specialBytes(third);
    if (mask != 0) return offset + 32 + <usize>ctz<i32>(mask);
    offset += 48;
  }
}

/**
 * Copies the string at `at`, a quote, to `to`. `lenient`: the text will be dropped, so a lone surrogate is let through
 * (as three bytes, so that names still compare exactly).
 */
export function copyString(at: usize, to: usize, lenient: bool): usize {
  store<u8>(to, Char.Quote);
  at++;
  to++;
  while (true) {
    const run = copyLongRun(at, to);
    at += run;
    to += run;
    const code = <u32>load<u8>(at);
    if (code == Char.Quote) {
      setWritten(to + 1);
      return at + 1;
    }
    if (code == Char.Backslash) at = copyEscape(at, to, lenient);
    else if (code >= 0x80) at = copyUtf8(at, to);
    else return fail(at, Fault.ControlCharacter);
    if (at == 0) return 0;
    to = written;
  }
}

/** A bit for every byte that ends a run of plain text. */
@inline
export function specialBytes(bytes: v128): i32 {
  // Signed "less than 0x20" is both: control characters, and everything outside ASCII.
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(<i8>Char.Quote)), i8x16.eq(bytes, i8x16.splat(<i8>Char.Backslash))),
      i8x16.lt_s(bytes, i8x16.splat(<i8>Char.Space)),
    ),
  );
}

function copyEscape(at: usize, to: usize, lenient: bool): usize {
  const code = load<u8>(at, 1);
  switch (code) {
    case 0x22: // "
    case 0x5c: // \
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      store<u16>(to, load<u16>(at));
      setWritten(to + 2);
      unitOrderDiffers = true;
      return at + 2;
    case 0x2f:
      store<u8>(to, Char.Slash);
      setWritten(to + 1);
      return at + 2;
    case 0x75:
      return copyUnicodeEscape(at, to, lenient);
    default:
      return fail(at, Fault.InvalidEscape);
  }
}

function copyUnicodeEscape(at: usize, to: usize, lenient: bool): usize {
  const unit = hexUnit(at + 2);
  if (unit < 0) return fail(at, Fault.InvalidEscape);
  if ((unit & 0xf800) != 0xd800) {
    setWritten(writeCharacter(to, unit));
    return at + 6;
  }
  if (unit < 0xdc00 && load<u16>(at, 6) == 0x755c) {
    const next = hexUnit(at + 8);
    if ((next & ~0x3ff) == 0xdc00) {
      setWritten(writeCharacter(to, 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff)));
      return at + 12;
    }
  }
  if (!lenient) return fail(at, Fault.LoneSurrogate);
  setWritten(writeCharacter(to, unit));
  return at + 6;
}

/** The value of four hexadecimal digits, or -1. */
export function hexUnit(at: usize): i32 {
  let unit = 0;
  for (let index: usize = 0; index < 4; index++) {
    const code = <i32>load<u8>(at + index);
    const letter = (code | 0x20) - 0x61;
    if (isDecimal(code)) unit = (unit << 4) | (code - 0x30);
    else if (<u32>letter < 6) unit = (unit << 4) | (letter + 10);
    else return -1;
  }
  return unit;
}

@inline
function isDecimal(code: i32): bool {
  return <u32>(code - 0x30) < 10;
}

/** Writes one character the canonical way and returns the byte after it. */
function writeCharacter(to: usize, point: i32): usize {
  if (point < 0x80) {
    if (point < 0x20) return writeControl(to, point);
    if (point == Char.Quote || point == Char.Backslash) {
      unitOrderDiffers = true;
      store<u16>(to, <u16>(Char.Backslash | (point << 8)));
      return to + 2;
    }
    store<u8>(to, <u8>point);
    return to + 1;
  }
  if (point < 0x800) {
    store<u8>(to, <u8>(0xc0 | (point >> 6)));
    store<u8>(to, <u8>(0x80 | (point & 0x3f)), 1);
    return to + 2;
  }
  if (point < 0x10000) {
    if (point >= 0xe000) unitOrderDiffers = true;
    store<u8>(to, <u8>(0xe0 | (point >> 12)));
    store<u8>(to, <u8>(0x80 | ((point >> 6) & 0x3f)), 1);
    store<u8>(to, <u8>(0x80 | (point & 0x3f)), 2);
    return to + 3;
  }
  unitOrderDiffers = true;
  store<u8>(to, <u8>(0xf0 | (point >> 18)));
  store<u8>(to, <u8>(0x80 | ((point >> 12) & 0x3f)), 1);
  store<u8>(to, <u8>(0x80 | ((point >> 6) & 0x3f)), 2);
  store<u8>(to, <u8>(0x80 | (point & 0x3f)), 3);
  return to + 4;
}

function writeControl(to: usize, point: i32): usize {
  unitOrderDiffers = true;
  let short: u32 = 0;
  if (point == 0x08) short = 0x62;
  else if (point == 0x09) short = 0x74;
  else if (point == 0x0a) short = 0x6e;
  else if (point == 0x0c) short = 0x66;
  else if (point == 0x0d) short = 0x72;
  if (short != 0) {
    store<u16>(to, <u16>(Char.Backslash | (short << 8)));
    return to + 2;
  }
  return writeControlEscape(to, point);
}

/** Copies characters outside ASCII. */
function copyUtf8(at: usize, to: usize): usize {
  while (<u32>load<u8>(at) >= 0x80) {
    const next = skipCharacter(at);
    if (next == 0) return 0;
    store<u32>(to, load<u32>(at));
    if (<u32>load<u8>(at) >= 0xee) unitOrderDiffers = true;
    to += next - at;
    at = next;
  }
  setWritten(to);
  return at;
}

/** The byte after a character outside ASCII; refuses overlong forms, surrogates and what lies above U+10FFFF. */
export function skipCharacter(at: usize): usize {
  const lead = <u32>load<u8>(at);
  const second = <u32>load<u8>(at, 1);
  if (lead < 0xe0) return lead < 0xc2 || !isTail(second) ? fail(at, Fault.InvalidUtf8) : at + 2;
  // The second byte's legal range depends on the lead: it is what excludes overlong forms and surrogates.
  let lowest: u32 = 0x80;
  let highest: u32 = 0xbf;
  if (lead == 0xe0) lowest = 0xa0;
  else if (lead == 0xed) highest = 0x9f;
  else if (lead == 0xf0) lowest = 0x90;
  else if (lead == 0xf4) highest = 0x8f;
  if (lead > 0xf4 || second < lowest || second > highest) return fail(at, Fault.InvalidUtf8);
  if (!isTail(load<u8>(at, 2))) return fail(at, Fault.InvalidUtf8);
  if (lead < 0xf0) return at + 3;
  return isTail(load<u8>(at, 3)) ? at + 4 : fail(at, Fault.InvalidUtf8);
}

@inline
function isTail(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}
