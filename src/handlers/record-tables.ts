import type { HandlerRecord } from './record.ts';
import { parentIdOf } from './record-id.ts';
import type { Changes, VersionedMap } from './versioned-map.ts';

/** A view that `old` may be asked for. */
export interface Base {
  /** `undefined` where the view was absent or is lost. */
  readonly view: unknown;
  /** Records whose `done` names it: it is kept for as long as there are any. */
  readonly users: number;
}

/** Whether a change of a record is one of the bases, or of the number of those to be retired. */
export function movesTables(before: HandlerRecord | undefined, after: HandlerRecord | undefined): boolean {
  if ((before?.done ?? null) !== (after?.done ?? null)) return true;
  return (before?.retirement === undefined) !== (after?.retirement === undefined);
}

/** Exactly the bases that some `done` names, after changes of which none makes a `done` that is new. */
export function basesWith(
  before: VersionedMap<Base>,
  known: VersionedMap<HandlerRecord>,
  records: Changes<HandlerRecord>,
): VersionedMap<Base> {
  const bases = new Map<string, Base | undefined>();
  const count = (digest: string | null | undefined, by: number): void => {
    if (digest === null || digest === undefined) return;
    const base = bases.has(digest) ? bases.get(digest) : before.get(digest);
    bases.set(digest, usedBy(base, by, undefined));
  };
  for (const [id, record] of records) {
    const done = known.get(id)?.done;
    if (record?.done === done) continue;
    count(record?.done, 1);
    count(done, -1);
  }
  return before.with([...bases]);
}

/** The same for one record, as nearly always. `view` is that of its success, if it is of one. */
export function basesWithOne(
  before: VersionedMap<Base>,
  known: HandlerRecord | undefined,
  record: HandlerRecord | undefined,
  view: unknown,
): VersionedMap<Base> {
  const [left, right] = [known?.done ?? null, record?.done ?? null];
  if (left === right) return right === null || view === undefined ? before : refilled(before, right, view);
  const entered = right === null ? before : before.set(right, usedBy(before.get(right), 1, view));
  return left === null ? entered : entered.set(left, usedBy(entered.get(left), -1, undefined));
}

/** A base that was lost is known again. */
function refilled(before: VersionedMap<Base>, digest: string, view: unknown): VersionedMap<Base> {
  const base = before.get(digest);
  return base === undefined || base.view !== undefined ? before : before.set(digest, { ...base, view });
}

/** `undefined` if nobody uses it any more. `view`: if there was none. */
function usedBy(base: Base | undefined, more: number, view: unknown): Base | undefined {
  const users = (base?.users ?? 0) + more;
  return users === 0 ? undefined : { view: base?.view === undefined ? view : base.view, users };
}

/** How many records below a handler or sub are to be retired; none where there are none. */
export function retiringWith(
  before: VersionedMap<number>,
  known: VersionedMap<HandlerRecord>,
  records: Changes<HandlerRecord>,
): VersionedMap<number> {
  const retiring = new Map<string, number | undefined>();
  for (const [id, record] of records) {
    const more = Number(record?.retirement !== undefined) - Number(known.get(id)?.retirement !== undefined);
    if (more !== 0) countAbove(id, more, before, retiring);
  }
  return before.with([...retiring]);
}

/** The same for one record. */
export function retiringWithOne(
  before: VersionedMap<number>,
  id: string,
  known: HandlerRecord | undefined,
  record: HandlerRecord | undefined,
): VersionedMap<number> {
  const more = Number(record?.retirement !== undefined) - Number(known?.retirement !== undefined);
  if (more === 0) return before;
  const retiring = new Map<string, number | undefined>();
  countAbove(id, more, before, retiring);
  return before.with([...retiring]);
}

/** Counts a record for everything above it. */
export function countAbove(
  id: string,
  by: number,
  before: VersionedMap<number>,
  counts: Map<string, number | undefined>,
): void {
  for (let above = parentIdOf(id); above !== undefined; above = parentIdOf(above)) {
    const number = ((counts.has(above) ? counts.get(above) : before.get(above)) ?? 0) + by;
    counts.set(above, number === 0 ? undefined : number);
  }
}
