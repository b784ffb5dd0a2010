/**
 * SHA-256 (FIPS 180-4), for digests that have to resist somebody who wants two objects to collide.
 *
 * ```text
 *   data    | 64-byte blocks ...                | rest |
 *   tail                                        | rest | 0x80 | zeros | bits u64 |     one block or two
 * ```
 *
 * No function reads outside `[data, data + length)`.
 */

const BLOCK: usize = 64;
/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUNDS: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
/** The message schedule of one block. */
const SCHEDULE: usize = memory.data(256, 16);
/** The eight words of the state; in the end the digest, each word big-endian. */
const STATE: usize = memory.data(32, 16);
const TAIL: usize = memory.data(128, 16);

/** Hashes `length` bytes and returns a pointer to the 32 bytes of the digest, valid until the next call. */
export function sha256(data: usize, length: usize): usize {
  store<u32>(STATE, 0x6a09e667);
  store<u32>(STATE, 0xbb67ae85, 4);
  store<u32>(STATE, 0x3c6ef372, 8);
  store<u32>(STATE, 0xa54ff53a, 12);
  store<u32>(STATE, 0x510e527f, 16);
  store<u32>(STATE, 0x9b05688c, 20);
  store<u32>(STATE, 0x1f83d9ab, 24);
  store<u32>(STATE, 0x5be0cd19, 28);
  const end = data + (length & ~(BLOCK - 1));
  for (; data < end; data += BLOCK) addBlock(data);
  const rest = length & (BLOCK - 1);
  const tailBytes = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
  memory.fill(TAIL, 0, tailBytes);
  memory.copy(TAIL, data, rest);
  store<u8>(TAIL + rest, 0x80);
  store<u64>(TAIL + tailBytes - 8, bswap<u64>((<u64>length) << 3));
  for (let offset: usize = 0; offset < tailBytes; offset += BLOCK) addBlock(TAIL + offset);
  for (let offset: usize = 0; offset < 32; offset += 4)
    store<u32>(STATE + offset, bswap<u32>(load<u32>(STATE + offset)));
  return STATE;
}

function addBlock(data: usize): void {
  fillSchedule(data);
  let a = load<u32>(STATE);
  let b = load<u32>(STATE, 4);
  let c = load<u32>(STATE, 8);
  let d = load<u32>(STATE, 12);
  let e = load<u32>(STATE, 16);
  let f = load<u32>(STATE, 20);
  let g = load<u32>(STATE, 24);
  let h = load<u32>(STATE, 28);
  for (let offset: usize = 0; offset < 256; offset += 4) {
    const sum1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = h + sum1 + choice + load<u32>(ROUNDS + offset) + load<u32>(SCHEDULE + offset);
    const sum0 = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  addToState(0, a, b, c, d);
  addToState(16, e, f, g, h);
}

@inline
function addToState(offset: usize, a: u32, b: u32, c: u32, d: u32): void {
  const words = i32x4.replace_lane(i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(a), 1, b), 2, c), 3, d);
  v128.store(STATE + offset, i32x4.add(v128.load(STATE + offset), words));
}

/** 16 words of the block, and 48 made of them. */
function fillSchedule(data: usize): void {
  for (let offset: usize = 0; offset < BLOCK; offset += 4) {
    store<u32>(SCHEDULE + offset, bswap<u32>(load<u32>(data + offset)));
  }
  for (let offset = SCHEDULE + BLOCK; offset < SCHEDULE + 256; offset += 4) {
    const late = load<u32>(offset - 8);
    const early = load<u32>(offset - 60);
    const sigma1 = rotr<u32>(late, 17) ^ rotr<u32>(late, 19) ^ (late >> 10);
    const sigma0 = rotr<u32>(early, 7) ^ rotr<u32>(early, 18) ^ (early >> 3);
    store<u32>(offset, sigma1 + load<u32>(offset - 28) + sigma0 + load<u32>(offset - 64));
  }
}
