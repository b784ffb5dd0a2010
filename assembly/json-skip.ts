import { Fault, fail } from './json-fault';
import { DEPTH_MAX } from './json-mode';
import { skipNumber } from './json-number';
import { hexUnit, skipCharacter, specialBytes } from './json-string';
import { Char, isDigit, skipLiteral, skipSpace } from './json-text';

/**
 * Excluded values: validated like all others, but nothing is written, recorded or sorted. They may hold half of a
 * surrogate pair, a number that is too large, and any name twice.
 */

/** The closing brackets of what is open, innermost last. */
const CLOSING: usize = memory.data(1024);

/** The byte after the value at `at`, which may open so many levels; 0 if it is not valid. */
export function skipValue(at: usize, levels: i32): usize {
  assert(levels <= DEPTH_MAX);
  const deepest = CLOSING + <usize>levels;
  let stack = CLOSING;
  let closing: u32 = 0;
  // Always true, but the compiler wants an end to every loop.
  while (at != 0) {
    if (closing == Char.CloseBrace) {
      at = skipName(at);
      if (at == 0) return 0;
    }
    const code = <u32>load<u8>(at);
    if ((code | 0x20) == Char.OpenBrace) {
      if (stack == deepest) return fail(at, Fault.Depth);
      at = skipSpace(at + 1);
      // "]" and "}" are two above their counterparts.
      if (load<u8>(at) != code + 2) {
        store<u8>(stack++, <u8>closing);
        closing = code + 2;
        continue;
      }
      at++;
    } else {
      at = skipScalar(at, code);
      if (at == 0) return 0;
    }
    while (true) {
      if (closing == 0) return at;
      at = skipSpace(at);
      const next = <u32>load<u8>(at);
      if (next == Char.Comma) {
        at = skipSpace(at + 1);
        break;
      }
      if (next != closing) return failAtClose(at, closing);
      at++;
      closing = <u32>load<u8>(--stack);
    }
  }
  return 0;
}

/** The first byte of the value behind the name at `at`. */
@inline
function skipName(at: usize): usize {
  if (load<u8>(at) != Char.Quote) return fail(at, Fault.ExpectedName);
  at = skipString(at);
  if (at == 0) return 0;
  at = skipSpace(at);
  return load<u8>(at) == Char.Colon ? skipSpace(at + 1) : fail(at, Fault.ExpectedColon);
}

@inline
function skipScalar(at: usize, code: u32): usize {
  if (code == Char.Quote) return skipString(at);
  if (code == Char.Minus || isDigit(code)) return skipNumber(at);
  return skipLiteral(at);
}

/** The byte after the string at `at`, a quote. */
@inline
function skipString(at: usize): usize {
  at++;
  let mask = specialBytes(v128.load(at));
  while (mask == 0) {
    at += 16;
    mask = specialBytes(v128.load(at));
  }
  at += <usize>ctz<i32>(mask);
  return load<u8>(at) == Char.Quote ? at + 1 : skipSpecial(at);
}

/**
 * The byte after a string, from a byte on that is not plain. Texts in texts have an escape in every vector or two, so a
 * vector is looked at once, and not again behind each.
 */
function skipSpecial(at: usize): usize {
  // Always true, but the compiler wants an end to every loop.
  while (at != 0) {
    let mask = specialBytes(v128.load(at));
    let next = at + 16;
    while (mask != 0) {
      const special = at + <usize>ctz<i32>(mask);
      const code = <u32>load<u8>(special);
      if (code == Char.Quote) return special + 1;
      let end: usize = 0;
      if (code == Char.Backslash) end = skipEscape(special);
      else if (code >= 0x80) end = skipCharacter(special);
      else return fail(special, Fault.ControlCharacter);
      if (end == 0) return 0;
      if (end >= next) {
        next = end;
        break;
      }
      mask &= -1 << (<i32>(end - at));
    }
    at = next;
  }
  return 0;
}

@inline
function skipEscape(at: usize): usize {
  const code = <u32>load<u8>(at, 1);
  if (code == Char.Quote || code == Char.Backslash || code == 0x6e || code == Char.Slash) return at + 2;
  if (code == 0x62 || code == 0x66 || code == 0x72 || code == 0x74) return at + 2;
  return code == 0x75 && hexUnit(at + 2) >= 0 ? at + 6 : fail(at, Fault.InvalidEscape);
}

function failAtClose(at: usize, closing: u32): usize {
  return fail(at, closing == Char.CloseBrace ? Fault.ExpectedCommaOrBrace : Fault.ExpectedCommaOrBracket);
}
