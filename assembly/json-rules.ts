import { headOf } from './json-member';
import { claim } from './memory';

/**
 * The compiled exclusions: a trie of path segments, written once by `src/core/essence-rules.ts`.
 *
 * ```text
 *   nodes   | flags, any | ...            by id from 1 on; `any` is the child for every array element, or 0
 *   slots   | head, tail, node, length, child, name |      open addressing over all edges of all nodes
 * ```
 *
 * An edge is found by (node, name). `head` and `tail` are the first and the last 8 bytes of the name, which is the
 * whole name up to 16 bytes; longer ones are compared byte by byte once everything else is equal. An array index is
 * an edge with the length `INDEX`. One probe costs about as much as one comparison, however many rules there are.
 */
export const enum Rule {
  /** The value at this path is removed. */
  Excluded = 1,
  /** Empty containers below go, and so does the value itself when it ends up as an empty object. */
  Metadata = 2,
  /** Names are annotation names: prefixes and markers apply. */
  Annotations = 4,
  /** There are rules for elements, if the value here is an array. Set by this file. */
  Elements = 8,
}

@unmanaged
class Slot {
  head: u64;
  tail: u64;
  node: u32;
  length: u32;
  /** 0 marks a free slot. */
  child: u32;
  name: usize;
}

const SLOT: usize = offsetof<Slot>();
const INDEX: u32 = 0xffffffff;
const NODE: usize = 8;

let nodes: usize = 0;
let slots: usize = 0;
let slotMask: u32 = 0;

/** Makes room for `nodeCount` nodes and `edgeCount` edges, once. False when memory is out. */
export function createRules(nodeCount: u32, edgeCount: u32): bool {
  let count: u32 = 8;
  while (count < edgeCount << 1) count <<= 1;
  const nodeBytes = (<usize>nodeCount + 1) * NODE;
  nodes = claim(nodeBytes);
  slots = claim(<usize>count * SLOT);
  if (nodes == 0 || slots == 0) return false;
  memory.fill(nodes, 0, nodeBytes);
  memory.fill(slots, 0, <usize>count * SLOT);
  slotMask = count - 1;
  return true;
}

export function setNode(node: u32, flags: u32, any: u32): void {
  addFlags(node, any == 0 ? flags : flags | Rule.Elements);
  store<u32>(nodes + <usize>node * NODE, any, 4);
}

/** Adds the edge for a name (its canonical spelling), copied from `name`. False when memory is out. */
export function addNameEdge(node: u32, name: usize, length: usize, child: u32): bool {
  // 8 bytes more: `headOf` reads a whole word.
  const copy = claim(length + 8);
  if (copy == 0) return false;
  memory.copy(copy, name, length);
  addEdge(node, headOf(copy, length), tailOf(copy, length), <u32>length, copy, child);
  return true;
}

function addFlags(node: u32, flags: u32): void {
  store<u32>(nodes + <usize>node * NODE, ruleFlags(node) | flags);
}

export function addIndexEdge(node: u32, index: u32, child: u32): void {
  addFlags(node, Rule.Elements);
  addEdge(node, index, 0, INDEX, 0, child);
}

function addEdge(node: u32, head: u64, tail: u64, length: u32, name: usize, child: u32): void {
  let index = hash(node, head, tail, <u32>length) & slotMask;
  while (slotAt(index).child != 0) index = (index + 1) & slotMask;
  const slot = slotAt(index);
  slot.head = head;
  slot.tail = tail;
  slot.node = node;
  slot.length = length;
  slot.name = name;
  slot.child = child;
}

@inline
function slotAt(index: u32): Slot {
  return changetype<Slot>(slots + <usize>index * SLOT);
}

@inline
function tailOf(name: usize, length: usize): u64 {
  return length < 8 ? 0 : load<u64>(name + length - 8);
}

@inline
function hash(node: u32, head: u64, tail: u64, length: u32): u32 {
  const mixed = (head ^ rotl<u64>(tail, 29) ^ ((<u64>node) << 32) ^ <u64>length) * 0x9e3779b97f4a7c15;
  return <u32>(mixed >> 32) ^ <u32>(mixed >> 51);
}

@inline
export function ruleFlags(node: u32): u32 {
  return load<u32>(nodes + <usize>node * NODE);
}

/** The child of an object's node for a member name, or 0. */
export function findName(node: u32, name: usize, length: usize, head: u64): u32 {
  const tail = tailOf(name, length);
  let index = hash(node, head, tail, <u32>length) & slotMask;
  let slot = slotAt(index);
  while (slot.child != 0) {
    if (slot.head == head && slot.tail == tail && slot.node == node && slot.length == <u32>length) {
      if (length <= 16 || memory.compare(slot.name, name, length) == 0) return slot.child;
    }
    index = (index + 1) & slotMask;
    slot = slotAt(index);
  }
  return 0;
}

/** The child of an array's node for an element, or 0. */
export function findIndex(node: u32, element: u32): u32 {
  let index = hash(node, element, 0, INDEX) & slotMask;
  let slot = slotAt(index);
  while (slot.child != 0) {
    if (slot.head == <u64>element && slot.node == node && slot.length == INDEX) return slot.child;
    index = (index + 1) & slotMask;
    slot = slotAt(index);
  }
  return load<u32>(nodes + <usize>node * NODE, 4);
}
