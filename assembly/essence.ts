import { setAnnotationNodes } from './json-annotation';
import { clearFault, Fault, fault, faultAt } from './json-fault';
import { DEPTH_MAX, Frame, frameFloor } from './json-frame';
import { membersCapacity, membersStart } from './json-member';
import { clearHardNumbers, hardNumbers } from './json-number';
import { moveBudgetSpent } from './json-order';
import { addIndexEdge, addNameEdge, createRules, setNode } from './json-rules';
import { scan } from './json-scan';
import { TEXT_SLACK } from './json-text';
import { claimScratch } from './memory';
import { inputRegion } from './scratch';
import { Status } from './status';
import { xxh3 } from './xxh3';

/**
 * The essence of a JSON text: its canonical form without the excluded parts, and the hash of that.
 *
 * ```text
 *   input region --scan--> canonical text --xxh3--> 16 bytes
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

/** Above this a text is refused: doubling a capacity would pass 2^31. */
const TEXT_BYTES_MAX: usize = 0x40000000;

let text: usize = 0;
let textCapacity: usize = 0;
let inputStart: usize = 0;
let inputEnd: usize = 0;
let rootNode: u32 = 0;

/** Canonicalises `length` bytes of the input region; returns the length of the canonical text, or a `Scan` status. */
export function essenceScan(length: usize, reject: bool): i32 {
  clearFault();
  clearHardNumbers();
  inputStart = inputRegion(length);
  inputEnd = inputStart + length;
  if (inputStart == 0 || !reserveText(2 * length + TEXT_SLACK)) return Status.Full;
  const end = scan(inputStart, length, text, rootNode, reject);
  if (end == 0) return fault == Fault.Full ? Status.Full : Scan.Refused;
  if (hardNumbers || moveBudgetSpent) return Scan.Undecided;
  return <i32>(end - text);
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

/** "xxh3-128:" and room for 32 digits. */
const DIGEST: usize = memory.data<u8>([
  0x78, 0x78, 0x68, 0x33, 0x2d, 0x31, 0x32, 0x38, 0x3a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);
const TAG_BYTES: usize = 9;

/** Hashes `length` bytes at `pointer`; returns a pointer to the 41 ASCII bytes of the digest, which is always the same. */
export function essenceHash(pointer: usize, length: usize): usize {
  const bytes = v128.load(xxh3(pointer, length));
  const digits = i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102);
  const high = v128.swizzle(digits, i8x16.shr_u(bytes, 4));
  const low = v128.swizzle(digits, v128.and(bytes, i8x16.splat(15)));
  const text = DIGEST + TAG_BYTES;
  v128.store(text, v128.shuffle<u8>(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  v128.store(text, v128.shuffle<u8>(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), 16);
  return DIGEST;
}

/** The blocks this file writes to, for the caller that reads the text and for the test that guards the rest. */
export const enum Region {
  Text = 0,
  Members = 1,
  MembersEnd = 2,
  Frames = 3,
  FramesEnd = 4,
}

export function essenceRegion(region: i32): usize {
  switch (region) {
    case Region.Members:
      return membersStart();
    case Region.MembersEnd:
      return membersStart() + membersCapacity();
    case Region.Frames:
      return frameFloor();
    case Region.FramesEnd:
      return frameFloor() + (<usize>DEPTH_MAX + 1) * Frame.BYTES;
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
