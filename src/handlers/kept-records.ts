import { escapeSegment } from '../core/json-pointer.ts';
import { ValueError } from '../types/errors.ts';
import { isRecord } from './record-place.ts';

/**
 * The content of an object that is shown as `next`, with all that is concealed in `whole` where it was. `shown` is what `whole`
 * is shown as.
 *
 * ```text
 *   whole   { status: { plimsoll: {...}, phase: 'a' } }     shown   { status: { phase: 'a' } }
 *   next    { status: { phase: 'b' } }                ->            { status: { phase: 'b', plimsoll: {...} } }
 *   next    {}                                        ->            { status: { plimsoll: {...} } }
 *   next    { status: 'off' }                         ->            ValueError: records are in it
 * ```
 *
 * Throws `ValueError` with the pointer of what has to stay an object.
 */
export function keepRecords(action: string, whole: unknown, shown: unknown, next: unknown): unknown {
  return kept({ action, pointer: '' }, whole, shown, next);
}

interface At {
  readonly action: string;
  readonly pointer: string;
}

function kept(at: At, whole: unknown, shown: unknown, next: unknown): unknown {
  if (whole === shown) return next;
  if (!isRecord(whole)) return shown === undefined ? whole : next;
  const concealed: [string, unknown][] = [];
  for (const [name, part] of Object.entries(whole)) {
    const before = ownMember(shown, name);
    if (part === before) continue;
    const pointer = `${at.pointer}/${escapeSegment(name)}`;
    const after = kept({ ...at, pointer }, part, before, ownMember(next, name));
    if (after !== undefined && after !== ownMember(next, name)) concealed.push([name, after]);
  }
  if (concealed.length === 0) return next;
  if (next !== undefined && !isRecord(next)) {
    throw new ValueError(at.action, { path: at.pointer, reason: 'has to stay an object: records are in it' });
  }
  return { ...next, ...Object.fromEntries(concealed) };
}

function ownMember(part: unknown, name: string): unknown {
  return isRecord(part) && Object.hasOwn(part, name) ? part[name] : undefined;
}
