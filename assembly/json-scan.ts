import { Fault, fail } from './json-fault';
import { headOf, MEMBER, recordMember } from './json-member';
import { DEPTH_MAX, INHERITED, Mode, REARRANGED } from './json-mode';
import { copyNumber } from './json-number';
import { arrangeMembers, resetMoves } from './json-order';
import { childNode, endPart, judgeElement, judgeMember, modeAfterPart, Part, resetParts } from './json-part';
import { Rule, ruleFlags } from './json-rules';
import { skipValue } from './json-skip';
import { clearUnitOrder, copyRun, copyString, copyWindow, unitOrderDiffers } from './json-string';
import { Char, copyLiteral, isDigit, setWritten, skipSpace, writeComma, written } from './json-text';

/**
 * The one pass: validates a JSON text and writes its canonical form, without the excluded parts.
 *
 * ```text
 *   scan -> container -> plain or judged object or array -> name -> value: string, number, literal, container
 * ```
 *
 * Members are written in the order met. If they came ascending and nothing has to go, closing an object is one byte;
 * otherwise json-order.ts rearranges its text. An excluded value is only validated (json-skip.ts).
 *
 * Objects and arrays have two readers made from one text: a judged one, which asks json-part.ts about each part, and a
 * plain one for where no rule applies, which is nearly everywhere. It is small enough for all it needs to stay in
 * registers, and what passes between readers through memory (`written`) does so once a container, not once a token.
 */

/** `":` as it is in memory. */
const QUOTE_COLON: u16 = 0x3a22;

let rejectDuplicates: bool = false;

/** Reads the whole text at `at` and returns the end of the canonical text, or 0: see json-fault.ts. */
export function scan(at: usize, length: usize, to: usize, rootNode: u32, reject: bool): usize {
  const end = at + length;
  if ((load<u32>(at) & 0xffffff) == 0xbfbbef) return fail(at, Fault.ByteOrderMark);
  rejectDuplicates = reject;
  resetParts(reject);
  resetMoves(length);
  at = copyValue(skipSpace(at), to, 0, DEPTH_MAX, rootNode, 0);
  if (at == 0) return 0;
  at = skipSpace(at);
  return at == end ? written : fail(at, Fault.TrailingBytes);
}

/**
 * Reads any value, which may open `levels` arrays and objects; `mode` is what it inherits, `top` the end of the members.
 * As all readers it returns the byte after what it read, or 0, and leaves the byte after what it wrote in `written`.
 */
function copyValue(at: usize, to: usize, top: usize, levels: i32, node: u32, mode: u32): usize {
  const code = <u32>load<u8>(at);
  if ((node | mode) == 0) return copyPlainValue(at, to, top, levels, code);
  const flags = node == 0 ? 0 : ruleFlags(node);
  if (code == Char.OpenBracket) {
    if ((flags & Rule.Elements) == 0) node = 0;
    return node == 0 && mode == 0 ? copyArray(at, to, top, levels) : copyJudgedArray(at, to, top, levels, node, mode);
  }
  if (code == Char.OpenBrace) {
    if (flags & Rule.Metadata) mode |= Mode.Prune;
    if (flags & Rule.Annotations) mode |= Mode.Annotations;
    return copyJudgedObject(at, to, top, levels, node, mode | Mode.Object);
  }
  if ((mode & Mode.Discard) == 0) return copyPlainValue(at, to, top, levels, code);
  if (code == Char.Quote) return copyString(at, to, true);
  return code == Char.Minus || isDigit(code) ? copyNumber(at, to, true) : copyLiteral(at, to);
}

/** Reads a value to which no rules apply, and whose first byte is `code`. */
function copyPlainValue(at: usize, to: usize, top: usize, levels: i32, code: u32): usize {
  if (code == Char.OpenBrace) return copyObject(at, to, top, levels);
  if (code == Char.OpenBracket) return copyArray(at, to, top, levels);
  if (code == Char.Quote) return copyString(at, to, false);
  if (code == Char.Minus || isDigit(code)) return copyNumber(at, to, false);
  return copyLiteral(at, to);
}

function copyObject(at: usize, to: usize, top: usize, levels: i32): usize {
  return anyObject(at, to, top, levels, 0, Mode.Object, false);
}

function copyJudgedObject(at: usize, to: usize, top: usize, levels: i32, node: u32, mode: u32): usize {
  return anyObject(at, to, top, levels, node, mode, true);
}

@inline
function anyObject(at: usize, to: usize, top: usize, levels: i32, node: u32, mode: u32, judged: bool): usize {
  if (levels == 0) return fail(at, Fault.Depth);
  const open = to++;
  const first = top;
  store<u8>(open, Char.OpenBrace);
  at = skipSpace(at + 1);
  if (load<u8>(at) == Char.CloseBrace) return close(at, to, Char.CloseBrace);
  // Always true, but the compiler wants an end to every loop.
  while (at != 0) {
    const start = to;
    const source = at;
    // A plain name is read from the input: reading what was just written in pieces would wait for the writes.
    let name = at + 1;
    const special = copyWindow(at, to);
    let size = <usize>ctz<i32>(special);
    let window = special;
    if (load<u16>(at + size, 1) == QUOTE_COLON && load<u8>(at) == Char.Quote) {
      store<u16>(to + size, QUOTE_COLON, 1);
      window = size < 29 ? special >>> (<i32>size + 3) : 0;
      at += size + 3;
      to += size + 3;
    } else {
      at = copyName(at, to, mode);
      if (at == 0) return 0;
      to = written;
      name = start + 1;
      size = to - start - 3;
      window = 0;
      if (unitOrderDiffers) mode |= Mode.ByUnits;
    }
    if (<u32>load<u8>(at) <= <u32>Char.Space) {
      at = skipSpace(at);
      window = 0;
    }
    const code = <u32>load<u8>(at);
    const head = headOf(name, size);
    const part = judged ? judgeMember(node, mode, name, size, head) : Part.Kept;
    if (!judged || (part & Part.Cut) == 0) {
      mode = recordMember(mode, first, top, start + 1, size, head, source);
      if (mode == 0) return 0;
      top += MEMBER;
    }
    const run = plainString(at, to, code, window);
    if (judged && (part & (Part.Cut | Part.Gone)) != 0) {
      at = discardValue(at, to, top, levels - 1);
    } else if (run != NOT_PLAIN) {
      at += run;
      to += run;
    } else {
      at = judged
        ? copyValue(at, to, top, levels - 1, childNode, mode & INHERITED)
        : copyPlainValue(at, to, top, levels - 1, code);
      to = written;
    }
    if (at == 0) return 0;
    if (judged && part != Part.Kept) mode = modeAfterPart(mode, part, top - MEMBER, to);
    to = judged ? endPart(part, start, top - MEMBER, to) : writeComma(to);
    at = skipSpace(at);
    const next = <u32>load<u8>(at);
    if (next == Char.Comma) {
      at = skipSpace(at + 1);
      continue;
    }
    if (next != Char.CloseBrace) return fail(at, Fault.ExpectedCommaOrBrace);
    if (mode & REARRANGED) to = arrangeMembers(mode, first, top, open + 1, to, rejectDuplicates);
    return to == 0 ? 0 : close(at, to, Char.CloseBrace);
  }
  return 0;
}

function copyArray(at: usize, to: usize, top: usize, levels: i32): usize {
  return anyArray(at, to, top, levels, 0, 0, false);
}

function copyJudgedArray(at: usize, to: usize, top: usize, levels: i32, node: u32, mode: u32): usize {
  return anyArray(at, to, top, levels, node, mode, true);
}

@inline
function anyArray(at: usize, to: usize, top: usize, levels: i32, node: u32, mode: u32, judged: bool): usize {
  if (levels == 0) return fail(at, Fault.Depth);
  store<u8>(to++, Char.OpenBracket);
  at = skipSpace(at + 1);
  if (load<u8>(at) == Char.CloseBracket) return close(at, to, Char.CloseBracket);
  for (let index: u32 = 0; at != 0; index++) {
    const code = <u32>load<u8>(at);
    const part = judged ? judgeElement(node, index) : Part.Kept;
    if (judged && (part & Part.Cut) != 0) {
      at = discardValue(at, to, top, levels - 1);
      if (at == 0) return 0;
    } else {
      const run = plainString(at, to, code, 0);
      if (run != NOT_PLAIN) {
        at += run;
        to += run;
      } else {
        at = judged
          ? copyValue(at, to, top, levels - 1, childNode, mode)
          : copyPlainValue(at, to, top, levels - 1, code);
        if (at == 0) return 0;
        to = written;
      }
      to = writeComma(to);
    }
    at = skipSpace(at);
    const next = <u32>load<u8>(at);
    if (next == Char.Comma) {
      at = skipSpace(at + 1);
      continue;
    }
    return next == Char.CloseBracket ? close(at, to, Char.CloseBracket) : fail(at, Fault.ExpectedCommaOrBracket);
  }
  return 0;
}

/** The closing bracket takes the place of the last comma, if anything is left. */
@inline
function close(at: usize, to: usize, bracket: u32): usize {
  if (load<u8>(to - 1) == Char.Comma) to--;
  store<u8>(to, <u8>bracket);
  setWritten(to + 1);
  return at + 1;
}

/** Reads a value that goes; what is written at `to` does not count. */
function discardValue(at: usize, to: usize, top: usize, levels: i32): usize {
  return rejectDuplicates ? copyValue(at, to, top, levels, 0, Mode.Discard) : skipValue(at, levels);
}

const NOT_PLAIN: usize = usize.MAX_VALUE;

/** Any name and its colon. */
function copyName(at: usize, to: usize, mode: u32): usize {
  if (load<u8>(at) != Char.Quote) return fail(at, Fault.ExpectedName);
  clearUnitOrder();
  at = copyString(at, to, (mode & Mode.Discard) != 0);
  if (at == 0) return 0;
  at = skipSpace(at);
  if (load<u8>(at) != Char.Colon) return fail(at, Fault.ExpectedColon);
  store<u8>(written, Char.Colon);
  setWritten(written + 1);
  return at + 1;
}

/**
 * Bytes of a plain string with its quotes, copied to `to`; or `NOT_PLAIN`. `code` is the byte at `at`. `window` has a bit
 * for each byte behind that up to the end of what is copied already, set if it is not plain.
 */
@inline
function plainString(at: usize, to: usize, code: u32, window: i32): usize {
  if (code != Char.Quote) return NOT_PLAIN;
  const run = window != 0 ? <usize>ctz<i32>(window) + 1 : copyRun(at, to);
  if (load<u8>(at + run) != Char.Quote) return NOT_PLAIN;
  // It is there already. The write keeps the compiler from choosing between both answers without a branch, for which the
  // next token would have to wait.
  store<u8>(to + run, Char.Quote);
  return run + 1;
}
