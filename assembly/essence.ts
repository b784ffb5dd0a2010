import { setAnnotationNodes } from './json-annotation';
import { countEscapes, writeEscapes } from './json-escape';
import { clearFault, Fault, fault, faultAt } from './json-fault';
import { membersCapacity, membersStart } from './json-member';
import { hardNumbers, resetNumbers } from './json-number';
import { moveBudgetSpent } from './json-order';
import { addIndexEdge, addNameEdge, createRules, setNode } from './json-rules';
import { scan } from './json-scan';
import { TEXT_SLACK } from './json-text';
import { claimScratch } from './memory';
import { inputRegion } from './scratch';
import { sha256 } from './sha256';
import { Status } from './status';
import { setSeed, xxh3 } from './xxh3';

/**
 * The essence of a JSON text: its canonical form without the excluded parts, and the hash of that.
 *
 * ```text
 *   input region --scan--> canonical text --xxh3 or sha256--> digits
 *   length + 64 zeros      2 * length + slack: the second half is where members are rearranged
 * ```
 *
 * The rules are part of the instance: one hasher, one instance.
 */

/** What `essenceScan` answers besides the length of the canonical text (`Status.Full` is one of them too). */
export const enum Scan {
  /** The text is not JSON, or not JSON that has a canonical form: `essenceFault`, `essenceFaultOffset`. */
  Refused = -16,
  /** Valid, but with numbers or an order that the caller has to canonicalise. */
  Undecided = -17,
}

/** How a text is to be read. */
export const enum Reading {
  /** A member name may stand only once in an object. */
  RejectDuplicates = 1,
  /** The text was written by ECMAScript: its numbers are canonical. */
  NumbersCanonical = 2,
}

/** Above this a text is refused: doubling a capacity would pass 2^31. */
const TEXT_BYTES_MAX: usize = 0x40000000;

let text: usize = 0;
let textCapacity: usize = 0;
let inputStart: usize = 0;
let inputEnd: usize = 0;
let rootNode: u32 = 0;

/** Canonicalises `length` bytes of the input region; returns the length of the canonical text, or a `Scan` status. */
export function essenceScan(length: usize, reading: u32): i32 {
  clearFault();
  resetNumbers((reading & Reading.NumbersCanonical) != 0);
  inputStart = inputRegion(length);
  inputEnd = inputStart + length;
  if (inputStart == 0 || !reserveText(2 * length + TEXT_SLACK)) return Status.Full;
  const end = scan(inputStart, length, text, rootNode, (reading & Reading.RejectDuplicates) != 0);
  if (end == 0) return fault == Fault.Full ? Status.Full : Scan.Refused;
  if (hardNumbers || moveBudgetSpent) return Scan.Undecided;
  return <i32>(end - text);
}

/** The same, and hashes the canonical text: `essenceHash` of it, or a `Scan` status. */
export function essenceDigest(length: usize, reading: u32): i32 {
  const size = essenceScan(length, reading);
  return size < 0 ? size : <i32>essenceHash(text, size);
}

function reserveText(bytes: usize): bool {
  if (bytes <= textCapacity) return true;
  if (bytes > TEXT_BYTES_MAX) return false;
  let capacity: usize = textCapacity == 0 ? 8192 : textCapacity;
  while (capacity < bytes) capacity <<= 1;
  const block = claimScratch(capacity);
  if (block == 0) return false;
  text = block;
  textCapacity = capacity;
  return true;
}

/** Why the last text was refused. At its very end every fault is the same one: something is missing. */
export function essenceFault(): i32 {
  return faultAt == inputEnd ? Fault.UnexpectedEnd : fault;
}

/** Where the last text was refused, in bytes from its start. */
export function essenceFaultOffset(): usize {
  return faultAt - inputStart;
}

/** How many bytes more a string in memory needs as JSON; see json-escape.ts. */
export function essenceEscapes(pointer: usize, length: usize): usize {
  return countEscapes(pointer, length);
}

export function essenceEscape(pointer: usize, length: usize, extra: usize): void {
  writeEscapes(pointer, length, extra);
}

export const enum Algorithm {
  Xxh3 = 0,
  Sha256 = 1,
}

let algorithm: Algorithm = Algorithm.Xxh3;

/** What `essenceHash` computes from now on: `Algorithm`, and the seed of XXH3 in two halves. */
export function essenceAlgorithm(which: Algorithm, seedLow: u32, seedHigh: u32): void {
  algorithm = which;
  setSeed(((<u64>seedHigh) << 32) | seedLow);
}

/** Room for a tag in front of the digits, which is that of XXH3 until the host writes another, and for 64 digits. */
const TAG_BYTES: usize = 32;
const DIGITS: usize =
  memory.data<u8>([
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x78, 0x78, 0x68, 0x33, 0x2d, 0x31, 0x32, 0x38,
    0x3a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  ]) + TAG_BYTES;
/** "xxh3-128:" */
const XXH3_TAG_BYTES: usize = 9;

/**
 * Hashes `length` bytes at `pointer`; returns a pointer to the ASCII text of the digest, which is always the same one: 9
 * bytes of tag, then 32 or 64 digits. A longer tag ends there, too, and begins up to 23 bytes earlier.
 */
export function essenceHash(pointer: usize, length: usize): usize {
  if (algorithm == Algorithm.Sha256) {
    const digest = sha256(pointer, length);
    writeDigits(digest, DIGITS);
    writeDigits(digest + 16, DIGITS + 32);
  } else {
    writeDigits(xxh3(pointer, length), DIGITS);
  }
  return DIGITS - XXH3_TAG_BYTES;
}

/** 16 bytes as 32 digits. */
function writeDigits(from: usize, to: usize): void {
  const bytes = v128.load(from);
  const digits = i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102);
  const high = v128.swizzle(digits, i8x16.shr_u(bytes, 4));
  const low = v128.swizzle(digits, v128.and(bytes, i8x16.splat(15)));
  v128.store(to, v128.shuffle<u8>(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  v128.store(to, v128.shuffle<u8>(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), 16);
}

/** The blocks this file writes to, for the caller that reads the text and for the test that guards the rest. */
export const enum Region {
  Text = 0,
  Members = 1,
  MembersEnd = 2,
}

export function essenceRegion(region: i32): usize {
  switch (region) {
    case Region.Members:
      return membersStart();
    case Region.MembersEnd:
      return membersStart() + membersCapacity();
    default:
      return text;
  }
}

/** Makes room for rules; once, before the first scan. */
export function essenceRules(nodeCount: u32, edgeCount: u32, root: u32): i32 {
  if (!createRules(nodeCount, edgeCount)) return Status.Full;
  rootNode = root;
  return Status.Ok;
}

export function essenceRuleNode(node: u32, flags: u32, any: u32): void {
  setNode(node, flags, any);
}

/** An edge for the name (canonical spelling without quotes) that is the first `length` bytes of the input region. */
export function essenceRuleName(node: u32, length: usize, child: u32): i32 {
  return addNameEdge(node, inputRegion(length), length, child) ? Status.Ok : Status.Full;
}

export function essenceRuleIndex(node: u32, index: u32, child: u32): void {
  addIndexEdge(node, index, child);
}

export function essenceAnnotationNodes(prefixes: u32, domains: u32, markers: u32): void {
  setAnnotationNodes(prefixes, domains, markers);
}
