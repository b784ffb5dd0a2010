import { checkLogger } from '../types/check-logger.ts';
import { CLOCK_METHODS, checkMethods } from '../types/check-methods.ts';
import type { ClassicWriterLeaseOptions } from '../types/writer-lease.ts';
import { checkNames, checkOptional } from './writer-checks.ts';

const ACTION = 'create a writer lease';

const DEFAULTS = {
  leaseMs: 60_000,
  retryMs: 3000,
  baseMs: 20,
  factor: 4,
  steps: 5,
  jitter: 0.5,
  writeTimeoutMs: 10_000,
  keysMax: 1_000_000,
} as const;

type Numbers = { readonly [Name in keyof typeof DEFAULTS]: number };

const NAMES: ReadonlySet<string> = new Set([...Object.keys(DEFAULTS), 'strategy', 'clock', 'random', 'logger']);

/**
 * The numbers of a classic lease with their defaults.
 *
 * Throws TypeError for unknown options and wrong types; RangeError for what cannot be: a negative or infinite time, a
 * lease shorter than the base of its backoff, a factor below 1, a share outside 0 to 1, steps or keys that are no counts.
 */
export function resolveClassicOptions(options: ClassicWriterLeaseOptions): Numbers {
  checkNames(`${ACTION} of strategy 'classic'`, options, NAMES);
  const { clock, random, logger } = options;
  checkOptional(ACTION, 'random', random, 'function');
  if (clock !== undefined) checkMethods('clock', clock, ACTION, CLOCK_METHODS);
  checkLogger(logger, ACTION);
  const numberOf = (name: keyof Numbers, min: number, max: number): number => {
    const value = options[name] ?? DEFAULTS[name];
    if (typeof value !== 'number')
      throw new TypeError(`Cannot ${ACTION}: ${name} is of type ${typeof value}, allowed is a number`);
    if (value >= min && value <= max) return value;
    throw new RangeError(`Cannot ${ACTION}: ${name} is ${value}, allowed is ${min} to ${max}`);
  };
  const wholeOf = (name: keyof Numbers, min: number): number => {
    const value = numberOf(name, min, Number.MAX_SAFE_INTEGER);
    if (Number.isInteger(value)) return value;
    throw new RangeError(`Cannot ${ACTION}: ${name} is ${value}, allowed are integers from ${min} on`);
  };
  const timeOf = (name: keyof Numbers, min: number): number => numberOf(name, min, Number.MAX_SAFE_INTEGER);
  const numbers: Numbers = {
    leaseMs: timeOf('leaseMs', 1),
    retryMs: timeOf('retryMs', 0),
    baseMs: timeOf('baseMs', 0),
    factor: numberOf('factor', 1, 1000),
    steps: wholeOf('steps', 0),
    jitter: numberOf('jitter', 0, 1),
    writeTimeoutMs: timeOf('writeTimeoutMs', 1),
    keysMax: wholeOf('keysMax', 1),
  };
  if (numbers.baseMs > numbers.leaseMs) {
    throw new RangeError(
      `Cannot ${ACTION}: baseMs must be <= leaseMs, got baseMs ${numbers.baseMs} > leaseMs ${numbers.leaseMs}`,
    );
  }
  return numbers;
}
