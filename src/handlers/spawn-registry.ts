import { type Backoff, resolveBackoff } from '../queue/backoff.ts';
import { wrongNumber } from '../types/wrong-number.ts';
import { checkAttempts, checkFunction, checkNames } from './checks.ts';
import { FILTER_NAMES } from './filter-options.ts';
import { objectFilter } from './filters.ts';
import { parsePath } from './path.ts';
import type { DaemonHandler, SpawnHandler, TimerHandler } from './spawn.ts';
import type { DaemonFunction, DaemonOptions, SpawnOptions, TimerFunction, TimerOptions } from './spawn-options.ts';

const NAMES: readonly (keyof SpawnOptions)[] = [
  ...FILTER_NAMES,
  'id',
  'select',
  'initialDelayMs',
  'idleMs',
  'retries',
  'backoff',
];
const TIMER_NAMES: readonly (keyof TimerOptions)[] = [...NAMES, 'intervalMs', 'sharp', 'timeoutMs'];
const DAEMON_NAMES: readonly (keyof DaemonOptions)[] = [...NAMES, 'cancellationTimeoutMs'];

/** Checks the options of a timer and fills in the defaults. Throws as `on` does. */
export function timerOf(
  action: string,
  options: TimerOptions<never>,
  fn: TimerFunction<never>,
  backoff: Backoff,
): TimerHandler {
  checkNames(action, options, TIMER_NAMES);
  const { intervalMs, sharp, timeoutMs } = options;
  if (intervalMs !== undefined && !(isMs(intervalMs) && intervalMs > 0)) {
    throw wrongNumber(action, 'intervalMs', intervalMs, 'above 0 and finite');
  }
  if (sharp !== undefined && typeof sharp !== 'boolean') {
    throw new TypeError(`Cannot ${action}: sharp is of type ${typeof sharp}, not a boolean`);
  }
  if (sharp === true && intervalMs === undefined) throw new TypeError(`Cannot ${action}: sharp needs intervalMs`);
  const base = spawnOf(action, options, backoff);
  // A source yields nothing but what its type says, so this is where `T` becomes `unknown`.
  return { ...base, kind: 'timer', intervalMs, sharp: sharp ?? false, timeoutMs, fn: fn as TimerFunction };
}

/** The same of a daemon. */
export function daemonOf(
  action: string,
  options: DaemonOptions<never>,
  fn: DaemonFunction<never>,
  backoff: Backoff,
): DaemonHandler {
  checkNames(action, options, DAEMON_NAMES);
  const { cancellationTimeoutMs = 60_000 } = options;
  if (!(typeof cancellationTimeoutMs === 'number' && cancellationTimeoutMs >= 0)) {
    throw wrongNumber(action, 'cancellationTimeoutMs', cancellationTimeoutMs, 'at least 0');
  }
  return { ...spawnOf(action, options, backoff), kind: 'daemon', cancellationTimeoutMs, fn: fn as DaemonFunction };
}

function spawnOf(action: string, options: TimerOptions<never>, backoff: Backoff) {
  checkAttempts(action, options);
  checkFunction(action, 'select', options.select);
  const { id, field, initialDelayMs = 0, idleMs } = options;
  for (const [name, value] of Object.entries({ initialDelayMs, idleMs })) {
    if (value !== undefined && !isMs(value)) {
      throw wrongNumber(action, name, value, 'at least 0 and finite');
    }
  }
  if (field !== undefined && options.select !== undefined) {
    throw new TypeError(`Cannot ${action}: field and select exclude each other`);
  }
  return {
    id,
    filter: objectFilter(action, options),
    path: field === undefined ? undefined : parsePath(field),
    select: options.select as SpawnHandler['select'],
    version: undefined,
    initialDelayMs,
    idleMs,
    retries: options.retries ?? Number.POSITIVE_INFINITY,
    backoff: options.backoff === undefined ? backoff : resolveBackoff(options.backoff, backoff, action),
  };
}

function isMs(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}
