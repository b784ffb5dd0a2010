import { dropMarkedPrefixes } from './json-annotation';
import { Fault, fail } from './json-fault';
import { bigEndian, compareMembers, MEMBER, memberAt, memberFrom, reserveMembers } from './json-member';
import { Mode } from './json-mode';
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
const MOVES_A_BYTE: u64 = 32;

/** 64 bits: the product of a text's length does not fit in 32. */
let moveBudget: u64 = 0;
/** Set when the budget is gone: the canonical text is then not one, and the caller canonicalises another way. */
export let moveBudgetSpent: bool = false;

export function resetMoves(length: usize): void {
  moveBudget = <u64>length * MOVES_A_BYTE + 4096;
  moveBudgetSpent = false;
}

/**
 * Puts the members `[first, top)` of an object in order, and leaves out those that go; their text is `[start, end)`.
 * Returns its new end, or 0.
 */
export function arrangeMembers(mode: u32, first: usize, top: usize, start: usize, end: usize, reject: bool): usize {
  const byUnits = (mode & Mode.ByUnits) != 0;
  completeMembers(first, top, end);
  if (mode & Mode.Unsorted) {
    if (sortMembers(first, top, byUnits) == 0) return 0;
    if (hasNamesakes && resolveDuplicates(first, top, byUnits, reject) == 0) return 0;
  }
  if (mode & Mode.Discard) return end;
  if (mode & Mode.Marked) dropMarkedPrefixes(first, top);
  return rewriteMembers(first, top, start, end);
}

/** What only an object needs that is rearranged: where its members end, and their heads as numbers that order. */
function completeMembers(base: usize, top: usize, end: usize): void {
  for (let place = top; place > base; place -= MEMBER) {
    const member = memberAt(place - MEMBER);
    member.head = bigEndian(member.head);
    member.end = end;
    end = member.key - 1;
  }
}

/** Runs up to this long are sorted by insertion. */
const INSERTION_MAX: usize = 16 * MEMBER;

/** Sorts the members from stack offset `base` to the top. 0 when memory for the scratch space is out. */
function sortMembers(base: usize, top: usize, byUnits: bool): usize {
  const size = top - base;
  if (size > INSERTION_MAX && reserveMembers(top, size) == 0) return 0;
  const start = changetype<usize>(memberAt(base));
  hasNamesakes = false;
  for (let offset: usize = 0; offset < size; offset += INSERTION_MAX) {
    insertionSort(start + offset, start + min(offset + INSERTION_MAX, size), byUnits);
  }
  let from = start;
  let to = start + size;
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
  if (from != start) memory.copy(start, from, size);
  return 1;
}

/** Two members with one name have met. Whatever ends up side by side has been compared on the way there. */
let hasNamesakes: bool = false;

/** Whether `left` comes after `right`; both are pointers. */
@inline
function isAfter(left: usize, right: usize, byUnits: bool): bool {
  const a = memberFrom(left);
  const b = memberFrom(right);
  if (!byUnits && a.head != b.head) return a.head > b.head;
  return isNameAfter(left, right, byUnits);
}

function isNameAfter(left: usize, right: usize, byUnits: bool): bool {
  const order = compareMembers(memberFrom(left), memberFrom(right), byUnits);
  if (order == 0) hasNamesakes = true;
  return order > 0;
}

@inline
function copyMember(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
}

/** Sorts the members at the pointers `[start, end)`. */
function insertionSort(start: usize, end: usize, byUnits: bool): void {
  for (let next = start + MEMBER; next < end; next += MEMBER) {
    let place = next;
    while (place > start && isAfter(place - MEMBER, next, byUnits)) place -= MEMBER;
    if (place == next) continue;
    const first = v128.load(next);
    const second = v128.load(next, 16);
    for (let hole = next; hole > place; hole -= MEMBER) copyMember(hole, hole - MEMBER);
    v128.store(place, first);
    v128.store(place, second, 16);
  }
}

/** Merges the members at `[left, middle)` and `[middle, end)` to `to`. */
function merge(left: usize, middle: usize, end: usize, to: usize, byUnits: bool): void {
  let right = middle;
  while (left < middle && right < end) {
    // On a tie the left one comes first: stable.
    if (isAfter(left, right, byUnits)) {
      copyMember(to, right);
      right += MEMBER;
    } else {
      copyMember(to, left);
      left += MEMBER;
    }
    to += MEMBER;
  }
  for (; left < middle; left += MEMBER, to += MEMBER) copyMember(to, left);
  for (; right < end; right += MEMBER, to += MEMBER) copyMember(to, right);
}

/** Of equal names in sorted order all but the last are dropped, or the second is refused. */
function resolveDuplicates(base: usize, top: usize, byUnits: bool, reject: bool): usize {
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
 * Rewrites `[start, end)` of the canonical text, the members of one object, in the order of the stack and without the dropped ones.
 * Returns the new end. Needs as many free bytes behind `end` as lie before it.
 *
 * When the budget is spent the text is left as it is and `moveBudgetSpent` set. Without that bound, a thousand nested
 * objects in the wrong order around a long string would copy the string a thousand times.
 */
function rewriteMembers(base: usize, top: usize, start: usize, end: usize): usize {
  let cursor = start;
  let place = base;
  for (; place < top; place += MEMBER) {
    const member = memberAt(place);
    if (member.gone != 0 || member.key - 1 != cursor) break;
    cursor = member.end;
  }
  if (moveBudgetSpent || <u64>(end - cursor) > moveBudget) {
    moveBudgetSpent = true;
    return end;
  }
  moveBudget -= <u64>(end - cursor);
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
