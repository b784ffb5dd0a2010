import { checkInteger } from '../types/check-integer.ts';
import { checkKitOptions } from './kit-options.ts';
import type { SimulatorOptions } from './simulator-types.ts';
import type { MsRange } from './simulator-watch.ts';

export const REPLICAS_MAX = 1000;
export const KEYS_MAX = 100_000;

const ACTION = 'make a simulator';
const NAMES = [
  'replicas',
  'keys',
  'seed',
  'writer',
  'watchLatencyMs',
  'writeLatencyMs',
  'startSpreadMs',
  'requestTimeoutMs',
  'drift',
  'repeatedEvents',
  'listOrder',
  'observations',
  'configurations',
  'contestedKeys',
] as const satisfies readonly (keyof SimulatorOptions)[];

/** The options with their defaults. Throws TypeError and RangeError that name what is wrong. */
export function resolveSimulatorOptions(options: SimulatorOptions): Required<SimulatorOptions> {
  checkKitOptions(options, NAMES, ACTION);
  const { replicas, keys, seed = 1, writer, configurations = 1 } = options;
  checkInteger('replicas', replicas, ACTION, 1, REPLICAS_MAX);
  checkInteger('keys', keys, ACTION, 1, KEYS_MAX);
  checkInteger('seed', seed, ACTION);
  checkInteger('configurations', configurations, ACTION, 1, REPLICAS_MAX);
  const contestedKeys = options.contestedKeys ?? keys;
  checkInteger('contestedKeys', contestedKeys, ACTION, 0, keys);
  if (typeof writer !== 'function') throw new TypeError(`Cannot ${ACTION}: writer is of type ${typeof writer}`);
  return {
    replicas,
    keys,
    seed,
    writer,
    configurations,
    contestedKeys,
    watchLatencyMs: checkRange('watchLatencyMs', options.watchLatencyMs ?? [5, 50]),
    writeLatencyMs: checkRange('writeLatencyMs', options.writeLatencyMs ?? [5, 20]),
    startSpreadMs: checkMs('startSpreadMs', options.startSpreadMs ?? 200),
    requestTimeoutMs: checkMs('requestTimeoutMs', options.requestTimeoutMs ?? 5000),
    drift: checkShare('drift', options.drift ?? 0, 0.5),
    repeatedEvents: checkShare('repeatedEvents', options.repeatedEvents ?? 0, 1),
    listOrder: checkName('listOrder', options.listOrder ?? 'fixed', ['fixed', 'shuffled']),
    observations: checkName('observations', options.observations ?? 'flags', ['flags', 'values']),
  };
}

/** A duration in ms that is over some time. */
export function checkMs(name: string, value: number, action: string = ACTION): number {
  checkNumber(name, value, action);
  if (value >= 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new RangeError(`Cannot ${action}: ${name} is ${value}, allowed are finite numbers of ms from 0 on`);
}

function checkRange(name: string, range: MsRange): MsRange {
  if (!Array.isArray(range) || range.length !== 2) {
    throw new TypeError(`Cannot ${ACTION}: ${name} is not a pair of numbers [min, max]`);
  }
  const [min, max] = range;
  checkMs(`${name}[0]`, min);
  checkMs(`${name}[1]`, max);
  if (min > max)
    throw new RangeError(`Cannot ${ACTION}: ${name} is [${min}, ${max}], but its first must be <= its second`);
  return [min, max];
}

function checkShare(name: string, value: number, max: number): number {
  checkNumber(name, value, ACTION);
  if (value >= 0 && value <= max) return value;
  throw new RangeError(`Cannot ${ACTION}: ${name} is ${value}, allowed is 0 to ${max}`);
}

function checkName<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw new TypeError(`Cannot ${ACTION}: ${name} is ${String(value)}, allowed are ${allowed.join(', ')}`);
}

function checkNumber(name: string, value: unknown, action: string): void {
  if (typeof value === 'number') return;
  throw new TypeError(`Cannot ${action}: ${name} must be a number, got a value of type ${typeof value}`);
}
