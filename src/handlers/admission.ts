import { RateLimiter } from '../queue/rate-limiter.ts';
import type { Rate } from '../queue/token-bucket.ts';
import { WaitingLine } from '../queue/waiting-line.ts';
import type { Clock } from '../types/clock.ts';
import { invariant } from '../types/invariant.ts';
import type { Handler } from './registry.ts';

/**
 * Whether a call may begin: `handler`, not one of this handler, but perhaps one of another; `object`, none at all for now.
 */
export type Admittance = 'granted' | 'handler' | 'object';

/** Why no call of a handler may begin at this moment. */
export type Restraint = 'paused' | 'concurrency' | 'rate';

export interface AdmissionOptions {
  readonly clock: Clock;
  readonly rate: Rate | undefined;
  /** Has an object looked at again: what it waits for is kept for it. */
  readonly wake: (name: string) => void;
}

interface Places {
  readonly limit: number;
  used: number;
  readonly line: WaitingLine;
}

/** Lines that an object has asked at. */
interface Seat {
  readonly lines: Set<WaitingLine>;
  /** Since the pass began, or its last `review`. */
  readonly asked: Set<WaitingLine>;
}

/**
 * Says when calls may begin: `concurrency` of their handler, the rate of the controller (A31', A32'), and its pause (A35').
 *
 * ```text
 *   pass begins: enter --> ask(name, handler) --granted--> [intent is written] --> start --> call --> finish
 *                           |   place of the handler first, then a token; what is granted is kept until `start`
 *                           +--handler: the next due job is asked for;  object: none is
 *   pass ends:   review, ask for what is due then
 *   turn of timers and daemons, if one is due: away, what is kept is given back
 *   turn ends:   rest: who is not granted anything is woken in line;  comeBack: at once;  failed: leave
 * ```
 *
 * - A place is asked for before a token, so nobody sits on a token while waiting for a place. Who has a place and waits for a
 *   token will have it: tokens come with time.
 * - What is kept for an object that does not want it any more goes to the next with the end of the object's pass.
 * - Costs nothing where there are no limits. Holds an entry for each object that waits or has something kept for it.
 */
export class Admission {
  /** No call may begin for now (A35'). */
  isPaused = false;
  readonly #places = new Map<string, Places>();
  readonly #rate: RateLimiter | undefined;
  readonly #seats = new Map<string, Seat>();
  readonly #wake: (name: string) => void;

  constructor({ clock, rate, wake }: AdmissionOptions) {
    this.#wake = wake;
    this.#rate = rate && new RateLimiter(rate, clock, wake);
  }

  /** From now on at most `limit` calls of this handler at a time. */
  limit(handlerId: string, limit: number): void {
    if (limit === Number.POSITIVE_INFINITY) return;
    const places: Places = {
      limit,
      used: 0,
      line: new WaitingLine({ free: () => places.limit - places.used, wake: this.#wake }),
    };
    this.#places.set(handlerId, places);
  }

  /** A pass over an object begins: it is busy. */
  enter(name: string): void {
    const seat = this.#seats.get(name);
    seat?.asked.clear();
    for (const line of seat?.lines ?? []) line.busy(name);
  }

  /** Asks for a call; what is granted is kept for the object until it starts the call or leaves. */
  ask(name: string, { id }: Handler): Admittance {
    if (this.isPaused) return 'object';
    const places = this.#places.get(id);
    if (places !== undefined && !this.#askAt(places.line, name)) return 'handler';
    if (this.#rate === undefined) return 'granted';
    return this.#askAt(this.#rate.line, name) ? 'granted' : 'object';
  }

  /** What was granted is used: the call begins now. */
  start(name: string, { id }: Handler): void {
    const places = this.#places.get(id);
    if (places !== undefined) {
      invariant(places.line.use(name), `a call of "${id}" began without a place`);
      places.used++;
    }
    if (this.#rate !== undefined) invariant(this.#rate.use(name), `a call of "${id}" began without a token`);
    this.#rate?.arm();
  }

  /** The call has ended, or nobody waits for its end any more. */
  finish({ id }: Handler): void {
    const places = this.#places.get(id);
    if (places === undefined) return;
    places.used--;
    places.line.serve();
  }

  /** The pass is about to end: what is asked for from now on is what the object waits for. */
  review(name: string): void {
    this.#seats.get(name)?.asked.clear();
  }

  /**
   * A call is about to begin that the object waits for, and that is none of this: what is kept goes to others, since it may
   * never end. The object keeps its place in every line (A44').
   */
  away(name: string): void {
    for (const line of this.#seats.get(name)?.lines ?? []) line.away(name);
    this.#rate?.arm();
  }

  /** Whether the object has lost its turn in a line so often that it should not be `away` before it has had it (A44'). */
  isOverdue(name: string): boolean {
    const seat = this.#seats.get(name);
    return seat !== undefined && [...seat.asked].some((line) => line.isOverdue(name));
  }

  /** The object has nothing to do before its next pass, which is at once: before others, if something is kept for it (A45'). */
  comeBack(name: string): void {
    for (const line of this.#seats.get(name)?.lines ?? []) {
      if (line.isKeptFor(name)) this.#wake(name);
      else line.rest(name);
    }
    this.#rate?.arm();
  }

  /** The pass has ended. The object rests where it has asked since the `review`, and leaves all other lines. */
  rest(name: string): void {
    const seat = this.#seats.get(name);
    if (seat === undefined) return;
    for (const line of seat.lines) {
      if (seat.asked.has(line)) {
        line.rest(name);
      } else {
        line.leave(name);
        seat.lines.delete(line);
      }
    }
    if (seat.lines.size === 0) this.#seats.delete(name);
    this.#rate?.arm();
  }

  /** The object wants nothing for now. */
  leave(name: string): void {
    this.review(name);
    this.rest(name);
  }

  /** Why a call of a handler for an object could not begin now. Changes nothing. */
  restraintOf(name: string, { id }: Handler): Restraint | undefined {
    if (this.isPaused) return 'paused';
    if (this.#places.get(id)?.line.isOpenTo(name) === false) return 'concurrency';
    return this.#rate?.line.isOpenTo(name) === false ? 'rate' : undefined;
  }

  close(): void {
    this.#rate?.close();
  }

  #askAt(line: WaitingLine, name: string): boolean {
    let seat = this.#seats.get(name);
    if (seat === undefined) {
      seat = { lines: new Set(), asked: new Set() };
      this.#seats.set(name, seat);
    }
    seat.lines.add(line);
    seat.asked.add(line);
    return line.ask(name);
  }
}
