import type { Observation, WriterTry } from '../types/writer-lease.ts';
import { DueTimer } from './due-timer.ts';
import { WriterAnswers } from './writer-answers.ts';
import { type Answer, type CallKind, noAnswer, runRead, runWork, WriterCall } from './writer-call.ts';
import { tell } from './writer-checks.ts';
import { HeldBack } from './writer-held-back.ts';
import type { WriterKey } from './writer-key.ts';
import { FALLBACKS, WriterMoves, type WriterParts } from './writer-moves.ts';
import { WriterObservations } from './writer-observations.ts';
import { wish } from './writer-view.ts';

/**
 * Takes the events of a lease one after the other, makes at most one call at a time, and has one timer.
 *
 * ```text
 *   try, observe, remove --+                                +--> read, work     (one at a time)
 *   answer of a call ------+--> places of the keys, role ---+
 *   timer -----------------+        (moves)                 +--> timer: the next of what is due
 * ```
 *
 * User code runs in a microtask of its own, behind an event and never in it. What an event costs does not depend on how
 * many keys there are; a follower that acts looks through those that wait (WL11).
 */
export class WriterMachine {
  readonly #parts: WriterParts;
  readonly #moves: WriterMoves;
  readonly #observations: WriterObservations;
  readonly #answers: WriterAnswers;
  readonly #timer: DueTimer;
  readonly #heldBack = new HeldBack();
  /** Blocked keys that are to be read. */
  readonly #unexplained: WriterKey[] = [];
  #call: WriterCall | undefined;
  #isPumpQueued = false;
  #isClosed = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#moves = new WriterMoves(parts);
    this.#observations = new WriterObservations(parts, this.#moves);
    this.#answers = new WriterAnswers(parts, this.#moves);
    this.#timer = new DueTimer({
      clock: parts.settings.clock,
      deadline: () => this.#nextDue(),
      onDue: () => this.#tick(),
    });
  }

  try(name: string, request: WriterTry<unknown>): boolean {
    const { keys, settings, counts } = this.#parts;
    const now = settings.clock.now();
    const key = keys.require(name, 'try a key');
    const isNew = 'wanted' in request && wish(key, request.wanted, settings.equal);
    if (isNew) settings.tracker?.wants(name);
    if (this.#isStale(key, request)) {
      counts.stale++;
      return false;
    }
    if (request.revision > key.known) key.known = request.revision;
    if (key.work === undefined) key.askedAt = now;
    else counts.coalesced++;
    key.work = request.work;
    key.tryRevision = request.revision;
    key.isRight = false;
    const isHeld = key.place === 'parked' && key.trouble?.parkedFor === 'held';
    if (key.place === 'idle' || (isHeld && isNew)) this.#moves.enqueue(key, now);
    this.#goOn(now);
    return true;
  }

  observe(name: string, observation: Observation<unknown>): void {
    const { keys, settings } = this.#parts;
    if (this.#call?.kind === 'write' && this.#call.key === name) {
      this.#heldBack.add(observation);
      return;
    }
    const key = keys.make(name);
    if (key === undefined) return;
    const now = settings.clock.now();
    this.#observations.see(key, observation, now);
    if (this.#call !== undefined && this.#call.target === key && key.place === 'idle') this.#abandonRead();
    this.#goOn(now);
  }

  remove(name: string): void {
    const { keys, term, settings } = this.#parts;
    const key = keys.get(name);
    if (key === undefined) return;
    const isRead = this.#call?.target === key && this.#call.kind !== 'write';
    term.forget(key);
    keys.forget(key);
    if (isRead) this.#abandonRead();
    this.#goOn(settings.clock.now());
  }

  close(reason: unknown): void {
    this.#isClosed = true;
    this.#timer.close();
    this.#call?.abort(reason);
    this.#call = undefined;
    this.#parts.waits.settle('closed');
  }

  /**
   * Made from an older view than one that found the key right, and for no other value than that (WL21). What this lease wrote
   * is right for who wants the same; the watch may show edits of before afterwards.
   */
  #isStale(key: WriterKey, request: WriterTry<unknown>): boolean {
    if (request.revision >= key.view) return false;
    if ('wanted' in request && key.hasWanted) {
      return (key.isRight || key.isOwn) && this.#parts.settings.equal(request.wanted, key.value);
    }
    return key.isRight;
  }

  /** After every event: something can be done, or there is something to wait for. */
  #goOn(now: number): void {
    if (this.#isClosed) return;
    if (!this.#isPumpQueued && (this.#canAct(now) || this.#hasToRead())) {
      this.#isPumpQueued = true;
      queueMicrotask(this.#pump);
    }
    if (this.#nextDue() === undefined) this.#timer.disarm();
    else this.#timer.arm();
  }

  /** Whether a key may be tried now (WL2, WL12, WL17). */
  #canAct(now: number): boolean {
    const { keys, term, settings } = this.#parts;
    const oldest = keys.pending.first;
    if (oldest === undefined) {
      if (keys.blocked === 0 && this.#call === undefined) term.isCandidate = false;
      return false;
    }
    if (this.#call !== undefined) return false;
    if (term.isLeader) return keys.blocked < settings.doubtsMax;
    return keys.blocked === 0 && (term.isCandidate || now >= term.deadline(oldest.since));
  }

  #hasToRead(): boolean {
    return this.#call === undefined && this.#unexplained.length > 0;
  }

  readonly #pump = (): void => {
    this.#isPumpQueued = false;
    if (this.#isClosed) return;
    const now = this.#parts.settings.clock.now();
    this.#act(now);
    this.#goOn(now);
  };

  /** Begins the next call, if there is one to make. */
  #act(now: number): void {
    if (this.#call !== undefined || this.#isClosed) return;
    const { keys, term, settings } = this.#parts;
    for (let key = this.#unexplained.shift(); key !== undefined; key = this.#unexplained.shift()) {
      if (key.place !== 'blocked') continue;
      this.#read('explain', key, now, false);
      return;
    }
    const overtaken = term.isOvertakenDue(now) ? term.overtaken : undefined;
    const key = this.#pick(now);
    if (key === undefined) return;
    term.left(key);
    keys.toCalling(key);
    if (settings.read !== undefined && !term.isLeader) this.#read('probe', key, now, key === overtaken);
    else this.#write(key, now);
  }

  /** The key to try (WL11, WL12). */
  #pick(now: number): WriterKey | undefined {
    const { keys, term } = this.#parts;
    while (this.#canAct(now)) {
      const oldest = keys.pending.first;
      if (oldest === undefined) return undefined;
      if (term.isLeader) {
        if (!this.#moves.refused(oldest, now)) return oldest;
        continue;
      }
      const { overtaken } = term;
      if (overtaken !== undefined && term.isOvertakenDue(now)) {
        if (!this.#moves.refused(overtaken, now)) return overtaken;
        continue;
      }
      term.isCandidate = true;
      return keys.probe((key) => this.#moves.refused(key, now));
    }
    return undefined;
  }

  #write(key: WriterKey, now: number): void {
    const { counts } = this.#parts;
    const call = this.#begin('write', key, now, false);
    key.work = undefined;
    counts.attempts++;
    runWork(call).then((answer) => this.#answered(call, answer));
  }

  #read(kind: 'probe' | 'explain', key: WriterKey, now: number, isOvertaken: boolean): void {
    const { read } = this.#parts.settings;
    if (read === undefined) return;
    const call = this.#begin(kind, key, now, isOvertaken);
    runRead(call, read).then((answer) => this.#answered(call, answer));
  }

  #begin(kind: CallKind, key: WriterKey, now: number, isOvertaken: boolean): WriterCall {
    const { term, settings } = this.#parts;
    const timeoutAt = now + settings.writeTimeoutMs;
    const call = new WriterCall(kind, key, { fencingToken: term.fencingToken, timeoutAt, isOvertaken });
    this.#call = call;
    return call;
  }

  #answered(call: WriterCall, answer: Answer): void {
    if (this.#isClosed) return;
    const now = this.#parts.settings.clock.now();
    if (call === this.#call) {
      this.#call = undefined;
      this.#take(call, answer, now);
      this.#act(now);
    } else {
      this.#answers.late(call, answer, now);
    }
    this.#goOn(now);
  }

  #take(call: WriterCall, answer: Answer, now: number): void {
    const { term, keys, settings } = this.#parts;
    const { target } = call;
    if (call.kind === 'explain') {
      this.#answers.explained(call, answer, now);
    } else if (call.kind === 'write') {
      this.#answers.wrote(call, answer, now);
      this.#lookAtHeldBack(call, now);
      if (target.place === 'blocked' && settings.read !== undefined) this.#unexplained.push(target);
    } else if (this.#answers.probed(call, answer, now) === 'write' && !this.#isClosed && target.place === 'calling') {
      // (A logger that is told of a read's failure may have closed the lease, or removed the key.)
      // Evidence that came meanwhile has taken the turn away, though not from an overtaken key (WL10).
      if (term.isLeader || term.isCandidate || call.isOvertaken) this.#write(target, now);
      else keys.backToPending(target);
    }
  }

  #lookAtHeldBack(call: WriterCall, now: number): void {
    for (const observation of this.#heldBack.take()) {
      const key = this.#parts.keys.get(call.key);
      if (key !== undefined) this.#observations.see(key, observation, now);
    }
  }

  /** The watch was faster. */
  #abandonRead(): void {
    this.#call?.abort(undefined);
    this.#call = undefined;
  }

  #nextDue(): number | undefined {
    const { keys, term } = this.#parts;
    const oldest = keys.pending.first;
    let due = this.#call?.timeoutAt ?? Number.POSITIVE_INFINITY;
    const wakeAt = keys.wakeups.first()?.wakeAt;
    if (wakeAt !== undefined && wakeAt < due) due = wakeAt;
    if (this.#call === undefined && oldest !== undefined && !term.isLeader && keys.blocked === 0) {
      due = Math.min(due, term.deadline(oldest.since));
    }
    return due === Number.POSITIVE_INFINITY ? undefined : due;
  }

  #tick(): void {
    const { keys, settings } = this.#parts;
    const now = settings.clock.now();
    const call = this.#call;
    if (call !== undefined && call.timeoutAt <= now) this.#timeOut(call, now);
    for (let key = keys.wakeups.first(); key !== undefined && key.wakeAt <= now; key = keys.wakeups.first()) {
      if (key.place === 'blocked') this.#stillBlocked(key, now);
      else if (key.trouble?.parkedFor === 'held') this.#moves.enqueue(key, now);
      else keys.toPending(key, key.since);
    }
    this.#goOn(now);
  }

  #timeOut(call: WriterCall, now: number): void {
    const error = noAnswer(call.key, this.#parts.settings.writeTimeoutMs);
    this.#call = undefined;
    call.abort(error);
    if (call.kind === 'write') {
      this.#parts.counts.unknownOutcomes++;
      this.#answers.failed(call, error, now, true);
      this.#lookAtHeldBack(call, now);
    } else {
      this.#take(call, { type: 'failed', error }, now);
    }
  }

  /** Nothing has explained the conflict for a whole cap: asks for it, and the second time tries again anyway (WL16). */
  #stillBlocked(key: WriterKey, now: number): void {
    const { keys, settings, counts } = this.#parts;
    const { read, relist } = settings;
    const trouble = key.troubled();
    trouble.fallbacks++;
    if (read === undefined && trouble.fallbacks >= FALLBACKS) {
      this.#moves.retry(key, now);
      return;
    }
    keys.toBlocked(key, now + settings.capMs);
    if (read !== undefined) {
      this.#unexplained.push(key);
    } else if (relist !== undefined) {
      counts.relists++;
      queueMicrotask(() => this.#askForList(key.key, relist));
    }
  }

  #askForList(key: string, relist: (key: string) => void): void {
    tell(
      () => relist(key),
      (error) => this.#parts.settings.logger.error('relist failed', { key, error }),
    );
  }
}
