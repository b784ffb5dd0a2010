import { DocumentVersion } from '../../src/handlers/document-version.ts';
import { type MemoryProgress, memoryOf, type ProgressStore } from '../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../src/handlers/record.ts';
import { canonical } from '../unit/handlers/harness.ts';
import type { HandlerPlan } from './handlers-program.ts';

/** One call, as its handler saw it. */
export interface CallEntry {
  readonly process: number;
  readonly uid: string;
  readonly id: string;
  readonly digest: string;
  readonly key: string;
  readonly version: number;
  readonly object: unknown;
  readonly view: unknown;
  readonly old: unknown;
  readonly cause: string;
  readonly attempt: number;
  readonly retries: number;
  readonly isRebuild: boolean;
  /** What the ledger is to hold for it: what it saw, without the places that it writes itself. */
  readonly input: string;
  /** It may be taken back after its end, since the object has changed (`ifUnchanged`). */
  readonly isRevocable: boolean;
  /** Of a sub. */
  readonly args?: unknown;
  /** Of a handler. */
  readonly kind?: HandlerPlan['kind'];
}

/** What a handler has seen to, when its own patches are applied (A8'). */
export interface Seen {
  readonly digest: string;
  readonly view: unknown;
}

export type Ending = 'ok' | 'temporary' | 'permanent' | 'superseded';

/** One call to retire a sub. */
export interface RetireEntry {
  readonly process: number;
  readonly uid: string;
  readonly id: string;
  readonly key: string;
  readonly version: number;
  readonly tried: readonly unknown[];
  /** No parent above it will plan again: the object is on its way out, or not for the handler. */
  readonly isFree: boolean;
}

interface Effect {
  input: string;
  partial: boolean;
  /** Of a sub. */
  args: unknown;
}

/**
 * What really happened: calls, documents that landed, and a ledger of effects in the outside world. The invariants of
 * the specification are checked here as things happen; none of it looks into the controller.
 */
export class Journal {
  readonly violations: string[] = [];
  calls = 0;
  writes = 0;
  crashes = 0;
  /** The last effect that was begun per uid and handler. */
  readonly ledger = new Map<string, Effect>();
  /** Documents as they are in the store. */
  readonly docs = new Map<string, ProgressDocument>();
  /** Who has taken what there was as done, and was not called since. */
  readonly adopted = new Set<string>();
  readonly #doneKeys = new Set<string>();
  readonly #versions = new Map<string, number>();
  /** Per process, uid and handler: the digest of the last final outcome, until another one is opened. */
  readonly #settled = new Map<string, string>();
  readonly #lastOk = new Map<string, string>();
  readonly #views = new Map<string, string>();
  readonly #episodes = new Map<string, { settled: number; crashes: number; isUnsure: boolean }>();
  /** Ids of the calls that are going on, by uid. */
  readonly #open = new Map<string, Set<string>>();
  readonly #objects = new Map<string, unknown>();
  readonly #parents: ReadonlySet<string>;

  readonly #parallel: number;

  readonly #now: () => number;
  /** When the last attempt under a key has failed, per process. */
  readonly #failedAt = new Map<string, number>();

  /** `parallel`: calls at a time for one object. */
  constructor(parents: ReadonlySet<string>, parallel: number, now: () => number) {
    this.#parents = parents;
    this.#now = now;
    this.#parallel = parallel;
  }

  violate(rule: string, text: string): void {
    this.violations.push(`${rule} ${text}`);
  }

  /** A call begins. Says whether its effect has to be done: a consumer drops keys it has seen to their end (A13'). */
  begin(call: CallEntry): boolean {
    this.calls++;
    const who = `${call.uid} ${call.id}`;
    const where = `${who} at ${call.digest} v${call.version} in process ${call.process}`;
    if (call.version < (this.#versions.get(who) ?? 0)) this.violate("I6'", `${where}: an older state than before`);
    this.#versions.set(who, Math.max(call.version, this.#versions.get(who) ?? 0));
    const known = this.#objects.get(`${call.process} ${call.uid} ${call.version}`);
    if (known !== undefined && known !== call.object) this.violate("I5'", `${where}: another object for one version`);
    this.#objects.set(`${call.process} ${call.uid} ${call.version}`, call.object);
    if (!Object.isFrozen(call.object)) this.violate("I5'", `${where}: the object is not frozen`);
    const record = this.docs.get(call.uid)?.records[call.id];
    const done = record?.done ?? null;
    const base = done === null ? 'undefined' : this.#views.get(`${who} ${done}`);
    this.adopted.delete(who);
    const isDeletion = call.cause === 'delete';
    if (textOf(call.old) !== base && !isDeletion)
      this.violate("I6'", `${where}: old is ${textOf(call.old)}, the last success saw ${base}`);
    if (call.kind === 'update' && call.cause !== 'update') this.violate('D14', `${where}: cause ${call.cause}`);
    if (!isDeletion && (call.cause === 'create') !== (done === null))
      this.violate("A6'", `${where}: cause ${call.cause}, done ${done}`);
    if (call.isRebuild) return false;
    for (let slash = call.id.lastIndexOf('/'); slash > 0; slash = call.id.lastIndexOf('/', slash - 1)) {
      const parent = this.docs.get(call.uid)?.records[call.id.slice(0, slash)];
      const [subId] = call.id.slice(slash + 1).split('/');
      const isPlanned = parent?.attempt?.state === 'ok' && parent.plan?.some(({ id }) => id === subId) === true;
      if (!isPlanned)
        this.violate("A9'c", `${where}: called below ${call.id.slice(0, slash)}, which has not planned it`);
    }
    this.#beginBeside(call, where);
    if (this.#failedAt.get(`${call.process} ${call.key}`) === this.#now()) {
      this.violate("A4'", `${where}: called again at once after a failure`);
    }
    if (record?.attempt?.digest !== call.digest || record.attempt.state !== 'open') {
      this.violate("A12'", `${where}: called without an open attempt`);
    }
    if (this.#settled.get(`${call.process} ${who}`) === call.digest) {
      this.violate("I3'/I8'", `${where}: called again without another digest in between`);
    }
    const episode = this.#episodes.get(call.key) ?? { settled: 0, crashes: 0, isUnsure: false };
    if (!episode.isUnsure && episode.crashes === 0 && call.attempt !== episode.settled) {
      this.violate("A4'", `${where}: attempt ${call.attempt} after ${episode.settled} settled calls of the episode`);
    }
    this.#views.set(`${who} ${call.digest}`, textOf(call.view));
    return !this.#doneKeys.has(call.key);
  }

  /** The effect of a call begins: from now on the world is no longer as the last success left it. */
  effect(call: CallEntry): void {
    this.ledger.set(`${call.uid} ${call.id}`, { input: call.input, partial: true, args: call.args });
  }

  /** A call ends in a process that lives. */
  end(call: CallEntry, ending: Ending, didEffect: boolean, seen: Seen): void {
    if (call.isRebuild) return;
    const who = `${call.uid} ${call.id}`;
    this.#open.get(call.uid)?.delete(call.id);
    if (ending === 'ok') {
      if (didEffect) this.ledger.set(who, { input: call.input, partial: false, args: call.args });
      this.#doneKeys.add(call.key);
      this.#lastOk.set(who, seen.digest);
    }
    if (ending === 'superseded') return;
    const isFinal = ending !== 'temporary' || call.attempt + 1 > call.retries;
    this.#views.set(`${who} ${seen.digest}`, textOf(seen.view));
    if (call.isRevocable) {
      this.#episodes.set(call.key, { settled: 0, crashes: 0, isUnsure: true });
      return;
    }
    if (!isFinal) this.#failedAt.set(`${call.process} ${call.key}`, this.#now());
    if (isFinal) this.#settled.set(`${call.process} ${who}`, seen.digest);
    const episode = this.#episodes.get(call.key) ?? { settled: 0, crashes: 0, isUnsure: false };
    episode.settled++;
    this.#episodes.set(call.key, episode);
    if (episode.settled > call.retries + 1 + episode.crashes) {
      this.violate(
        "I7'",
        `${who} at ${call.digest}: ${episode.settled} calls, ${call.retries} retries, ${episode.crashes} crashes`,
      );
    }
  }

  /** A call to retire a sub begins: half of what the sub did is gone from now on. */
  beginRetirement({ process, uid, id, version, tried, isFree }: RetireEntry): void {
    this.calls++;
    const who = `${uid} ${id}`;
    const where = `${who} v${version} in process ${process}`;
    this.#beginBeside({ uid, id }, where);
    if (version < (this.#versions.get(who) ?? 0))
      this.violate("I6'", `${where}: retired on an older state than before`);
    this.#versions.set(who, version);
    if ((this.docs.get(uid)?.records[id]?.retirement?.episode ?? 0) === 0) {
      this.violate("A12'", `${where}: retired without being opened`);
    }
    if (!isFree && isParentOpen(this.docs.get(uid), id)) this.violate("A9'e", `${where}: retired below an open parent`);
    const left = this.effectsOf(uid, id);
    if (left.length > 0) this.violate("A9'f", `${where}: retired before ${left.join(', ')}`);
    // Should its plan get it back, it has to be called again, at whatever digest (A9'e); also if one write tells of both.
    this.#unsettle(who, undefined);
    const effect = this.ledger.get(who);
    if (effect === undefined) return;
    if (!tried.some((args) => textOf(args) === textOf(effect.args))) {
      this.violate("I10'", `${where}: retired with ${textOf(tried)}, the world has ${textOf(effect.args)}`);
    }
    effect.partial = true;
  }

  endRetirement({ uid, id }: RetireEntry, isOk: boolean): void {
    this.#open.get(uid)?.delete(id);
    if (isOk) this.ledger.delete(`${uid} ${id}`);
  }

  /** Calls of one object are at most so many, of different ids, and none of a parent and something below it (A10'b). */
  #beginBeside({ uid, id, cause }: { uid: string; id: string; cause?: string }, where: string): void {
    const others = this.#open.get(uid) ?? new Set();
    const isNear = (other: string): boolean => `${other}/`.startsWith(`${id}/`) || `${id}/`.startsWith(`${other}/`);
    if (others.size >= this.#parallel) this.violate("A10'b", `${where}: beside ${[...others].join(', ')}`);
    if ([...others].some(isNear)) this.violate("A10'b", `${where}: beside a parent or sub of it`);
    if (cause === 'delete' && others.size > 0)
      this.violate("A11'b", `${where}: the deletion, beside ${[...others][0]}`);
    this.#open.set(uid, others.add(id));
  }

  /** What is left in the world of subs of this parent. */
  effectsOf(uid: string, parentId: string): readonly string[] {
    const prefix = `${uid} ${parentId}/`;
    return [...this.ledger.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(uid.length + 1));
  }

  /** From now on it may be called at every digest but this one. */
  #unsettle(who: string, digest: string | undefined): void {
    for (const [key, settled] of this.#settled) {
      if (key.endsWith(` ${who}`) && settled !== digest) this.#settled.delete(key);
    }
  }

  /** A process dies with whatever it had under way; outcomes that it had not written yet are lost. */
  crashed(): void {
    this.crashes++;
    this.#open.clear();
    for (const episode of this.#episodes.values()) episode.crashes++;
  }

  /**
   * The store, with every write that lands written down. `hasLanded` is asked about one that was refused, where it is not the
   * test that loses the answers.
   */
  store(store: ProgressStore, hasLanded: (next: ProgressDocument) => boolean): ProgressStore {
    return {
      get: (uid, name) => store.get(uid, name),
      list: () => store.list(),
      ...(store.conceal === undefined ? {} : { conceal: store.conceal }),
      ...(store.reachesRecords === undefined ? {} : { reachesRecords: store.reachesRecords }),
      compareAndSet: async (uid, gen, next) => {
        try {
          const done = await store.compareAndSet(uid, gen, next);
          if (done) this.#landed(next);
          return done;
        } catch (error) {
          if (hasLanded(next)) this.#landed(next);
          throw error;
        }
      },
      delete: async (uid) => {
        await store.delete(uid);
        this.docs.delete(uid);
      },
    };
  }

  /** The same for a store that controllers work on without its methods: what lands in it is seen where it is kept. */
  watch(memory: MemoryProgress): void {
    const documents = memoryOf(memory);
    if (documents === undefined) throw new Error('controllers ask this store by its methods');
    const [swap, drop] = [documents.swap.bind(documents), documents.delete.bind(documents)];
    documents.swap = (uid, gen, next) => {
      const done = swap(uid, gen, next);
      if (done) this.#landed(next instanceof DocumentVersion ? next.toDocument() : next);
      return done;
    };
    documents.delete = (uid) => {
      drop(uid);
      this.docs.delete(uid);
    };
  }

  #landed(next: ProgressDocument): void {
    this.writes++;
    const before = this.docs.get(next.uid);
    this.docs.set(next.uid, next);
    const ids = new Set([...Object.keys(before?.records ?? {}), ...Object.keys(next.records)]);
    for (const id of ids) {
      const who = `${next.uid} ${id}`;
      const [was, is] = [before?.records[id], next.records[id]];
      const digest = is?.attempt?.digest;
      // As where a call to retire begins: it may have been opened together with others, and never made.
      this.#unsettle(who, (is?.retirement?.episode ?? 0) > 0 ? undefined : digest);
      if (is === undefined || is.done === (was?.done ?? null)) continue;
      if (was === undefined && is.done !== null) {
        if (is.attempt?.digest === is.done) this.adopted.add(who);
        this.#lastOk.set(who, is.done);
        this.#views.set(`${who} ${is.done}`, textOf(next.bases[is.done]));
      }
      if (this.#parents.has(id)) {
        if (is.done !== null && !isComplete(next, id, before?.tick ?? 0))
          this.violate("A9'a", `${who}: done is ${is.done}, its subs are not`);
        continue;
      }
      // A sub that was about to be retired when its plan got it back begins anew (A9'e).
      if (is.done === null) continue;
      if (is.done !== this.#lastOk.get(who)) {
        this.violate("I6'", `${who}: done is ${is.done}, the last success was at ${this.#lastOk.get(who)}`);
      }
    }
    const wanted = new Set(Object.values(next.records).flatMap(({ done }) => (done === null ? [] : [done])));
    const extra = Object.keys(next.bases).filter((digest) => !wanted.has(digest));
    if (extra.length > 0) this.violate("I18'", `${next.uid}: bases that nobody refers to: ${extra.join(', ')}`);
  }
}

/**
 * Whether all that a parent has planned has its final outcome, and so on down; or had it until this very write, which came
 * after a document of the tick `since`, opened it for another input.
 */
function isComplete(doc: ProgressDocument, parentId: string, since: number): boolean {
  return (doc.records[parentId]?.plan ?? []).every((entry) => {
    const id = `${parentId}/${entry.id}`;
    const record = doc.records[id];
    const state = record?.attempt?.state ?? 'open';
    if (state === 'open') return record?.attempt?.failures === 0 && record.episode > since;
    return state === 'failed' || isComplete(doc, id, since);
  });
}

/** Whether a parent above a sub that has left its plan is called, or waits: its next plan may have the sub again. */
function isParentOpen(doc: ProgressDocument | undefined, id: string): boolean {
  for (let slash = id.indexOf('/'); slash > 0; slash = id.indexOf('/', slash + 1)) {
    const parent = doc?.records[id.slice(0, slash)];
    const [next] = id.slice(slash + 1).split('/');
    const state = parent?.attempt?.state ?? 'open';
    if (parent?.retirement !== undefined || state !== 'ok') return parent?.retirement === undefined && state === 'open';
    if (parent?.plan?.some((entry) => entry.id === next) !== true) return false;
  }
  return false;
}

/** A view as text, also the absent one. */
export function textOf(view: unknown): string {
  return view === undefined ? 'undefined' : canonical(view);
}
