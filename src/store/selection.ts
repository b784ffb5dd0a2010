import { compareBytes } from '../core/key-order.ts';
import { checkInteger } from '../types/check-integer.ts';
import type { RangeSelection, SortTarget } from '../types/requests.ts';
import type { Revision } from '../types/revision.ts';
import { checkChoice, checkFlag } from './checks.ts';

/** Which rows of a range and in which order: a `RangeSelection` that was checked, with every default filled in. */
export interface PreparedSelection {
  /** 0 is no limit. */
  readonly limit: number;
  readonly keysOnly: boolean;
  readonly countOnly: boolean;
  readonly target: SortTarget;
  readonly isDescending: boolean;
  /** `undefined` if no bound on revisions is set. */
  readonly bounds: RevisionBounds | undefined;
  /** Ascending keys and no bounds: the limit may cut while the index is walked (store:R10). */
  readonly isPlain: boolean;
}

/** Inclusive; 0 is off (store:R11). */
export interface RevisionBounds {
  readonly minMod: Revision;
  readonly maxMod: Revision;
  readonly minCreate: Revision;
  readonly maxCreate: Revision;
}

/** What rows have to have to be selected and sorted. */
export interface SortableRow {
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly version: number;
}

const TARGETS: readonly SortTarget[] = ['key', 'version', 'create', 'mod', 'value'];
const ORDERS = ['ascend', 'descend'] as const;

/** Throws TypeError and RangeError that name the member. */
export function prepareSelection(selection: RangeSelection, action: string): PreparedSelection {
  const { sortTarget = 'key', sortOrder = 'ascend', keysOnly, countOnly } = selection;
  checkChoice('sortTarget', sortTarget, action, TARGETS);
  checkChoice('sortOrder', sortOrder, action, ORDERS);
  const bounds = prepareBounds(selection, action);
  return {
    limit: checkLimit(selection.limit, action),
    keysOnly: checkFlag('keysOnly', keysOnly, action),
    countOnly: checkFlag('countOnly', countOnly, action),
    target: sortTarget,
    isDescending: sortOrder === 'descend',
    bounds,
    isPlain: bounds === undefined && sortTarget === 'key' && sortOrder === 'ascend',
  };
}

/** 0 and below are "no limit" (store:C07). Throws RangeError for what is no safe integer. */
function checkLimit(limit: number | undefined, action: string): number {
  if (limit === undefined) return 0;
  checkInteger('the limit', limit, action);
  return Math.min(Math.max(limit, 0), 0x7fffffff);
}

function prepareBounds(selection: RangeSelection, action: string): RevisionBounds | undefined {
  const bound = (name: 'minModRevision' | 'maxModRevision' | 'minCreateRevision' | 'maxCreateRevision') => {
    const value = selection[name];
    if (value === undefined) return 0;
    checkInteger(name, value, action, 0);
    return value;
  };
  const bounds = {
    minMod: bound('minModRevision'),
    maxMod: bound('maxModRevision'),
    minCreate: bound('minCreateRevision'),
    maxCreate: bound('maxCreateRevision'),
  };
  return bounds.minMod + bounds.maxMod + bounds.minCreate + bounds.maxCreate === 0 ? undefined : bounds;
}

/** Whether a row lies within the bounds. */
export function isWithin(row: SortableRow, bounds: RevisionBounds): boolean {
  const { minMod, maxMod, minCreate, maxCreate } = bounds;
  if (row.modRevision < minMod || (maxMod !== 0 && row.modRevision > maxMod)) return false;
  return row.createRevision >= minCreate && (maxCreate === 0 || row.createRevision <= maxCreate);
}

/**
 * Selects and sorts rows that come in ascending key order. Sorting is stable, and the order of ties is that of the keys in
 * both directions (store:R8). Returns the page, and whether the limit cut rows off.
 */
export function select<R extends SortableRow>(
  rows: readonly R[],
  selection: PreparedSelection,
  bytesOf: (row: R) => Uint8Array,
): { readonly page: readonly R[]; readonly more: boolean } {
  const { limit, bounds, target, isDescending } = selection;
  let chosen = bounds === undefined ? rows : rows.filter((one) => isWithin(one, bounds));
  if (target !== 'key') {
    const compare = comparator(target, chosen, bytesOf);
    chosen = [...chosen].sort(isDescending ? (a, b) => compare(b, a) : compare);
  } else if (isDescending) {
    chosen = [...chosen].reverse();
  }
  const more = limit > 0 && chosen.length > limit;
  return { page: more ? chosen.slice(0, limit) : chosen, more };
}

function comparator<R extends SortableRow>(
  target: Exclude<SortTarget, 'key'>,
  rows: readonly R[],
  bytesOf: (row: R) => Uint8Array,
): (a: R, b: R) => number {
  switch (target) {
    case 'version':
      return (a, b) => a.version - b.version;
    case 'create':
      return (a, b) => a.createRevision - b.createRevision;
    case 'mod':
      return (a, b) => a.modRevision - b.modRevision;
    case 'value': {
      // Encoded once a row, not once a comparison.
      const bytes = new Map(rows.map((row) => [row, bytesOf(row)]));
      return (a, b) => compareBytes(bytes.get(a) as Uint8Array, bytes.get(b) as Uint8Array);
    }
  }
}
