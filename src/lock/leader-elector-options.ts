import { checkMembers } from '../store/checks.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { checkLogger } from '../types/check-logger.ts';
import { CLOCK_METHODS, checkMethods } from '../types/check-methods.ts';
import type { Clock } from '../types/clock.ts';
import type { LeaseRecordClient } from '../types/lease-record.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';

/** Why somebody leads no more. */
export type LeadershipEnd =
  /** No renewal was answered in time. */
  | 'renewDeadline'
  /** The record names somebody else, or is gone. */
  | 'taken'
  /** The signal of `run` has aborted. */
  | 'cancelled';

export interface LeaderElectorOptions {
  /** Where the record is kept, such as `createStoreLeaseRecord` makes. */
  readonly record: LeaseRecordClient;
  /** Another one for each process, and not empty; two with one identity are one leader. */
  readonly identity: string;
  /** For how long others wait after the last renewal that they saw, in ms. Above `renewDeadlineMs`. @default 15000 */
  readonly leaseDurationMs?: number;
  /**
   * Stop leading so many ms after the last renewal that was answered was sent, also while one is under way. Above 1.2 times
   * `retryPeriodMs`. @default 10000
   */
  readonly renewDeadlineMs?: number;
  /** Wait between renewals, in ms, from 1 on; between attempts of a candidate up to 2.2 times as long, by chance. @default 2000 */
  readonly retryPeriodMs?: number;
  /**
   * When `run` is cancelled and `onStartedLeading` has come to its end, say in the record that nobody leads, so that others
   * need not wait. @default false
   */
  readonly releaseOnCancel?: boolean;
  /** Names the election in errors. @default 'leader election' */
  readonly name?: string;
  /** Do the work until the signal aborts; its reason is a `NotLeaderError`. May return at once, or when the work has ended. */
  readonly onStartedLeading: (signal: AbortSignal) => void | PromiseLike<void>;
  /** Called after each end of a leadership, with what ended it. @default none */
  readonly onStoppedLeading?: (reason: LeadershipEnd) => void | PromiseLike<void>;
  /** Somebody else leads than before, maybe this one. @default none */
  readonly onNewLeader?: (identity: string) => void | PromiseLike<void>;
  /** @default the platform's clock */
  readonly clock?: Clock;
  /** @default the platform's randomness */
  readonly random?: Random;
  /** Told of failed calls and of what callbacks throw. @default silence */
  readonly logger?: Logger;
}

export type ElectorSettings = Required<Omit<LeaderElectorOptions, 'onStoppedLeading' | 'onNewLeader' | 'logger'>> &
  Pick<LeaderElectorOptions, 'onStoppedLeading' | 'onNewLeader' | 'logger'>;

/** A candidate waits longer than `retryPeriodMs` by up to this share of it. */
export const JITTER_FACTOR = 1.2;

const ACTION = 'create a leader elector';
const NAMES: ReadonlySet<string> = new Set<keyof LeaderElectorOptions>([
  'clock',
  'identity',
  'leaseDurationMs',
  'logger',
  'name',
  'onNewLeader',
  'onStartedLeading',
  'onStoppedLeading',
  'random',
  'record',
  'releaseOnCancel',
  'renewDeadlineMs',
  'retryPeriodMs',
]);
const DURATIONS = ['leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs'] as const;
const DURATION_MS_MAX = 2 ** 31 * 1000;

/** Fills in the defaults. Throws TypeError for wrong types, RangeError for durations that cannot be, with what fails. */
export function resolveElector(options: LeaderElectorOptions): ElectorSettings {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  checkTypes(options);
  const settings: ElectorSettings = {
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
    releaseOnCancel: false,
    name: 'leader election',
    clock: systemClock,
    random: systemRandom,
    ...given(options),
  };
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings;
  for (const name of DURATIONS) {
    const value = settings[name];
    if (typeof value !== 'number') throw new TypeError(`Cannot ${ACTION}: ${name} is of type ${typeof value}`);
    if (value >= 1 && value <= DURATION_MS_MAX) continue;
    throw new RangeError(`Cannot ${ACTION}: ${name} is ${value}, allowed is 1 to ${DURATION_MS_MAX}`);
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    const facts = `${leaseDurationMs} > ${renewDeadlineMs}`;
    throw new RangeError(`Cannot ${ACTION}: leaseDurationMs > renewDeadlineMs must hold, ${facts} does not`);
  }
  if (!(renewDeadlineMs > JITTER_FACTOR * retryPeriodMs)) {
    const facts = `${renewDeadlineMs} > ${JITTER_FACTOR} * ${retryPeriodMs}`;
    throw new RangeError(
      `Cannot ${ACTION}: renewDeadlineMs > ${JITTER_FACTOR} * retryPeriodMs must hold, ${facts} does not`,
    );
  }
  return settings;
}

/** Without what is there and `undefined`. */
function given(options: LeaderElectorOptions): LeaderElectorOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as LeaderElectorOptions;
}

function checkTypes(options: LeaderElectorOptions): void {
  const { record, identity, name, random, releaseOnCancel, onStartedLeading, onStoppedLeading, onNewLeader } = options;
  checkMethods('record', record, ACTION, ['get', 'create', 'update']);
  if (options.clock !== undefined) checkMethods('clock', options.clock, ACTION, CLOCK_METHODS);
  checkLogger(options.logger, ACTION);
  if (typeof identity !== 'string') throw new TypeError(`Cannot ${ACTION}: identity is of type ${typeof identity}`);
  if (identity === '') throw new RangeError(`Cannot ${ACTION}: identity is empty, which says that nobody leads`);
  if (name !== undefined && typeof name !== 'string') throw new TypeError(`Cannot ${ACTION}: name is not text`);
  if (releaseOnCancel !== undefined && typeof releaseOnCancel !== 'boolean') {
    throw new TypeError(`Cannot ${ACTION}: releaseOnCancel is not a boolean`);
  }
  if (typeof onStartedLeading !== 'function')
    throw new TypeError(`Cannot ${ACTION}: onStartedLeading is not a function`);
  for (const [called, fn] of Object.entries({ random, onStoppedLeading, onNewLeader })) {
    if (fn !== undefined && typeof fn !== 'function') {
      throw new TypeError(`Cannot ${ACTION}: ${called} is not a function`);
    }
  }
}
