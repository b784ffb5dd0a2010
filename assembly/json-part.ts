import { Annotation, classifyAnnotation, prefixLength } from './json-annotation';
import { memberAt } from './json-member';
import { Mode } from './json-mode';
import { findIndex, findName, Rule, ruleFlags } from './json-rules';
import { Char, writeComma } from './json-text';

/** What becomes of a member or an element, by the rules: decided by its name or index before its value is read. */
export const enum Part {
  Kept = 0,
  /** It goes at once, and was not recorded. */
  Cut = 1,
  /** It is recorded, and goes when its object is closed. */
  Gone = 2,
  /** Gone if it is `{}` or `[]`. */
  GoneIfEmpty = 4,
  /** Gone if it is `{}`. */
  GoneIfEmptyObject = 8,
  /** Whatever else holds, it marks its prefix. */
  Marker = 16,
}

/** The rule node of the value of what was judged last. */
export let childNode: u32 = 0;

let keepsDuplicates: bool = false;

/** `reject`: members with one name must meet, also those that go. */
export function resetParts(reject: bool): void {
  keepsDuplicates = reject;
}

/** Decides about an element: `Part.Kept`, or `Part.Cut`. */
export function judgeElement(node: u32, index: u32): Part {
  childNode = node == 0 ? 0 : findIndex(node, index);
  if (childNode == 0 || (ruleFlags(childNode) & Rule.Excluded) == 0) return Part.Kept;
  childNode = 0;
  return Part.Cut;
}

/** Decides about a member of an object with the rule node `node` (0: no rules). */
export function judgeMember(node: u32, mode: u32, name: usize, length: usize, head: u64): Part {
  let part = mode & Mode.Prune ? Part.GoneIfEmpty : Part.Kept;
  childNode = node == 0 ? 0 : findName(node, name, length, head);
  if (childNode != 0) {
    const flags = ruleFlags(childNode);
    // Namesakes of a member that goes are excluded too, so nothing is lost by forgetting it; but a marker must be seen on
    // closing, and a duplicate must be refused.
    if (flags & Rule.Excluded) part = (mode & Mode.Annotations) != 0 || keepsDuplicates ? Part.Gone : Part.Cut;
    else if (flags & Rule.Metadata) part = Part.GoneIfEmptyObject;
  }
  return mode & Mode.Annotations ? judgeAnnotation(name, length, part) : part;
}

function judgeAnnotation(name: usize, length: usize, part: Part): Part {
  const prefix = prefixLength(name, length);
  if (prefix == 0) return part;
  const kind = classifyAnnotation(name, length, prefix);
  if (kind == Annotation.Removed) return Part.Gone;
  return kind == Annotation.Marker ? part | Part.Marker : part;
}

/** The mode of an object once the value of the member `last`, which ends at `to`, is complete; marks it if it goes. */
export function modeAfterPart(mode: u32, part: Part, last: usize, to: usize): u32 {
  if (part & Part.Cut) return mode;
  if (part & Part.Marker) mode |= Mode.Marked;
  if ((part & Part.Gone) == 0 && !isEmptyContainer(valueStart(last), to, part)) return mode;
  memberAt(last).gone = 1;
  return mode | Mode.Holes;
}

/** Ends a member that begins at `start` and ends at `to`: a comma, behind the name only if the value has gone, or nothing. */
@inline
export function endPart(part: Part, start: usize, last: usize, to: usize): usize {
  if (part == Part.Kept) return writeComma(to);
  if (part & Part.Cut) return start;
  return writeComma(memberAt(last).gone != 0 ? valueStart(last) : to);
}

/** Behind the name's quote and colon. */
@inline
function valueStart(offset: usize): usize {
  const member = memberAt(offset);
  return member.key + member.length + 2;
}

function isEmptyContainer(value: usize, to: usize, part: Part): bool {
  if (to - value != 2) return false;
  const code = <u32>load<u8>(value);
  if (code == Char.OpenBracket) return (part & Part.GoneIfEmpty) != 0;
  return code == Char.OpenBrace && (part & (Part.GoneIfEmpty | Part.GoneIfEmptyObject)) != 0;
}
