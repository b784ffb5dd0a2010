import { Annotation, classifyAnnotation, dropMarkedPrefixes, prefixLength } from './json-annotation';
import { Fault, fail } from './json-fault';
import { DEPTH_MAX, Frame, frameFloor, INHERITED, Mode, Part } from './json-frame';
import {
  compareMembers,
  headOf,
  MEMBER,
  memberAt,
  membersUsed,
  pushMember,
  resetMembers,
  truncateMembers,
} from './json-member';
import { copyNumber } from './json-number';
import { resetMoves, resolveDuplicates, rewriteMembers, sortMembers } from './json-order';
import { findIndex, findName, Rule, ruleFlags } from './json-rules';
import { clearUnitOrder, copyString, unitOrderDiffers } from './json-string';
import { Char, isDigit, setWritten, skipSpace, written } from './json-text';

/**
 * The one pass: validates a JSON text and writes its canonical form, without the excluded parts.
 *
 * ```text
 *   value -> container? push a frame, go on with its first part -> value
 *         -> otherwise: the value is complete
 *   complete -> no frame: done
 *            -> ","  next part -> value
 *            -> "}" or "]": pop the frame; the container is complete
 * ```
 *
 * Members are written in the order met. If they came ascending and nothing has to go, closing an object is one byte;
 * otherwise json-order.ts rearranges its text. An excluded value is read like any other, as everything must be valid,
 * but with `Mode.Discard`, and its text is cut off again.
 */

/** The rule node and the inherited mode of the value that is read next. */
let valueNode: u32 = 0;
let valueMode: u32 = 0;
let rejectDuplicates: bool = false;

/** Reads the whole text at `at` and returns the end of the canonical text, or 0: see json-fault.ts. */
export function scan(at: usize, length: usize, to: usize, rootNode: u32, reject: bool): usize {
  const end = at + length;
  const floor = changetype<Frame>(frameFloor());
  if (changetype<usize>(floor) == 0) return fail(0, Fault.Full);
  let frame = floor;
  valueNode = rootNode;
  valueMode = 0;
  rejectDuplicates = reject;
  resetMembers();
  resetMoves(length);
  if ((load<u32>(at) & 0xffffff) == 0xbfbbef) return fail(at, Fault.ByteOrderMark);
  // Always true, but the compiler wants an end to every loop.
  while (to != 0) {
    at = skipSpace(at);
    const code = <u32>load<u8>(at);
    if (code == Char.OpenBrace || code == Char.OpenBracket) {
      if (changetype<usize>(frame) - changetype<usize>(floor) == <usize>DEPTH_MAX * Frame.BYTES)
        return fail(at, Fault.Depth);
      frame = openContainer(frame, to, code);
      store<u8>(to++, <u8>code);
      at = skipSpace(at + 1);
      // "]" and "}" are two above their counterparts.
      if (load<u8>(at) != code + 2) {
        at = beginPart(frame, at, to);
        if (at == 0) return 0;
        to = written;
        continue;
      }
      store<u8>(to++, <u8>(code + 2));
      at++;
      frame = changetype<Frame>(changetype<usize>(frame) - Frame.BYTES);
    } else {
      at = copyScalar(at, to, code);
      if (at == 0) return 0;
      to = written;
    }
    // A value is complete: end the part it is of, and every container that ends here.
    while (true) {
      at = skipSpace(at);
      if (frame == floor) return at == end ? to : fail(at, Fault.TrailingBytes);
      to = endPart(frame, to);
      const next = <u32>load<u8>(at);
      if (next == Char.Comma) {
        at = beginPart(frame, skipSpace(at + 1), to);
        if (at == 0) return 0;
        to = written;
        break;
      }
      to = closeContainer(frame, at, to, next);
      if (to == 0) return 0;
      at++;
      frame = changetype<Frame>(changetype<usize>(frame) - Frame.BYTES);
    }
  }
  return 0;
}

@inline
function copyScalar(at: usize, to: usize, code: u32): usize {
  const lenient = (valueMode & Mode.Discard) != 0;
  if (code == Char.Quote) {
    store<u8>(to, Char.Quote);
    return copyString(at + 1, to + 1, lenient);
  }
  if (code == Char.Minus || isDigit(code)) return copyNumber(at, to, lenient);
  return copyLiteral(at, to);
}

function copyLiteral(at: usize, to: usize): usize {
  const word = load<u32>(at);
  store<u32>(to, word);
  // "true", "null", "fals" and "e", little-endian.
  if (word == 0x65757274 || word == 0x6c6c756e) {
    setWritten(to + 4);
    return at + 4;
  }
  if (word == 0x736c6166 && load<u8>(at, 4) == 0x65) {
    store<u8>(to, 0x65, 4);
    setWritten(to + 5);
    return at + 5;
  }
  return fail(at, Fault.ExpectedValue);
}

function openContainer(parent: Frame, to: usize, code: u32): Frame {
  const frame = changetype<Frame>(changetype<usize>(parent) + Frame.BYTES);
  const node = valueNode;
  let mode = valueMode;
  if (code == Char.OpenBrace) {
    mode |= Mode.Object;
    if (node != 0) {
      const flags = ruleFlags(node);
      if (flags & Rule.Metadata) mode |= Mode.Prune;
      if (flags & Rule.Annotations) mode |= Mode.Annotations;
    }
    if ((mode & Mode.Discard) != 0 && !rejectDuplicates) mode |= Mode.Untracked;
  }
  frame.open = to;
  frame.members = membersUsed();
  frame.node = node;
  frame.mode = mode;
  frame.index = 0;
  frame.part = Part.Kept;
  return frame;
}

/** Reads what comes before a value: nothing in an array, the name and colon in an object. */
@inline
function beginPart(frame: Frame, at: usize, to: usize): usize {
  if (frame.mode & Mode.Object) return beginMember(frame, at, to);
  valueMode = frame.mode & INHERITED;
  valueNode = 0;
  if (frame.node != 0) beginElement(frame, to);
  setWritten(to);
  return at;
}

function beginElement(frame: Frame, to: usize): void {
  const child = findIndex(frame.node, frame.index++);
  frame.part = Part.Kept;
  if (child == 0) return;
  if (ruleFlags(child) & Rule.Excluded) {
    frame.part = Part.Cut;
    frame.partStart = to;
    valueMode |= Mode.Discard;
  } else {
    valueNode = child;
  }
}

function beginMember(frame: Frame, at: usize, to: usize): usize {
  if (load<u8>(at) != Char.Quote) return fail(at, Fault.ExpectedName);
  let mode = frame.mode;
  const source = at;
  const key = to + 1;
  store<u8>(to, Char.Quote);
  clearUnitOrder();
  at = copyString(at + 1, key, (mode & Mode.Discard) != 0);
  if (at == 0) return 0;
  to = written;
  at = skipSpace(at);
  if (load<u8>(at) != Char.Colon) return fail(at, Fault.ExpectedColon);
  store<u8>(to, Char.Colon);
  setWritten(to + 1);
  valueNode = 0;
  valueMode = mode & INHERITED;
  if (mode & Mode.Untracked) return at + 1;
  const length = to - 1 - key;
  const head = headOf(key, length);
  if ((mode & (Mode.Prune | Mode.Annotations)) != 0 || frame.node != 0) {
    if (judgeMember(frame, key, length, head) == Part.Cut) return at + 1;
    mode = frame.mode;
  }
  // Recorded, and compared with the one before; nearly always the first 8 bytes decide that it is above.
  const top = membersUsed();
  if (pushMember(key, length, head, source) == 0) return 0;
  if (unitOrderDiffers) frame.mode = mode |= Mode.ByUnits;
  if ((mode & Mode.Unsorted) == 0 && top != frame.members) {
    const before = memberAt(top - MEMBER);
    if ((mode & Mode.ByUnits) != 0 || before.head >= head) {
      if (compareMembers(before, memberAt(top), (mode & Mode.ByUnits) != 0) >= 0) frame.mode = mode | Mode.Unsorted;
    }
  }
  return at + 1;
}

/** Decides by its name what becomes of a member and of its value; `Part.Cut` is not to be recorded. */
function judgeMember(frame: Frame, key: usize, length: usize, head: u64): Part {
  const mode = frame.mode;
  let part = mode & Mode.Prune ? Part.GoneIfEmpty : Part.Kept;
  if (frame.node != 0) {
    const child = findName(frame.node, key, length, head);
    if (child != 0) {
      const flags = ruleFlags(child);
      valueNode = child;
      if (flags & Rule.Excluded) part = Part.Gone;
      else if (flags & Rule.Metadata) part = Part.GoneIfEmptyObject;
    }
    if (mode & Mode.Annotations) {
      const prefix = prefixLength(key, length);
      if (prefix != 0) {
        const kind = classifyAnnotation(key, length, prefix);
        if (kind == Annotation.Removed) part = Part.Gone;
        else if (kind == Annotation.Marker) frame.mode = mode | Mode.Marked;
      }
    }
  }
  if (part == Part.Gone) {
    valueNode = 0;
    valueMode |= Mode.Discard;
    // Its namesakes are excluded too, so nothing is lost by forgetting it; but a marker must be seen on closing, and a
    // duplicate must be refused.
    if ((mode & Mode.Annotations) == 0 && !rejectDuplicates) {
      part = Part.Cut;
      frame.partStart = key - 1;
    }
  }
  frame.part = part;
  return part;
}

/** The value of a part is complete: it gets its comma, or goes. */
@inline
function endPart(frame: Frame, to: usize): usize {
  const mode = frame.mode;
  const part = frame.part;
  if (part == Part.Cut) return frame.partStart;
  if ((mode & (Mode.Object | Mode.Untracked)) == Mode.Object) {
    const member = memberAt(membersUsed() - MEMBER);
    if (part != Part.Kept) {
      // Behind the name's quote and colon.
      const value = member.key + member.length + 2;
      if (part == Part.Gone || isEmptyContainer(value, to, part)) {
        member.gone = 1;
        frame.mode = mode | Mode.Holes;
        to = value;
      }
    }
    member.end = to + 1;
  }
  store<u8>(to, Char.Comma);
  return to + 1;
}

function isEmptyContainer(value: usize, to: usize, part: Part): bool {
  if (to - value != 2) return false;
  const code = load<u8>(value);
  return code == Char.OpenBrace || (code == Char.OpenBracket && part == Part.GoneIfEmpty);
}

/** Ends a container at `at`, where `next` was found behind its last part, which has its comma. */
function closeContainer(frame: Frame, at: usize, to: usize, next: u32): usize {
  const mode = frame.mode;
  if (mode & Mode.Object) {
    if (next != Char.CloseBrace) return fail(at, Fault.ExpectedCommaOrBrace);
    if (mode & (Mode.Unsorted | Mode.Holes | Mode.Marked)) {
      to = arrangeMembers(frame, to);
      if (to == 0) return 0;
    }
    truncateMembers(frame.members);
  } else if (next != Char.CloseBracket) {
    return fail(at, Fault.ExpectedCommaOrBracket);
  }
  // The closing bracket takes the place of the last comma, if anything is left.
  if (load<u8>(to - 1) == Char.Comma) to--;
  store<u8>(to, <u8>next);
  return to + 1;
}

function arrangeMembers(frame: Frame, to: usize): usize {
  const byUnits = (frame.mode & Mode.ByUnits) != 0;
  if (frame.mode & Mode.Unsorted) {
    if (sortMembers(frame.members, byUnits) == 0) return 0;
    if (resolveDuplicates(frame.members, byUnits, rejectDuplicates) == 0) return 0;
  }
  if (frame.mode & Mode.Discard) return to;
  if (frame.mode & Mode.Marked) dropMarkedPrefixes(frame.members);
  return rewriteMembers(frame.members, frame.open + 1, to);
}
