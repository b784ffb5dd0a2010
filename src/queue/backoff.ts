import type { Random } from '../types/random.ts';
import { wrongNumber } from '../types/wrong-number.ts';

/** How long to wait before a failed thing is tried again. The defaults stand where a backoff is an option. */
export interface BackoffOptions {
  /** Wait after the first failure, in ms, at least 1. Lower: quicker recovery; higher: less load on what fails. */
  readonly baseMs?: number;
  /** Growth from one failure to the next, at least 1. */
  readonly factor?: number;
  /** The longest wait, in ms, at least `baseMs`. */
  readonly maxMs?: number;
  /** Share of the wait that chance may take away, 0 to 1, so that many failures do not return together. */
  readonly jitter?: number;
}

export type Backoff = Required<BackoffOptions>;

const DEFAULTS: Backoff = { baseMs: 500, factor: 2, maxMs: 60_000, jitter: 0.2 };

/**
 * Fills in the defaults and checks the option `backoff` of a caller whose `action` could not be done, as errors say. Throws
 * `RangeError` for a base below 1 ms, a maximum below the base or none, a factor below 1, or a jitter outside [0, 1], and
 * `TypeError` for what is no backoff at all.
 */
export function resolveBackoff(
  options: BackoffOptions = {},
  defaults: BackoffOptions = {},
  action = 'use a backoff',
): Backoff {
  checkTypes(options, action);
  const wrong = (name: keyof Backoff, wanted: string) => wrongNumber(action, `backoff.${name}`, backoff[name], wanted);
  const of = (name: keyof Backoff): number => options[name] ?? defaults[name] ?? DEFAULTS[name];
  const backoff: Backoff = { baseMs: of('baseMs'), factor: of('factor'), maxMs: of('maxMs'), jitter: of('jitter') };
  if (!(backoff.baseMs >= 1)) throw wrong('baseMs', 'at least 1');
  if (!(backoff.factor >= 1)) throw wrong('factor', 'at least 1');
  if (!(backoff.maxMs >= backoff.baseMs) || backoff.maxMs === Infinity) {
    throw wrong('maxMs', 'finite and at least baseMs');
  }
  if (!(backoff.jitter >= 0 && backoff.jitter <= 1)) {
    throw wrong('jitter', 'from 0 to 1');
  }
  return backoff;
}

function checkTypes(options: BackoffOptions, action: string): void {
  const refused = (why: string) => new TypeError(`Cannot ${action}: backoff${why}`);
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw refused(' is not an object');
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(DEFAULTS, name)) throw refused(`.${name} is unknown`);
    if (value !== undefined && typeof value !== 'number') {
      throw refused(`.${name} is of type ${typeof value}, not a number`);
    }
  }
}

/**
 * The wait after failure number `failures` (0 for the first): `base * factor^failures`, at most `max`, less a random
 * share. At least 1 ms, so that a thing which always fails still yields to timers and I/O.
 *
 * Waits are for recoveries, so a `random` that fails does not fail them: the wait is then the full one.
 */
export function backoffDelayMs(failures: number, backoff: Backoff, random: Random): number {
  const fullMs = Math.min(backoff.maxMs, backoff.baseMs * backoff.factor ** failures);
  return Math.max(1, fullMs * (1 - backoff.jitter * shareOf(random)));
}

function shareOf(random: Random): number {
  try {
    const share = random();
    return share >= 0 && share < 1 ? share : 0;
  } catch {
    return 0;
  }
}
