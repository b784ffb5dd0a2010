/**
 * Byte strings on raw pointers: order is that of unsigned bytes, a proper prefix comes first (store:R7). Nothing reads
 * past the end of a string: a block may be the last of the memory, where eight bytes more would trap.
 */

/** Negative, zero or positive as `a` comes before, is, or comes after `b`. */
export function compareBytes(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const common = aLength < bLength ? aLength : bLength;
  let offset: usize = 0;
  while (offset + 8 <= common) {
    const left = load<u64>(a + offset);
    const right = load<u64>(b + offset);
    if (left != right) return bswap<u64>(left) < bswap<u64>(right) ? -1 : 1;
    offset += 8;
  }
  while (offset < common) {
    const left = <i32>load<u8>(a + offset);
    const right = <i32>load<u8>(b + offset);
    if (left != right) return left - right;
    offset++;
  }
  return aLength < bLength ? -1 : aLength > bLength ? 1 : 0;
}

/** Length of the longest common prefix. */
export function commonPrefix(a: usize, aLength: usize, b: usize, bLength: usize): usize {
  const common = aLength < bLength ? aLength : bLength;
  let offset: usize = 0;
  while (offset + 8 <= common && load<u64>(a + offset) == load<u64>(b + offset)) offset += 8;
  while (offset < common && load<u8>(a + offset) == load<u8>(b + offset)) offset++;
  return offset;
}

/**
 * The eight bytes from `offset` on as a big-endian number, zero bytes behind the end. Heads order as the strings do,
 * except that a tie says nothing: `a` and `a\0` have equal heads.
 *
 * ```text
 *   "/pods/web" from 6:  77 65 62 00 00 00 00 00
 * ```
 */
export function headAt(bytes: usize, length: usize, offset: usize): u64 {
  if (offset >= length) return 0;
  const rest = length - offset;
  if (rest >= 8) return bswap<u64>(load<u64>(bytes + offset));
  if (length >= 8) return bswap<u64>(load<u64>(bytes + length - 8)) << ((8 - rest) << 3);
  let head: u64 = 0;
  for (let index: usize = 0; index < rest; index++) head = (head << 8) | <u64>load<u8>(bytes + offset + index);
  return head << ((8 - rest) << 3);
}

/** Byte positions that reverse each half of sixteen bytes; what is added to them moves the window to the right. */
const REVERSED = i8x16(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);

/** `headAt` for `offset` and for the eight bytes behind: the two lanes of one vector. */
@inline
export function headsAt(bytes: usize, length: usize, offset: usize): v128 {
  if (length < 16) return i64x2(<i64>headAt(bytes, length, offset), <i64>headAt(bytes, length, offset + 8));
  if (offset >= length) return i64x2.splat(0);
  const last = length - 16;
  const from = offset < last ? offset : last;
  // A position of 16 or more picks a zero: what lies behind the end.
  return i8x16.swizzle(v128.load(bytes + from), i8x16.add(REVERSED, i8x16.splat(<i8>(offset - from))));
}

/** Sum of `count` u32, modulo 2^32. */
export function sumWords(words: usize, count: u32): u32 {
  let lanes = i32x4.splat(0);
  let index: u32 = 0;
  for (; index + 4 <= count; index += 4) lanes = i32x4.add(lanes, v128.load(words + (index << 2)));
  let sum: u32 = 0;
  for (; index < count; index++) sum += load<u32>(words + (index << 2));
  return sum + laneSum(lanes);
}

/** How many of `count` u32 have their top bit set. */
export function countTopBits(words: usize, count: u32): u32 {
  let lanes = i32x4.splat(0);
  let index: u32 = 0;
  for (; index + 4 <= count; index += 4) {
    lanes = i32x4.add(lanes, i32x4.shr_u(v128.load(words + (index << 2)), 31));
  }
  let sum: u32 = 0;
  for (; index < count; index++) sum += load<u32>(words + (index << 2)) >> 31;
  return sum + laneSum(lanes);
}

/** Index of the first of `count` u32 that equals `word`, or `count`. */
export function findWord(words: usize, count: u32, word: u32): u32 {
  const wanted = i32x4.splat(<i32>word);
  let index: u32 = 0;
  for (; index + 16 <= count; index += 16) {
    const at = words + (index << 2);
    const first = i32x4.eq(v128.load(at), wanted);
    const second = i32x4.eq(v128.load(at, 16), wanted);
    const third = i32x4.eq(v128.load(at, 32), wanted);
    const fourth = i32x4.eq(v128.load(at, 48), wanted);
    if (!v128.any_true(v128.or(v128.or(first, second), v128.or(third, fourth)))) continue;
    const low = i32x4.bitmask(first) | (i32x4.bitmask(second) << 4);
    return index + <u32>ctz<i32>(low | (i32x4.bitmask(third) << 8) | (i32x4.bitmask(fourth) << 12));
  }
  while (index < count && load<u32>(words + (index << 2)) != word) index++;
  return index;
}

function laneSum(lanes: v128): u32 {
  return (
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3)
  );
}
