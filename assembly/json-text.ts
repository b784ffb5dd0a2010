import { Fault, fail } from './json-fault';

/**
 * What all readers share: character codes, white space, and where the last reader stopped writing.
 *
 * A reader takes `at` (next byte of the text) and `to` (next byte of the canonical text) and returns the byte after
 * what it read; AssemblyScript has one return value, so the byte after what it wrote is left in `written`.
 *
 * No reader checks for the end of the text. The text is followed by 64 zero bytes, zero is legal nowhere outside of
 * nothing, and no reader steps over a zero: so none steps over the end, and SIMD reads past it stay inside the padding.
 * Writers may store up to 32 bytes past what they count as written; `TEXT_SLACK` is there for that.
 */
export const enum Char {
  Tab = 0x09,
  LineFeed = 0x0a,
  Return = 0x0d,
  Space = 0x20,
  Quote = 0x22,
  Plus = 0x2b,
  Comma = 0x2c,
  Minus = 0x2d,
  Dot = 0x2e,
  Slash = 0x2f,
  Zero = 0x30,
  Colon = 0x3a,
  OpenBracket = 0x5b,
  Backslash = 0x5c,
  CloseBracket = 0x5d,
  OpenBrace = 0x7b,
  CloseBrace = 0x7d,
}

/** Bytes a canonical text's buffer needs beyond the canonical text. */
export const TEXT_SLACK: usize = 128;

export let written: usize = 0;

@inline
export function setWritten(to: usize): void {
  written = to;
}

@inline
export function isDigit(code: u32): bool {
  return code - <u32>Char.Zero < 10;
}

/** Writes `\u00` and the two digits of a control character; returns the byte after it. */
export function writeControlEscape(to: usize, code: u32): usize {
  store<u32>(to, 0x3030755c);
  const low = code & 15;
  store<u8>(to, <u8>(0x30 + (code >> 4)), 4);
  store<u8>(to, <u8>(low < 10 ? 0x30 + low : 0x57 + low), 5);
  return to + 6;
}

@inline
export function writeComma(to: usize): usize {
  store<u8>(to, Char.Comma);
  return to + 1;
}

/** The first byte from `at` on that is not white space. */
@inline
export function skipSpace(at: usize): usize {
  return <u32>load<u8>(at) > <u32>Char.Space ? at : skipRun(at);
}

/**
 * Not a loop over one vector: that is so small that it would be inlined in all places that skip space, which is nearly
 * never there, and cost them the registers of its constants.
 */
function skipRun(at: usize): usize {
  while (true) {
    const first = otherBytes(v128.load(at));
    if (first != 0) return at + <usize>ctz<i32>(first);
    const second = otherBytes(v128.load(at, 16));
    if (second != 0) return at + 16 + <usize>ctz<i32>(second);
    const third = otherBytes(v128.load(at, 32));
    if (third != 0) return at + 32 + <usize>ctz<i32>(third);
    at += 48;
  }
}

/** A bit for every byte that is not white space. */
@inline
function otherBytes(bytes: v128): i32 {
  const space = v128.or(
    v128.or(i8x16.eq(bytes, i8x16.splat(<i8>Char.Space)), i8x16.eq(bytes, i8x16.splat(<i8>Char.LineFeed))),
    v128.or(i8x16.eq(bytes, i8x16.splat(<i8>Char.Return)), i8x16.eq(bytes, i8x16.splat(<i8>Char.Tab))),
  );
  return ~i8x16.bitmask(space) & 0xffff;
}

/** The byte after the `true`, `false` or `null` at `at`. */
@inline
export function skipLiteral(at: usize): usize {
  const word = load<u32>(at);
  // "true", "null", "fals" and "e", little-endian.
  if (word == 0x65757274 || word == 0x6c6c756e) return at + 4;
  return word == 0x736c6166 && load<u8>(at, 4) == 0x65 ? at + 5 : fail(at, Fault.ExpectedValue);
}

export function copyLiteral(at: usize, to: usize): usize {
  const end = skipLiteral(at);
  store<u64>(to, load<u64>(at));
  setWritten(to + (end - at));
  return end;
}

/** Copies short runs without a call; writes up to 15 bytes too many, reads as many too many. */
export function copyBytes(to: usize, from: usize, length: usize): void {
  if (length > 256) {
    memory.copy(to, from, length);
    return;
  }
  for (let offset: usize = 0; offset < length; offset += 16) v128.store(to + offset, v128.load(from + offset));
}
