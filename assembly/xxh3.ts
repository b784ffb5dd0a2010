/**
 * XXH3-128 as the public specification of xxHash defines it: with seed 0 the digest that `xxhsum -H2` prints, with
 * another one that of `XXH3_128bits_withSeed`.
 *
 * ```text
 *   bytes      path
 *   0          constants
 *   1..16      one or two overlapping reads, one multiplication
 *   17..128    32 bytes from both ends towards the middle
 *   129..240   32-byte steps, mixed once in between
 *   241..      eight 64-bit lanes over 64-byte stripes (SIMD), scrambled every 16 stripes = 1024 bytes
 * ```
 *
 * No function reads outside `[data, data + length)`. The lanes stay in v128 locals through a block: keeping them in
 * memory instead halves the speed of long inputs.
 */

const P32_1: u64 = 0x9e3779b1;
const P32_2: u64 = 0x85ebca77;
const P32_3: u64 = 0xc2b2ae3d;
const P64_1: u64 = 0x9e3779b185ebca87;
const P64_2: u64 = 0xc2b2ae3d27d4eb4f;
const P64_3: u64 = 0x165667b19e3779f9;
const P64_4: u64 = 0x85ebca77c2b2ae63;
const P64_5: u64 = 0x27d4eb2f165667c5;
const MIX_1: u64 = 0x165667919e3779f9;
const MIX_2: u64 = 0x9fb21c651e98df25;

const STRIPE: usize = 64;
const STRIPES_A_BLOCK: usize = 16;
const BLOCK: usize = STRIPE * STRIPES_A_BLOCK;

/** The default secret, 192 bytes; part of the algorithm's definition. */
const SECRET: usize = memory.data<u8>([
  0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d,
  0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0,
  0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0,
  0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b,
  0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac,
  0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51,
  0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34,
  0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49,
  0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8,
  0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b,
  0x40, 0x7e,
]);

let seed: u64 = 0;
/** What inputs above 240 bytes are mixed with: the default secret, or one derived from the seed. */
let longSecret: usize = SECRET;
const SECRET_BYTES: usize = 192;
const SEEDED_SECRET: usize = memory.data(192, 16);

/** Seeds all hashes to come of this instance. */
export function setSeed(value: u64): void {
  seed = value;
  longSecret = SECRET;
  if (value == 0) return;
  for (let offset: usize = 0; offset < SECRET_BYTES; offset += 16) {
    store<u64>(SEEDED_SECRET + offset, key(offset) + value);
    store<u64>(SEEDED_SECRET + offset, key(offset + 8) - value, 8);
  }
  longSecret = SEEDED_SECRET;
}

/** The two halves under construction: what `multiply` and the length classes leave. */
let low: u64 = 0;
let high: u64 = 0;

/** 16 bytes: the digest in canonical order, the high half first, each half big-endian. */
const DIGEST: usize = memory.data(16, 16);

/** Hashes `length` bytes and returns a pointer to the 16 bytes of the digest, valid until the next call. */
export function xxh3(data: usize, length: usize): usize {
  if (length > 240) hashLong(data, length);
  else if (length > 128) hash129to240(data, length);
  else if (length > 16) hash17to128(data, length);
  else if (length > 8) hash9to16(data, length);
  else if (length > 3) hash4to8(data, length);
  else if (length > 0) hash1to3(data, length);
  else {
    low = avalanche64(seed ^ key(64) ^ key(72));
    high = avalanche64(seed ^ key(80) ^ key(88));
  }
  store<u64>(DIGEST, bswap<u64>(high));
  store<u64>(DIGEST, bswap<u64>(low), 8);
  return DIGEST;
}

@inline
function key(offset: usize): u64 {
  return load<u64>(SECRET + offset);
}

@inline
function xorShift(value: u64, bits: u64): u64 {
  return value ^ (value >> bits);
}

/** The finalizer of XXH64, used for the shortest inputs. */
function avalanche64(value: u64): u64 {
  return xorShift(xorShift(xorShift(value, 33) * P64_2, 29) * P64_3, 32);
}

function avalanche(value: u64): u64 {
  return xorShift(xorShift(value, 37) * MIX_1, 32);
}

/** Sets `high:low` to the 128-bit product, from four 32-bit ones: WebAssembly has no wide multiplication everywhere. */
function multiply(a: u64, b: u64): void {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const lowLow = aLow * bLow;
  const highLow = aHigh * bLow;
  // Cannot overflow: (2^32-1)^2 + 2 * (2^32-1) = 2^64-1.
  const middle = (lowLow >> 32) + (highLow & 0xffffffff) + aLow * bHigh;
  high = (highLow >> 32) + (middle >> 32) + aHigh * bHigh;
  low = (middle << 32) | (lowLow & 0xffffffff);
}

/** Both halves of the product folded into 64 bits: `multiply`, without the way through memory. */
@inline
function fold(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const lowLow = aLow * bLow;
  const highLow = aHigh * bLow;
  const middle = (lowLow >> 32) + (highLow & 0xffffffff) + aLow * bHigh;
  return ((highLow >> 32) + (middle >> 32) + aHigh * bHigh) ^ ((middle << 32) | (lowLow & 0xffffffff));
}

function hash1to3(data: usize, length: usize): void {
  const first = <u32>load<u8>(data);
  const middle = <u32>load<u8>(data + (length >> 1));
  const last = <u32>load<u8>(data + length - 1);
  const combined = (first << 16) | (middle << 24) | last | ((<u32>length) << 8);
  low = avalanche64(<u64>combined ^ (<u64>(load<u32>(SECRET) ^ load<u32>(SECRET + 4)) + seed));
  const turned = rotl<u32>(bswap<u32>(combined), 13);
  high = avalanche64(<u64>turned ^ (<u64>(load<u32>(SECRET + 8) ^ load<u32>(SECRET + 12)) - seed));
}

function hash4to8(data: usize, length: usize): void {
  const both = <u64>load<u32>(data) | ((<u64>load<u32>(data + length - 4)) << 32);
  const spread = seed ^ ((<u64>bswap<u32>(<u32>seed)) << 32);
  multiply(both ^ ((key(16) ^ key(24)) + spread), P64_1 + ((<u64>length) << 2));
  high += low << 1;
  low ^= high >> 3;
  low = xorShift(xorShift(low, 35) * MIX_2, 28);
  high = avalanche(high);
}

function hash9to16(data: usize, length: usize): void {
  const first = load<u64>(data);
  const last = load<u64>(data + length - 8);
  multiply(first ^ last ^ ((key(32) ^ key(40)) - seed), P64_1);
  const keyed = last ^ ((key(48) ^ key(56)) + seed);
  const upper = high + keyed + (keyed & 0xffffffff) * (P32_2 - 1);
  const lower = low + ((<u64>length - 1) << 54);
  multiply(lower ^ bswap<u64>(upper), P64_2);
  high = avalanche(high + upper * P64_2);
  low = avalanche(low);
}

/** The two accumulators of the middle classes. */
let front: u64 = 0;
let back: u64 = 0;

function mix16(data: usize, secret: usize, by: u64): u64 {
  return fold(load<u64>(data) ^ (load<u64>(secret) + by), load<u64>(data, 8) ^ (load<u64>(secret, 8) - by));
}

function mix32(a: usize, b: usize, secret: usize, by: u64): void {
  front = (front + mix16(a, secret, by)) ^ (load<u64>(b) + load<u64>(b, 8));
  back = (back + mix16(b, secret + 16, by)) ^ (load<u64>(a) + load<u64>(a, 8));
}

function finishMiddle(length: usize): void {
  const sum = front + back;
  const mixed = front * P64_1 + back * P64_4 + (<u64>length - seed) * P64_2;
  low = avalanche(sum);
  high = 0 - avalanche(mixed);
}

function hash17to128(data: usize, length: usize): void {
  front = <u64>length * P64_1;
  back = 0;
  // From the middle outwards: pair n is 16 bytes at 16n from the front and 16 bytes ending 16n before the end.
  for (let pair = <i32>((length - 1) >> 5); pair >= 0; pair--) {
    const distance = (<usize>pair) << 4;
    mix32(data + distance, data + length - 16 - distance, SECRET + (distance << 1), seed);
  }
  finishMiddle(length);
}

function hash129to240(data: usize, length: usize): void {
  front = <u64>length * P64_1;
  back = 0;
  for (let offset: usize = 0; offset < 128; offset += 32) {
    mix32(data + offset, data + offset + 16, SECRET + offset, seed);
  }
  front = avalanche(front);
  back = avalanche(back);
  for (let offset: usize = 128; offset + 32 <= length; offset += 32) {
    mix32(data + offset, data + offset + 16, SECRET + 3 + offset - 128, seed);
  }
  mix32(data + length - 16, data + length - 32, SECRET + 103, 0 - seed);
  finishMiddle(length);
}

/** The eight lanes, only between blocks. */
const LANES: usize = memory.data(64, 16);

function hashLong(data: usize, length: usize): void {
  store<u64>(LANES, P32_3);
  store<u64>(LANES, P64_1, 8);
  store<u64>(LANES, P64_2, 16);
  store<u64>(LANES, P64_3, 24);
  store<u64>(LANES, P64_4, 32);
  store<u64>(LANES, P32_2, 40);
  store<u64>(LANES, P64_5, 48);
  store<u64>(LANES, P32_1, 56);
  const blocks = (length - 1) / BLOCK;
  for (let block: usize = 0; block < blocks; block++) {
    accumulate(data + block * BLOCK, longSecret, STRIPES_A_BLOCK);
    scramble();
  }
  const rest = data + blocks * BLOCK;
  accumulate(rest, longSecret, (length - 1 - blocks * BLOCK) / STRIPE);
  accumulate(data + length - STRIPE, longSecret + 121, 1);
  const lowHalf = mergeLanes(longSecret + 11, <u64>length * P64_1);
  high = mergeLanes(longSecret + 117, ~(<u64>length * P64_2));
  low = lowHalf;
}

/** One lane pair: each lane gets its neighbour's input, plus the product of the halves of its keyed input. */
@inline
function mixLanes(lanes: v128, data: usize, secret: usize): v128 {
  const input = v128.load(data);
  const keyed = v128.xor(input, v128.load(secret));
  const evens = v128.shuffle<u32>(keyed, keyed, 0, 2, 0, 2);
  const odds = v128.shuffle<u32>(keyed, keyed, 1, 3, 1, 3);
  const product = i64x2.extmul_low_i32x4_u(evens, odds);
  return i64x2.add(lanes, i64x2.add(product, v128.shuffle<u64>(input, input, 1, 0)));
}

function accumulate(data: usize, secret: usize, stripes: usize): void {
  let a = v128.load(LANES);
  let b = v128.load(LANES, 16);
  let c = v128.load(LANES, 32);
  let d = v128.load(LANES, 48);
  for (const end = data + stripes * STRIPE; data < end; data += STRIPE) {
    a = mixLanes(a, data, secret);
    b = mixLanes(b, data + 16, secret + 16);
    c = mixLanes(c, data + 32, secret + 32);
    d = mixLanes(d, data + 48, secret + 48);
    secret += 8;
  }
  v128.store(LANES, a);
  v128.store(LANES, b, 16);
  v128.store(LANES, c, 32);
  v128.store(LANES, d, 48);
}

function scramble(): void {
  for (let lane: usize = 0; lane < 64; lane += 8) {
    const value = load<u64>(LANES + lane);
    store<u64>(LANES + lane, (xorShift(value, 47) ^ load<u64>(longSecret + 128 + lane)) * P32_1);
  }
}

function mergeLanes(secret: usize, start: u64): u64 {
  let sum = start;
  for (let lane: usize = 0; lane < 64; lane += 16) {
    sum += fold(
      load<u64>(LANES + lane) ^ load<u64>(secret + lane),
      load<u64>(LANES + lane, 8) ^ load<u64>(secret + lane, 8),
    );
  }
  return avalanche(sum);
}
