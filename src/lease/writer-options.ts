import { GuardedLogger } from '../system/guarded-logger.ts';
import { plainEqual } from '../system/plain-equal.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { checkLogger } from '../types/check-logger.ts';
import { CLOCK_METHODS, checkMethods } from '../types/check-methods.ts';
import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';
import { shown } from '../types/shown.ts';
import type { WriterLeaseOptions } from '../types/writer-lease.ts';
import { guardedEqual } from './contention-equal.ts';
import { checkCount, checkNames, checkNumber, checkOptional } from './writer-checks.ts';

export const WRITER_ACTION = 'create a writer lease';

const NAMES: ReadonlySet<string> = new Set<keyof WriterLeaseOptions>([
  'capMs',
  'clock',
  'doubtsMax',
  'driftMax',
  'equal',
  'errorsMax',
  'expectPeers',
  'floorMs',
  'keysMax',
  'logger',
  'priorMs',
  'random',
  'read',
  'relist',
  'startSpreadMs',
  'strategy',
  'tracker',
  'writeTimeoutMs',
]);

/** The options with their defaults. */
export interface WriterSettings {
  readonly capMs: number;
  readonly floorMs: number;
  readonly startSpreadMs: number;
  readonly priorMs: number;
  readonly doubtsMax: number;
  readonly errorsMax: number;
  readonly driftMax: number;
  readonly writeTimeoutMs: number;
  readonly keysMax: number;
  readonly expectPeers: boolean;
  readonly read: WriterLeaseOptions['read'];
  readonly relist: WriterLeaseOptions['relist'];
  readonly tracker: WriterLeaseOptions['tracker'];
  readonly equal: (a: unknown, b: unknown) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: GuardedLogger;
}

/**
 * Fills in the defaults. Throws TypeError for what is of a wrong type or unknown, RangeError for a number that is
 * impossible, or impossible beside another one, with the inequality that fails.
 */
export function resolveWriter(options: WriterLeaseOptions): WriterSettings {
  checkNames(WRITER_ACTION, options, NAMES);
  checkSeams(options);
  const { capMs = 15_000, floorMs = 250, startSpreadMs = 500, driftMax = 0.05 } = options;
  const { doubtsMax = 3, errorsMax = 3, writeTimeoutMs = 10_000, keysMax = 1_000_000 } = options;
  checkNumber(WRITER_ACTION, 'capMs', capMs, 'above 0', capMs > 0);
  const { priorMs = 0.4 * capMs } = options;
  checkNumber(WRITER_ACTION, 'floorMs', floorMs, 'at least 0', floorMs >= 0);
  checkNumber(WRITER_ACTION, 'startSpreadMs', startSpreadMs, 'at least 0', startSpreadMs >= 0);
  checkNumber(WRITER_ACTION, 'priorMs', priorMs, 'at least 0', priorMs >= 0);
  checkNumber(WRITER_ACTION, 'driftMax', driftMax, 'at least 0 and below 1', driftMax >= 0 && driftMax < 1);
  checkNumber(WRITER_ACTION, 'writeTimeoutMs', writeTimeoutMs, 'above 0', writeTimeoutMs > 0);
  checkCount(WRITER_ACTION, 'doubtsMax', doubtsMax);
  checkCount(WRITER_ACTION, 'errorsMax', errorsMax);
  checkCount(WRITER_ACTION, 'keysMax', keysMax);
  checkWindow({ capMs, floorMs, startSpreadMs, priorMs, driftMax });
  const { tracker, clock = systemClock, random = systemRandom } = options;
  const log = new GuardedLogger(options.logger);
  return {
    capMs,
    floorMs,
    startSpreadMs,
    priorMs,
    doubtsMax,
    errorsMax,
    driftMax,
    writeTimeoutMs,
    keysMax,
    expectPeers: options.expectPeers ?? true,
    read: options.read,
    relist: options.relist,
    tracker,
    equal: equalOf(options, log),
    clock,
    random,
    logger: log,
  };
}

function checkSeams(options: WriterLeaseOptions): void {
  const { tracker, clock, logger } = options;
  for (const name of ['read', 'relist', 'equal', 'random'] as const) {
    checkOptional(WRITER_ACTION, name, options[name], 'function');
  }
  checkOptional(WRITER_ACTION, 'expectPeers', options.expectPeers, 'boolean');
  if (options.strategy !== undefined && options.strategy !== 'default') {
    throw new TypeError(
      `Cannot ${WRITER_ACTION}: strategy is ${shown(options.strategy)}, allowed are default and classic`,
    );
  }
  if (tracker !== undefined)
    checkMethods('tracker', tracker, WRITER_ACTION, ['observe', 'wrote', 'wants', 'refusedMs']);
  if (clock !== undefined) checkMethods('clock', clock, WRITER_ACTION, CLOCK_METHODS);
  checkLogger(logger, WRITER_ACTION);
  if (tracker !== undefined && options.equal !== undefined) {
    throw new TypeError(`Cannot ${WRITER_ACTION}: tracker and equal exclude each other, the tracker has its own`);
  }
}

/** Called as a method, in case it is one. */
function equalOf(options: WriterLeaseOptions, logger: GuardedLogger): WriterSettings['equal'] {
  const { tracker } = options;
  if (tracker !== undefined) return guardedEqual((a, b) => tracker.equal(a, b), logger);
  if (options.equal === undefined) return plainEqual;
  return guardedEqual((a, b) => options.equal?.(a, b) === true, logger);
}

/** Whether there is any silence between the smallest and the longest one. */
function checkWindow(settings: {
  capMs: number;
  floorMs: number;
  startSpreadMs: number;
  priorMs: number;
  driftMax: number;
}): void {
  const { capMs, floorMs, startSpreadMs, priorMs, driftMax } = settings;
  const high = (1 - driftMax) * capMs - capMs / 5 - 50;
  if (!(high > 0)) {
    throw new RangeError(
      `Cannot ${WRITER_ACTION}: (1 - driftMax) * capMs - capMs / 5 - 50 > 0 must hold, got ${high} with capMs ${capMs} and driftMax ${driftMax}`,
    );
  }
  if (!(floorMs < capMs)) {
    throw new RangeError(`Cannot ${WRITER_ACTION}: floorMs < capMs must hold, got ${floorMs} and ${capMs}`);
  }
  if (!(floorMs + startSpreadMs <= capMs)) {
    throw new RangeError(
      `Cannot ${WRITER_ACTION}: floorMs + startSpreadMs <= capMs must hold, got ${floorMs} + ${startSpreadMs} and ${capMs}`,
    );
  }
  if (!(priorMs <= capMs)) {
    throw new RangeError(`Cannot ${WRITER_ACTION}: priorMs <= capMs must hold, got ${priorMs} and ${capMs}`);
  }
}
