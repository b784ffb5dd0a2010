import type { Claims, Opening, Success } from './document-step.ts';
import { planTable } from './plan-table.ts';
import { isPlannedOtherwise, isSamePlan, retiringRecord } from './planned-record.ts';
import {
  type Attempt,
  type HandlerRecord,
  type PlanEntry,
  type ProgressDocument,
  type Retirement,
  recordWith,
} from './record.ts';
import { handlerIdOf, subRecordId } from './record-id.ts';
import { freshAttempt, openedRecord, redone } from './record-step.ts';
import {
  type Base,
  basesWith,
  basesWithOne,
  countAbove,
  movesTables,
  retiringWith,
  retiringWithOne,
} from './record-tables.ts';
import { versionedMap } from './short-map.ts';
import { storedDocument, type Tables } from './stored-document.ts';
import type { Changes, VersionedMap } from './versioned-map.ts';
import { isDigestOfNothing } from './view.ts';

/** What only a write changes. */
type Header = Omit<ProgressDocument, 'tick' | 'records' | 'bases'>;

/** What is made of a version when somebody reads it. */
interface Plain {
  document?: ProgressDocument;
  records?: ProgressDocument['records'];
  bases?: ProgressDocument['bases'];
}

/**
 * A progress document in the form in which it is worked on: never changed, and each step from one to the next costs what
 * differs, however many records there are. An object with thousands of sub-handlers is written after each of them.
 *
 * ```text
 *   DocumentVersion  gen 6 --openAttempt--> gen 6' --written--> gen 7        header shared, tables versioned (VersionedMap)
 *        ^                                                        |
 *        | versionOf                                              | toDocument
 *   ProgressDocument, read                              ProgressDocument, to be stored: `records` and `bases` are made
 *                                                       when somebody reads them
 * ```
 *
 * So with a store that keeps documents by reference, as the one in memory does, nothing is ever copied as a whole; a
 * store that keeps text makes one for each write, at the cost of all records.
 */
export class DocumentVersion implements Tables {
  readonly #header: Header;
  readonly #tick: number;
  readonly #records: VersionedMap<HandlerRecord>;
  readonly #bases: VersionedMap<Base>;
  /** How many records below a handler or sub are to be retired; none where there are none. */
  readonly #retiring: VersionedMap<number>;
  #plain: Plain | undefined;

  constructor(
    header: Header,
    tick: number,
    records: VersionedMap<HandlerRecord>,
    bases: VersionedMap<Base>,
    retiring: VersionedMap<number>,
  ) {
    this.#header = header;
    this.#tick = tick;
    this.#records = records;
    this.#bases = bases;
    this.#retiring = retiring;
  }

  get header(): Header {
    return this.#header;
  }

  record(id: string): HandlerRecord | undefined {
    return this.#records.get(id);
  }

  /** The view of the last success, as it was defined then; `undefined` if there was none or it is lost (A6'). */
  baseOf(record: HandlerRecord | undefined): { readonly view: unknown } | undefined {
    const done = record?.done ?? null;
    if (done === null) return undefined;
    const base = this.#bases.get(done);
    return base?.view === undefined && !isDigestOfNothing(done) ? undefined : base;
  }

  /**
   * Opens an attempt. An attempt already open on the digest keeps its episode and its count; any other digest, or a
   * settled one opened anew, begins an episode.
   */
  openAttempt(id: string, digest: string, opening: Opening = {}): DocumentVersion {
    const tick = this.#tick + 1;
    return this.#set(tick, id, openedRecord(this.record(id), digest, tick, opening));
  }

  /** No record of anything. */
  get isEmpty(): boolean {
    return this.#records.size === 0;
  }

  /** Number of records. */
  get size(): number {
    return this.#records.size;
  }

  /** Whether a sub below this handler or sub is to be retired. */
  isRetiringBelow(parentId: string): boolean {
    return this.#retiring.get(parentId) !== undefined;
  }

  /** Takes a state as done without a call. */
  adopt(id: string, digest: string, view: unknown, schema: string | undefined): DocumentVersion {
    const tick = this.#tick;
    const attempt: Attempt = { ...freshAttempt(digest), state: 'ok' };
    const record = { attempt, done: digest, at: tick, episode: tick, ...(schema === undefined ? {} : { schema }) };
    return this.#set(tick, id, record, view);
  }

  /** Notes that the object was seen. */
  mark(id: string): DocumentVersion {
    return this.#set(this.#tick, id, { attempt: null, done: null, at: this.#tick, episode: 0 });
  }

  /**
   * Drops what no handler has claimed for longer than `ttlMs`, and notes since when the rest is so (A14'). Who is back
   * before that goes on where it was. A sub that is to be retired is claimed by a hook, not by a handler that has none.
   */
  tidied({ handlerIds, retiringIds }: Claims, wallMs: number, ttlMs: number): DocumentVersion {
    const changes: [string, HandlerRecord | undefined][] = [];
    for (const [id, record] of this.#records.entries()) {
      const { absentSinceWallMs, ...rest } = record;
      const claims = record.retirement === undefined ? handlerIds : retiringIds;
      const isKnown = claims.has(handlerIdOf(id));
      if (isKnown) {
        if (absentSinceWallMs !== undefined) changes.push([id, rest]);
      } else if (absentSinceWallMs === undefined || absentSinceWallMs > wallMs) {
        changes.push([id, { ...record, absentSinceWallMs: wallMs }]);
      } else if (wallMs - absentSinceWallMs > ttlMs) {
        changes.push([id, undefined]);
      }
    }
    return changes.length === 0 ? this : this.#with(this.#tick, changes);
  }

  /**
   * Notes the outcome of an attempt. Nothing happens if the record is gone (the sub left the plan) or has another
   * attempt by now; so it may be done over after a conflict, and twice is once. `from` is the digest that was opened:
   * the call's own patches may have moved it (A8'). `success`: what follows from that with the same step.
   */
  settleAttempt(id: string, episode: number, from: string, after: Attempt, success?: Success): DocumentVersion {
    const before = this.record(id);
    if (before === undefined || before.episode !== episode || before.attempt?.digest !== from) return this;
    const { opened = from } = before.attempt;
    const attempt = opened === after.digest ? after : { ...after, opened };
    // A retry that needed no intent was not stamped when it began; its turn counts all the same.
    const at = before.at === this.#tick ? before.at : this.#tick + 1;
    if (success === undefined) return this.#set(at, id, recordWith(before, attempt, before.done, at, episode));
    const { tried, seen } = success;
    // Without a plan there is nothing to wait for: it is complete.
    const isDone = seen !== undefined && before.plan === undefined;
    const settled = isDone
      ? recordWith(redone(before), attempt, after.digest, at, episode)
      : recordWith(before, attempt, before.done, at, episode);
    const isTold = tried === undefined || before.tried === undefined;
    return this.#set(at, id, isTold ? settled : { ...settled, tried: [tried] }, isDone ? seen.view : undefined);
  }

  /** A call has ended without an outcome: it is the others' turn. */
  stamp(id: string, episode: number): DocumentVersion {
    const before = this.record(id);
    if (before === undefined || before.episode !== episode || before.at === this.#tick) return this;
    const tick = this.#tick + 1;
    return this.#set(tick, id, recordWith(before, before.attempt, before.done, tick, episode));
  }

  /**
   * Makes a plan the parent's own. Subs that stay keep their records, new ones stand in line from this tick on: from 0,
   * plans with ever new ids would starve the old ones (A5'). Subs that left lose their records; but if the parent has a
   * hook, and they were ever opened, they are retired (A9'e), and with them all that is below them (A9'f). One that is back
   * before it was is retired no more; if a call to retire it was opened, nobody knows what is left of its work, so it is to
   * run again. So is one that had a plan itself, which it has lost.
   */
  adoptPlan(parentId: string, plan: readonly PlanEntry[], canRetire: boolean): DocumentVersion {
    const parent = this.record(parentId);
    if (parent === undefined || (plan.length === 0 && parent.plan === undefined)) return this;
    const tick = this.#tick;
    const changes: [string, HandlerRecord | undefined][] = [];
    // As nearly always: it stays the one that is known, with what was found out about it.
    const isSame = parent.plan !== undefined && isSamePlan(parent.plan, plan);
    if (!isSame) this.#leaveAll(parentId, parent.plan ?? [], plan, canRetire, changes);
    let before: ReadonlyMap<string, PlanEntry> | undefined;
    const kept = isSame && parent.plan !== undefined ? parent.plan : plan;
    for (const [place, id] of planTable(kept, parentId).ids.entries()) {
      const entry = kept[place];
      if (entry === undefined) continue;
      const known = this.record(id);
      if (known === undefined) {
        changes.push([id, { attempt: null, done: null, at: tick, episode: 0 }]);
        continue;
      }
      if (known.plan !== undefined) before ??= new Map((parent.plan ?? []).map((planned) => [planned.id, planned]));
      const isOther = isPlannedOtherwise(known, before?.get(entry.id), entry);
      if (!isOther && known.retirement === undefined) continue;
      const { retirement, ...record } = known;
      if (isOther) changes.push([id, { ...record, attempt: null }]);
      else if (retirement?.episode === 0) changes.push([id, record]);
      else changes.push([id, { ...record, attempt: null, done: null, at: tick, episode: 0 }]);
    }
    if (!isSame) {
      const { plan: _before, ...rest } = parent;
      changes.push([parentId, plan.length === 0 ? rest : { ...rest, plan }]);
    }
    return changes.length === 0 ? this : this.#with(this.#tick, changes);
  }

  /** Those of a plan that are not in the next one leave it. */
  #leaveAll(
    parentId: string,
    before: readonly PlanEntry[],
    after: readonly PlanEntry[],
    canRetire: boolean,
    changes: [string, HandlerRecord | undefined][],
  ): void {
    if (before.length === 0) return;
    const wanted = new Set(after.map((entry) => entry.id));
    for (const entry of before) {
      if (!wanted.has(entry.id)) this.#leave(subRecordId(parentId, entry.id), entry, canRetire, changes);
    }
  }

  /** A sub is in no plan any more, and nothing below it is. */
  #leave(id: string, entry: PlanEntry, canRetire: boolean, changes: [string, HandlerRecord | undefined][]): void {
    const record = this.record(id);
    for (const below of record?.plan ?? []) this.#leave(subRecordId(id, below.id), below, canRetire, changes);
    changes.push([id, canRetire ? retiringRecord(record, entry) : undefined]);
  }

  /** An empty plan for all of these parents: whatever their subs did is to be undone (A11'b). */
  retireAll(parentIds: readonly string[]): DocumentVersion {
    return parentIds.reduce<DocumentVersion>((doc, id) => doc.adoptPlan(id, [], true), this);
  }

  /** Ids of the records below a parent that are to be retired. Looks at all records. */
  retiring(parentId: string): readonly string[] {
    return this.#below(parentId).flatMap(([id, { retirement }]) => (retirement === undefined ? [] : [id]));
  }

  /** Ids of the records below a parent that are in a plan. Looks at all records. */
  planned(parentId: string): readonly string[] {
    return this.#below(parentId).flatMap(([id, { retirement }]) => (retirement === undefined ? [id] : []));
  }

  #below(parentId: string): readonly (readonly [string, HandlerRecord])[] {
    const prefix = subRecordId(parentId, '');
    return this.#records.entries().filter(([id]) => id.startsWith(prefix));
  }

  /** Opens a call to retire a sub; nothing if it is to be retired no more. */
  openRetirement(id: string): DocumentVersion {
    const before = this.record(id);
    if (before?.retirement === undefined) return this;
    const tick = this.#tick + 1;
    const episode = before.retirement.episode === 0 ? tick : before.retirement.episode;
    return this.#set(tick, id, { ...before, at: tick, retirement: { ...before.retirement, episode } });
  }

  /** Notes the outcome of a call to retire: the next one's time, or, `undefined`, the end of the record. */
  settleRetirement(id: string, after: Retirement | undefined, episode: number): DocumentVersion {
    const before = this.record(id);
    if (before?.retirement === undefined || before.retirement.episode !== episode) return this;
    if (after === undefined) return this.#set(this.#tick, id, undefined);
    const tick = before.at === this.#tick ? before.at : this.#tick + 1;
    return this.#set(tick, id, { ...before, at: tick, retirement: after });
  }

  /** Notes a success that `old` may refer to from now on, with its view. */
  markDone(id: string, digest: string, view: unknown): DocumentVersion {
    const before = this.record(id);
    if (before === undefined) return this;
    const isKnown = view === undefined || this.baseOf(before) !== undefined;
    if (before.done === digest && before.doneSchema === undefined && isKnown) return this;
    const done = recordWith(redone(before), before.attempt, digest, before.at, before.episode);
    return this.#set(this.#tick, id, done, view);
  }

  /** The version that is to be stored: a generation of its own. */
  written(writeId: string, resourceVersion: string): DocumentVersion {
    const { uid, name, gen } = this.#header;
    const header = { uid, name, gen: gen + 1, writeId, resourceVersion };
    return new DocumentVersion(header, this.#tick, this.#records, this.#bases, this.#retiring);
  }

  /** Plain data, for a store: own members that are read like any others, the two tables when they are asked for. */
  toDocument(): ProgressDocument {
    const plain = this.#toPlain();
    plain.document ??= storedDocument(this.#header, this.#tick, this);
    return plain.document;
  }

  /** All records, copied on first use. */
  get plainRecords(): ProgressDocument['records'] {
    const plain = this.#toPlain();
    plain.records ??= Object.freeze(Object.fromEntries(this.#records.entries()));
    return plain.records;
  }

  /** All views, copied on first use; those that are absent or lost are missing. */
  get plainBases(): ProgressDocument['bases'] {
    const plain = this.#toPlain();
    plain.bases ??= Object.freeze(
      Object.fromEntries(
        this.#bases.entries().flatMap(([digest, { view }]) => (view === undefined ? [] : [[digest, view]])),
      ),
    );
    return plain.bases;
  }

  /** Whether this is the very document that the version was stored as. */
  isStoredAs(document: ProgressDocument): boolean {
    return this.#plain?.document === document;
  }

  #toPlain(): Plain {
    this.#plain ??= {};
    return this.#plain;
  }

  /** Keeps exactly the bases that some `done` names. */
  #with(tick: number, records: Changes<HandlerRecord>): DocumentVersion {
    let bases = this.#bases;
    let retiring = this.#retiring;
    // Few changes make one of these: it costs nothing where none does.
    if (records.some(([id, record]) => movesTables(this.record(id), record))) {
      bases = basesWith(this.#bases, this.#records, records);
      retiring = retiringWith(this.#retiring, this.#records, records);
    }
    return new DocumentVersion(this.#header, tick, this.#records.with(records), bases, retiring);
  }

  /** `#with` a single change, as nearly all are; `view` is that of a success. */
  #set(tick: number, id: string, record: HandlerRecord | undefined, view?: unknown): DocumentVersion {
    const known = this.#records.get(id);
    let bases = this.#bases;
    let retiring = this.#retiring;
    if (view !== undefined || movesTables(known, record)) {
      bases = basesWithOne(this.#bases, known, record, view);
      retiring = retiringWithOne(this.#retiring, id, known, record);
    }
    return new DocumentVersion(this.#header, tick, this.#records.set(id, record), bases, retiring);
  }
}

/** The document of an object about which nothing is remembered. */
export function emptyDocument(uid: string, name: string): DocumentVersion {
  const header = { uid, name, gen: 0, writeId: '', resourceVersion: '' };
  return new DocumentVersion(header, 0, versionedMap(), versionedMap(), versionedMap());
}

/** Takes a document that was read. */
export function versionOf(document: ProgressDocument): DocumentVersion {
  const { records, bases, tick, ...header } = document;
  const named = new Map<string, Base>();
  const none = versionedMap<number>();
  const retiring = new Map<string, number | undefined>();
  for (const [id, { done, retirement }] of Object.entries(records)) {
    if (retirement !== undefined) countAbove(id, 1, none, retiring);
    if (done === null) continue;
    const view = Object.hasOwn(bases, done) ? bases[done] : undefined;
    named.set(done, { view, users: (named.get(done)?.users ?? 0) + 1 });
  }
  const tables = [versionedMap(new Map(Object.entries(records))), versionedMap(named)] as const;
  return new DocumentVersion(header, tick, ...tables, none.with([...retiring]));
}
