import { headOf, MEMBER, memberAt } from './json-member';
import { findName } from './json-rules';
import { Char } from './json-text';

/**
 * Which annotations are bookkeeping. The names are data (`src/core/essence-rules.ts`), kept as edges of three nodes:
 *
 * ```text
 *   prefix.example/name       prefixes   the whole prefix             -> removed
 *                             domains    the prefix after any dot     -> removed      (sub.domain.example/...)
 *                             markers    the name behind the slash    -> marks the whole prefix
 * ```
 */
export const enum Annotation {
  Kept = 0,
  Removed = 1,
  Marker = 2,
}

let prefixes: u32 = 0;
let domains: u32 = 0;
let markers: u32 = 0;

export function setAnnotationNodes(prefixNode: u32, domainNode: u32, markerNode: u32): void {
  prefixes = prefixNode;
  domains = domainNode;
  markers = markerNode;
}

/** Bytes of a name up to and including its first slash; 0 without one. Slashes are never escaped in canonical text. */
export function prefixLength(key: usize, length: usize): usize {
  for (let offset: usize = 0; offset < length; offset++) {
    if (load<u8>(key + offset) == Char.Slash) return offset + 1;
  }
  return 0;
}

/** `prefix` is the {@link prefixLength} of the name, not 0. */
export function classifyAnnotation(key: usize, length: usize, prefix: usize): Annotation {
  const size = prefix - 1;
  if (findName(prefixes, key, size, headOf(key, size)) != 0) return Annotation.Removed;
  for (let offset: usize = 0; offset < size; offset++) {
    if (load<u8>(key + offset) != Char.Dot) continue;
    const domain = key + offset + 1;
    const domainSize = size - offset - 1;
    if (findName(domains, domain, domainSize, headOf(domain, domainSize)) != 0) return Annotation.Removed;
  }
  return isMarkerName(key, length, prefix) ? Annotation.Marker : Annotation.Kept;
}

function isMarkerName(key: usize, length: usize, prefix: usize): bool {
  return findName(markers, key + prefix, length - prefix, headOf(key + prefix, length - prefix)) != 0;
}

/**
 * Drops every annotation of a prefix that carries the marker (`x.example/plimsoll-managed`). Members must be sorted:
 * the names of one prefix then follow each other, so this is one pass.
 */
export function dropMarkedPrefixes(base: usize, top: usize): void {
  let start = base;
  while (start < top) {
    const first = memberAt(start);
    const prefix = prefixLength(first.key, first.length);
    let marked = false;
    let end = start + MEMBER;
    if (prefix > 0) {
      for (end = start; end < top; end += MEMBER) {
        const member = memberAt(end);
        if (member.length < prefix || memory.compare(member.key, first.key, prefix) != 0) break;
        if (isMarkerName(member.key, member.length, prefix)) marked = true;
      }
    }
    if (marked) for (let place = start; place < end; place += MEMBER) memberAt(place).gone = 1;
    start = end;
  }
}
