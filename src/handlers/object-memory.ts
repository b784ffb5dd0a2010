import type { RunningCall } from './call.ts';
import { emptyDocument, type ProgressDocument } from './record.ts';
import type { SubHandler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';

/** Dead uids remembered per name until their documents are deleted; beyond that the next list finds the rest. */
const GARBAGE_MAX = 64;

/** Writes whose answer got lost, remembered per generation. Redoing one that is forgotten is harmless (see settleAttempt). */
const UNSURE_MAX = 64;

/** A change to the document that has happened in the world and waits to be written. Can be done over (A12'). */
export interface PendingOutcome {
  readonly apply: (doc: ProgressDocument) => ProgressDocument;
}

/** What a write of ours carried. */
export interface SentWrite {
  readonly outcome: PendingOutcome | undefined;
  /** Record id and episode of the attempt it opened. */
  readonly opened: { readonly id: string; readonly episode: number } | undefined;
}

/** What a parent registered on one digest of its own. */
export interface Closures {
  readonly digest: string;
  readonly subs: ReadonlyMap<string, SubHandler>;
}

/** A stored wall-clock time and what it means on the monotonic clock. */
export interface Deadline {
  readonly wakeAtWallMs: number;
  readonly deadlineClockMs: number;
}

/** How long the subs of a parent rest whose rebuild call has failed, and how often it has. */
export interface RebuildRest {
  readonly deadlineClockMs: number;
  readonly failures: number;
}

/**
 * What a process knows about one uid beyond its document. All of it may be lost: a crash loses it.
 */
export class UidMemory {
  readonly uid: string;
  /** The document as last read or written; `undefined` before the first read. */
  doc: ProgressDocument | undefined;
  /** This process has read the object itself, not only heard of it (A12'). */
  fresh = false;
  pending: PendingOutcome | undefined;
  /** Functions of the planned subs, valid for the parent's digest they were registered at (A9'd). */
  readonly closures: Map<string, Closures> = new Map();
  /** Episodes with an attempt opened by this process: retries of these need no intent (A12'). */
  readonly opened: Map<string, number> = new Map();
  /** Monotonic deadlines of stored wall-clock ones, so that a jump of the wall clock moves nothing (A4'). */
  readonly deadlines: Map<string, Deadline> = new Map();
  /** Parents whose rebuild call failed, until when their subs rest and how often. */
  readonly rebuilds: Map<string, RebuildRest> = new Map();
  /** Records whose last call was aborted for newer input: the next one may finish. */
  readonly spared: Set<string> = new Set();
  /** Passes in a row that opened an attempt and then began anew on a newer state. */
  restarts = 0;
  readonly #unsure = new Map<string, SentWrite>();

  constructor(uid: string) {
    this.uid = uid;
  }

  /** The document with what waits to be written. */
  effective(name: string): ProgressDocument {
    const doc = this.doc ?? emptyDocument(this.uid, name);
    return this.pending === undefined ? doc : this.pending.apply(doc);
  }

  /** Remembers a write that may or may not have happened. */
  doubt(writeId: string, sent: SentWrite): void {
    const oldest = this.#unsure.keys().next();
    if (this.#unsure.size >= UNSURE_MAX && oldest.done !== true) this.#unsure.delete(oldest.value);
    this.#unsure.set(writeId, sent);
  }

  /** Takes a document just read; if one of our doubtful writes made it, that write has happened (row 21). */
  reload(doc: ProgressDocument): SentWrite | undefined {
    this.doc = doc;
    const sent = this.#unsure.get(doc.writeId);
    if (sent !== undefined) this.landed(sent);
    return sent;
  }

  /** A write of ours is the present document, so no earlier one can land any more. */
  landed(sent: SentWrite): void {
    if (sent.outcome === this.pending) this.pending = undefined;
    if (sent.opened !== undefined) this.opened.set(sent.opened.id, sent.opened.episode);
    this.#unsure.clear();
  }

  /** Forgets what belongs to records that are gone. */
  trim(): void {
    const records = this.doc?.records ?? {};
    for (const map of [this.closures, this.opened, this.deadlines, this.rebuilds, this.spared]) {
      for (const id of map.keys()) if (!Object.hasOwn(records, id)) map.delete(id);
    }
  }
}

/** What a process knows about one name. */
export class ObjectState {
  readonly name: string;
  newest: Snapshot | undefined;
  memory: UidMemory | undefined;
  running: RunningCall | undefined;
  readonly #garbage = new Set<string>();

  constructor(name: string) {
    this.name = name;
  }

  /** Makes a state the newest and tells the running call. */
  replace(newest: Snapshot | undefined): void {
    this.newest = newest;
    this.running?.reconsider(newest);
  }

  /** Uids whose documents have to go. */
  get garbage(): readonly string[] {
    return [...this.#garbage];
  }

  discard(uid: string): void {
    if (this.#garbage.size < GARBAGE_MAX) this.#garbage.add(uid);
  }

  collected(uid: string): void {
    this.#garbage.delete(uid);
  }
}
