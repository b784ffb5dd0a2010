import type { Observation } from '../types/writer-lease.ts';
import type { WriterKey } from './writer-key.ts';
import type { WriterMoves, WriterParts } from './writer-moves.ts';
import { compareSeen, type Flags, wish } from './writer-view.ts';

/**
 * What an observation means (WL6-WL10, WL16, WL20, WL21).
 *
 * ```text
 *   not newer than the view      nothing, but a sample of the watch if it is an own echo
 *   changed to mine              evidence: restarts a follower's window, may end a term
 *   explains a conflict          the key is dropped, or tried again
 *   right                        the wish is dropped
 * ```
 *
 * Not for a key whose write is under way: its observations are held back until the answer is there (WL19).
 */
export class WriterObservations {
  readonly #parts: WriterParts;
  readonly #moves: WriterMoves;
  readonly #flags: Flags = { revision: 0, satisfied: false, changed: false, satisfiedBefore: false };

  constructor(parts: WriterParts, moves: WriterMoves) {
    this.#parts = parts;
    this.#moves = moves;
  }

  see(key: WriterKey, observation: Observation<unknown>, now: number): void {
    const { counts, term, settings } = this.#parts;
    const { revision } = observation;
    if (revision >= key.awaited && key.awaited >= 0) this.#sample(key, now);
    else if (revision <= key.view) counts.stale++;
    if (revision <= key.view) return;

    const flags = this.#compare(key, observation);
    key.view = revision;
    if (revision > key.known) key.known = revision;
    key.isRight = flags.satisfied;
    key.isOwn = false;
    if (flags.satisfied && key.hasWanted) key.value = key.wanted;
    const { satisfied, changed } = flags;
    const isOurs = satisfied || flags.satisfiedBefore;
    if (changed || satisfied) settings.tracker?.observe(key.key, flags);
    if (satisfied && !changed) term.foundLed();
    if (!this.#wasUnknown(key, isOurs) && changed && isOurs) this.#moves.evidence(key, revision, now);
    this.#settle(key, satisfied, now);
  }

  /** What becomes of the wish. */
  #settle(key: WriterKey, satisfied: boolean, now: number): void {
    const { place, trouble } = key;
    if (place === 'blocked' && trouble !== undefined) {
      if (key.view <= trouble.conflictBase) return;
      this.#parts.estimates.sampleLatency(now - trouble.conflictAt);
      if (satisfied) this.#moves.drop(key, now);
      else this.#moves.retry(key, now);
    } else if (satisfied && key.work !== undefined && key.view >= key.tryRevision) {
      this.#moves.drop(key, now);
    }
  }

  /** A write without an answer, and now the value that it tried: nobody knows whose it is, so it says nothing (WL20). */
  #wasUnknown(key: WriterKey, isOurs: boolean): boolean {
    const { trouble } = key;
    if (trouble?.isUnknown !== true) return false;
    trouble.isUnknown = false;
    return isOurs;
  }

  #sample(key: WriterKey, now: number): void {
    this.#parts.estimates.sampleLatency(now - key.awaitedAt);
    key.awaited = -1;
  }

  #compare(key: WriterKey, observation: Observation<unknown>): Flags {
    const flags = this.#flags;
    if ('satisfied' in observation) {
      flags.satisfied = observation.satisfied;
      flags.changed = observation.changed;
      flags.satisfiedBefore = observation.satisfiedBefore === true;
    } else {
      const { equal, tracker } = this.#parts.settings;
      if (wish(key, observation.wanted, equal)) tracker?.wants(key.key);
      compareSeen(key, observation.value, flags, equal);
      key.value = observation.value;
    }
    return flags;
  }
}
