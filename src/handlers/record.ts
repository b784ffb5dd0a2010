/**
 * What is remembered about an object, as plain JSON data: the form in which it is stored. `DocumentVersion` is the one in
 * which it is worked on.
 *
 * ```text
 *   document  uid, name, gen 7, writeId, tick 12, resourceVersion "41"
 *   |
 *   +- records   "scale"      attempt { digest B, open, failures 1, ... }   done A      at 11   episode 9
 *   |            "deploy"     attempt { digest C, ok }                      done C      at 12   episode 12
 *   |                         plan [ { id "a", args 1 } ]
 *   |            "deploy/a"   attempt null                                  done null   at 12   episode 0
 *   |
 *   +- bases     A -> view, C -> view        exactly the digests that some `done` names
 * ```
 *
 * `attempt` is the last one *opened*; `done` the last *success*, kept apart since it only serves `old` (A3').
 */
export interface ProgressDocument {
  /** The life of the object that all of this is about. */
  readonly uid: string;
  /** The object's name in its source. */
  readonly name: string;
  /** Rises by one with each write; 0 for a document that was never written. */
  readonly gen: number;
  /** Who wrote this generation, so that a write whose answer got lost can be recognised. */
  readonly writeId: string;
  /**
   * The object's own time. Rises with each turn that was taken: an attempt opened, or a call that ended without an intent
   * of its own.
   */
  readonly tick: number;
  /** The highest resource version used, called on or taken as done, or `''`. States below it are refused (A12'). */
  readonly resourceVersion: string;
  /** By handler id, and by `parent/sub` for the subs of a plan, whose parent may be a sub itself. */
  readonly records: Readonly<Record<string, HandlerRecord>>;
  /** Views by their digest, for `old`. A view that is absent is missing here, too. */
  readonly bases: Readonly<Record<string, unknown>>;
}

/** A document in short. */
export type ProgressHead = Pick<ProgressDocument, 'uid' | 'name' | 'resourceVersion'>;

/** What is remembered about one handler or sub-handler of an object. */
export interface HandlerRecord {
  /** The attempt that was opened last; `null` for a planned sub that has had none, and where the object was only seen. */
  readonly attempt: Attempt | null;
  /** The digest of the last success, of a parent together with all of its subs; `null` before the first. */
  readonly done: string | null;
  /** The tick at which its last turn was taken, or the sub planned: who has the lowest is served first (A5'). */
  readonly at: number;
  /** The tick at which the episode began, that is, at which the attempt's digest was opened; part of the key (A13'). */
  readonly episode: number;
  /** What a parent registered when it last succeeded; absent if nothing. */
  readonly plan?: readonly PlanEntry[];
  /**
   * Of a sub whose parent has a `retire` hook: every args that an attempt was opened with since the last success, that of
   * the success included. Which of them took effect, nobody knows after a crash (A9'e).
   */
  readonly tried?: readonly Tried[];
  /** How the view was defined when the attempt was opened; absent for the default view by the default rules, without a version (A14'). */
  readonly schema?: string;
  /** How that of `done` was defined, where that is not `schema`: there was no success since. */
  readonly doneSchema?: string;
  /** Wall time in ms since the epoch since when no controller has known the handler (A14'). */
  readonly absentSinceWallMs?: number;
  /** Of a sub that has left the plan: what it did is to be undone (A9'e). */
  readonly retirement?: Retirement;
}

/** The args of an attempt; absent if there were none. */
export interface Tried {
  readonly args?: unknown;
}

/** The attempts to undo what a sub did. */
export interface Retirement extends Wait {
  /** The tick at which the first call was opened; 0 before that. */
  readonly episode: number;
  readonly failures: number;
}

/** When the next call may be made. */
export interface Wait {
  /** Wall time in ms since the epoch; 0 is "at once". Believed only as far as `delayMs` from now (A4'). */
  readonly wakeAtWallMs: number;
  /** The wait as it was meant, in ms; 0 without one. */
  readonly delayMs: number;
}

/** All calls on one digest since it was opened, taken together. */
export interface Attempt extends Wait {
  /** Of what the handler saw. */
  readonly digest: string;
  /** `open` until the final outcome: running, waiting for a retry, or interrupted. */
  readonly state: 'open' | 'ok' | 'failed';
  /** Settled calls of the episode that failed (A4'): interrupted and superseded ones are not counted. */
  readonly failures: number;
  /** Its own patches have changed what it sees, and it wants to be called for that, whatever it sees by then (A8'b). */
  readonly again?: boolean;
  /** The digest that the episode began with, where patches of its calls have moved it since; part of the key (A13'). */
  readonly opened?: string;
}

/** A sub-handler as planned. Everything needed to tell, without its function, whether it is due. */
export interface PlanEntry {
  /** Without the parent's id. */
  readonly id: string;
  /** As registered; absent if there are none. */
  readonly args?: unknown;
  /** The sub sees this field of the object. */
  readonly field?: string;
  /** The sub sees a selection of the parent's view: its digest, fixed for as long as the plan is. */
  readonly selected?: string;
}

/**
 * A record with what each step moves. Most have nothing else, or a plan: those are written out, so that they are of two
 * shapes, however they came to be. To copy records of many shapes takes most of the time of a step. Whatever else a record
 * has, also of a later version of this program, it keeps.
 */
export function recordWith(
  before: HandlerRecord,
  attempt: Attempt | null,
  done: string | null,
  at: number,
  episode: number,
): HandlerRecord {
  const { plan } = before;
  const members = countMembers(before);
  if (members === 4) return { attempt, done, at, episode };
  if (members === 5 && plan !== undefined) return { attempt, done, at, episode, plan };
  return { ...before, attempt, done, at, episode };
}

/** Without a list of them, which would be one for each record and step. */
function countMembers(record: object): number {
  let members = 0;
  for (const _name in record) members++;
  return members;
}

/** Whether something may be left in the world of what this sub did. */
export function wasOpened({ attempt, done, tried }: HandlerRecord): boolean {
  return attempt !== null || done !== null || tried !== undefined;
}

/** Whether the last opened attempt was on this digest and has its final outcome (A3'). */
export function isSettled(record: HandlerRecord | undefined, digest: string): boolean {
  const attempt = record?.attempt;
  return attempt?.digest === digest && attempt.state !== 'open' && attempt.again !== true;
}
