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

function laneSum(lanes: v128): u32 {
  return (
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3)
  );
}
