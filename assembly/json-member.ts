import { Fault, fail } from './json-fault';
import { Mode } from './json-mode';
import { claimScratch } from './memory';

/**
 * The members of all open objects: a stack of records into the canonical text.
 *
 * ```text
 *   canonical text   {"b":1,"a":[2],      <- every member ends with a comma until its object is closed
 *                     ^key  ^end
 *   stack            | b | a |            <- the members of the innermost open object lie on top
 * ```
 *
 * `head` holds the first 8 bytes of the name as they are in memory, zero-filled: comparing two of them decides most
 * orders without touching the names (a zero byte cannot be part of a canonical string, so the filling sorts first).
 * `end` is set, and `head` turned into a number that orders, only for objects that have to be rearranged.
 */
@unmanaged
export class Member {
  head: u64;
  /** First byte of the name, behind its quote. */
  key: usize;
  /** Bytes of the name's canonical spelling. */
  length: usize;
  /** Behind the member's comma. */
  end: usize;
  /** Where the member's name begins in the input. */
  source: usize;
  /** Not 0 for a member that is dropped when its object closes. */
  gone: u32;
  reserved: u32;
}

export const MEMBER: usize = offsetof<Member>();
const FIRST_CAPACITY: usize = 512 * MEMBER;
const CAPACITY_MAX: usize = 0x40000000;

let block: usize = 0;
let capacity: usize = 0;

export function membersStart(): usize {
  return block;
}

export function membersCapacity(): usize {
  return capacity;
}

/** The member at a stack offset; offsets stay valid when the stack moves to a larger block. */
@inline
export function memberAt(offset: usize): Member {
  return changetype<Member>(block + offset);
}

/** The member at a pointer, which is valid until the stack moves. */
@inline
export function memberFrom(pointer: usize): Member {
  return changetype<Member>(pointer);
}

/** Makes room for `bytes` above the members in use, which end at `top`; 0 when memory is out. */
export function reserveMembers(top: usize, bytes: usize): usize {
  const need = top + bytes;
  if (need <= capacity) return 1;
  let size: usize = capacity == 0 ? FIRST_CAPACITY : capacity;
  while (size < need && size <= CAPACITY_MAX) size <<= 1;
  if (size > CAPACITY_MAX) return fail(0, Fault.Full);
  const larger = claimScratch(size);
  if (larger == 0) return fail(0, Fault.Full);
  memory.copy(larger, block, top);
  block = larger;
  capacity = size;
  return 1;
}

/**
 * Records a member at `top`, and in the mode whether it is not above the one before; `first` is the place of the
 * object's first one. Returns the mode, or 0 when memory is out.
 */
@inline
export function recordMember(
  mode: u32,
  first: usize,
  top: usize,
  key: usize,
  length: usize,
  head: u64,
  source: usize,
): u32 {
  if (top + MEMBER > capacity && reserveMembers(top, MEMBER) == 0) return 0;
  const member = memberAt(top);
  member.head = head;
  member.key = key;
  member.length = length;
  member.source = source;
  member.gone = 0;
  if (top == first) return mode;
  // Nearly always the first 8 bytes decide that it is above.
  const before = memberAt(top - MEMBER);
  const both = before.head ^ head;
  const shift = ctz<u64>(both) & 56;
  const isAbove = ((before.head >> shift) & 255) < ((head >> shift) & 255);
  if (isAbove && (mode & Mode.ByUnits) == 0) return mode;
  return modeAfter(before, member, mode);
}

function modeAfter(before: Member, member: Member, mode: u32): u32 {
  return compareNames(before, member, mode) < 0 ? mode : mode | Mode.Unsorted;
}

/** The first 8 bytes of a name, zero-filled. */
@inline
export function headOf(key: usize, length: usize): u64 {
  const head = load<u64>(key);
  return length < 8 ? head & (((<u64>1) << ((<u64>length) << 3)) - 1) : head;
}

/** A head as a number that orders like the bytes. */
@inline
export function bigEndian(head: u64): u64 {
  return bswap<u64>(head);
}

/** Negative, 0 or positive as the order of two completed members' names. */
@inline
export function compareMembers(a: Member, b: Member, byUnits: bool): i32 {
  if (!byUnits && a.head != b.head) return a.head < b.head ? -1 : 1;
  return compareNames(a, b, byUnits ? Mode.ByUnits : 0);
}

/**
 * Negative, 0 or positive as the order of two names in UTF-16 units. `Mode.ByUnits`: one of the object's names has bytes
 * whose order is not that of its units, so characters must be decoded.
 */
function compareNames(a: Member, b: Member, mode: u32): i32 {
  if (mode & Mode.ByUnits) return compareCharacters(a, b);
  const shorter = min(a.length, b.length);
  for (let offset: usize = 0; offset < shorter; offset += 8) {
    const x = headOf(a.key + offset, a.length - offset);
    const y = headOf(b.key + offset, b.length - offset);
    if (x != y) return bigEndian(x) < bigEndian(y) ? -1 : 1;
  }
  return <i32>a.length - <i32>b.length;
}

/** Behind what `nextRank` has read. */
let next: usize = 0;

function compareCharacters(a: Member, b: Member): i32 {
  let x = a.key;
  let y = b.key;
  const xEnd = x + a.length;
  const yEnd = y + b.length;
  while (x < xEnd && y < yEnd) {
    const xRank = nextRank(x);
    x = next;
    const yRank = nextRank(y);
    y = next;
    if (xRank != yRank) return xRank < yRank ? -1 : 1;
  }
  return <i32>(x < xEnd) - <i32>(y < yEnd);
}

/**
 * A number for the escape or the byte at `at` that orders as UTF-16 units do. Bytes order so already, except that those
 * of U+E000..FFFF, which begin with 0xEE and 0xEF, come after what needs a pair (first unit D800..DBFF), which begins
 * with 0xF0 to 0xF4.
 */
function nextRank(at: usize): u32 {
  const code = <u32>load<u8>(at);
  if (code == 0x5c) return escapeRank(at);
  next = at + 1;
  return (code & 0xfe) == 0xee ? code + 0x10 : code;
}

/** Canonical escapes only: two bytes, or `\u00` with two lower-case digits. */
function escapeRank(at: usize): u32 {
  next = at + 2;
  switch (load<u8>(at, 1)) {
    case 0x62:
      return 0x08;
    case 0x74:
      return 0x09;
    case 0x6e:
      return 0x0a;
    case 0x66:
      return 0x0c;
    case 0x72:
      return 0x0d;
    case 0x75: {
      next = at + 6;
      const digit = <u32>load<u8>(at, 5);
      return ((<u32>load<u8>(at, 4) - 0x30) << 4) + (digit < 0x61 ? digit - 0x30 : digit - 0x57);
    }
    default:
      return load<u8>(at, 1);
  }
}
