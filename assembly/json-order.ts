import { Fault, fail } from './json-fault';
import { compareMembers, MEMBER, memberAt, membersUsed, reserveMembers } from './json-member';
import { copyBytes } from './json-text';

/**
 * What happens to an object whose members cannot stay as they were written: sort, resolve duplicates, drop, move.
 *
 * ```text
 *   written   {"b":1,"a":2,"b":3,        sorted    a b b'      last wins    a b'
 *   moved     {"a":2,"b":3,
 * ```
 *
 * Sorting is a merge sort of the 32-byte records: stable (so that the last duplicate is the last of its equals) and
 * O(n log n) on any input. Moving text costs the bytes of the object, once for every level above it that also has to
 * be rearranged; `moveBudget` bounds the sum, see {@link arrange}.
 */

/** Text that may be moved per input byte; typical objects need less than one. */
const MOVES_A_BYTE: usize = 32;

let moveBudget: usize = 0;
/** Set when the budget is gone: the canonical text is then not one, and the caller canonicalises another way. */
export let moveBudgetSpent: bool = false;

export function resetMoves(length: usize): void {
  moveBudget = length * MOVES_A_BYTE + 4096;
  moveBudgetSpent = false;
}

/** Runs up to this long are sorted by insertion. */
const INSERTION_MAX: usize = 16 * MEMBER;

/** Sorts the members from stack offset `base` to the top. 0 when memory for the scratch space is out. */
export function sortMembers(base: usize, byUnits: bool): usize {
  const top = membersUsed();
  const size = top - base;
  if (size > INSERTION_MAX && reserveMembers(size) == 0) return 0;
  for (let start = base; start < top; start += INSERTION_MAX) {
    insertionSort(start, min(start + INSERTION_MAX, top), byUnits);
  }
  let from = base;
  let to = top;
  for (let width = INSERTION_MAX; width < size; width <<= 1) {
    for (let offset: usize = 0; offset < size; offset += width << 1) {
      const middle = min(offset + width, size);
      const end = min(offset + (width << 1), size);
      merge(from + offset, from + middle, from + end, to + offset, byUnits);
    }
    const swap = from;
    from = to;
    to = swap;
  }
  if (from != base) memory.copy(changetype<usize>(memberAt(base)), changetype<usize>(memberAt(from)), size);
  return 1;
}

@inline
function copyMember(to: usize, from: usize): void {
  const target = changetype<usize>(memberAt(to));
  const source = changetype<usize>(memberAt(from));
  v128.store(target, v128.load(source));
  v128.store(target, v128.load(source, 16), 16);
}

function insertionSort(start: usize, end: usize, byUnits: bool): void {
  for (let next = start + MEMBER; next < end; next += MEMBER) {
    const record = changetype<usize>(memberAt(next));
    let place = next;
    while (place > start && compareMembers(memberAt(place - MEMBER), memberAt(next), byUnits) > 0) place -= MEMBER;
    if (place == next) continue;
    const first = v128.load(record);
    const second = v128.load(record, 16);
    for (let hole = next; hole > place; hole -= MEMBER) copyMember(hole, hole - MEMBER);
    v128.store(changetype<usize>(memberAt(place)), first);
    v128.store(changetype<usize>(memberAt(place)), second, 16);
  }
}

function merge(left: usize, middle: usize, end: usize, to: usize, byUnits: bool): void {
  let right = middle;
  while (left < middle && right < end) {
    // On a tie the left one comes first: stable.
    if (compareMembers(memberAt(left), memberAt(right), byUnits) <= 0) {
      copyMember(to, left);
      left += MEMBER;
    } else {
      copyMember(to, right);
      right += MEMBER;
    }
    to += MEMBER;
  }
  for (; left < middle; left += MEMBER, to += MEMBER) copyMember(to, left);
  for (; right < end; right += MEMBER, to += MEMBER) copyMember(to, right);
}

/** Of equal names in sorted order all but the last are dropped, or the second is refused. */
export function resolveDuplicates(base: usize, byUnits: bool, reject: bool): usize {
  const top = membersUsed();
  for (let next = base + MEMBER; next < top; next += MEMBER) {
    const member = memberAt(next);
    const before = memberAt(next - MEMBER);
    if (compareMembers(before, member, byUnits) != 0) continue;
    if (reject) return fail(member.source, Fault.DuplicateName);
    before.gone = 1;
  }
  return 1;
}

/**
 * Rewrites `[start, end)` of the canonical text, the members of one object, in the order of the stack and without the
 * dropped ones. Returns the new end. Needs as many free bytes behind `end` as lie before it.
 *
 * When the budget is spent the text is left as it is and `moveBudgetSpent` set. Without that bound, a thousand nested
 * objects in the wrong order around a long string would copy the string a thousand times.
 */
export function rewriteMembers(base: usize, start: usize, end: usize): usize {
  const top = membersUsed();
  let cursor = start;
  let place = base;
  for (; place < top; place += MEMBER) {
    const member = memberAt(place);
    if (member.gone != 0 || member.key - 1 != cursor) break;
    cursor = member.end;
  }
  if (moveBudgetSpent || end - cursor > moveBudget) {
    moveBudgetSpent = true;
    return end;
  }
  moveBudget -= end - cursor;
  let scratch = end;
  for (; place < top; place += MEMBER) {
    const member = memberAt(place);
    if (member.gone != 0) continue;
    const from = member.key - 1;
    copyBytes(scratch, from, member.end - from);
    scratch += member.end - from;
  }
  copyBytes(cursor, end, scratch - end);
  return cursor + (scratch - end);
}
