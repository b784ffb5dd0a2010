import { isCount } from '../queue/keyed-queue.ts';
import { checkMethods } from '../types/check-methods.ts';
import { checkSignal } from '../types/check-signal.ts';
import { checkWellFormed } from '../types/check-well-formed.ts';
import { shown } from '../types/shown.ts';
import type { SignalOptions } from '../types/signal.ts';
import { wrongNumber } from '../types/wrong-number.ts';
import type { AttemptOptions } from './attempt-options.ts';
import type { ControllerOptions } from './options.ts';

/** Longest id of a handler or sub-handler, in UTF-16 units. */
export const ID_LENGTH_MAX = 253;

export function checkObject(action: string, options: unknown): asserts options is object {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const what = options === null ? 'null' : Array.isArray(options) ? 'an array' : typeof options;
    throw new TypeError(`Cannot ${action}: the options are ${what}, not an object`);
  }
}

/** Refuses options that are no object or have a name too many: what is misspelt would be ignored otherwise. */
export function checkNames(action: string, options: unknown, names: readonly string[]): void {
  checkObject(action, options);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`Cannot ${action}: unknown option ${name}`);
  }
}

export function checkFunction(action: string, name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') {
    throw new TypeError(`Cannot ${action}: ${name} is of type ${typeof value}, not a function`);
  }
}

/** Refuses anything but a signal; with it read once. */
export function checkedSignal(action: string, options: SignalOptions): SignalOptions {
  checkNames(action, options, ['signal']);
  const { signal } = options;
  checkSignal(signal, action);
  return signal === undefined ? {} : { signal };
}

/** What fails where a handler is refused, whatever its id is. */
export function registering(id: unknown): string {
  return typeof id === 'string' ? `register handler "${id}"` : 'register a handler';
}

/** Ids are parts of record names: `parent/sub`. */
export function checkId(action: string, id: string): void {
  if (typeof id !== 'string' || id === '')
    throw new TypeError(`Cannot ${action}: the id must be a string with content`);
  checkWellFormed(action, 'the id', id);
  if (id.length > ID_LENGTH_MAX) throw new TypeError(`Cannot ${action}: the id is longer than ${ID_LENGTH_MAX}`);
  if (id.includes('/') || id === '__proto__')
    throw new TypeError(`Cannot ${action}: the id may not be or contain "${id.includes('/') ? '/' : id}"`);
}

/** Of whatever object: a name that nothing has is none that is wrong. */
export function checkObjectName(action: string, name: string): void {
  if (typeof name !== 'string') throw new TypeError(`Cannot ${action}: the name is not a string, but ${shown(name)}`);
}

export function checkAttempts(action: string, { retries, timeoutMs }: AttemptOptions): void {
  if (retries !== undefined && !(retries === Number.POSITIVE_INFINITY || (Number.isInteger(retries) && retries >= 0))) {
    throw wrongNumber(action, 'retries', retries, 'a whole number from 0 on or Infinity');
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) {
    throw wrongNumber(action, 'timeoutMs', timeoutMs, 'above 0');
  }
}

export function checkConcurrency(action: string, concurrency: unknown): void {
  if (concurrency !== undefined && !isCount(concurrency)) {
    throw wrongNumber(action, 'concurrency', concurrency, 'a whole number from 1 on');
  }
}

const CONTROLLER_NAMES: readonly (keyof ControllerOptions)[] = [
  'ageingMs',
  'backoff',
  'breaker',
  'cleanupMs',
  'clock',
  'concurrency',
  'drainMs',
  'essence',
  'finalizer',
  'logger',
  'parallel',
  'persist',
  'policy',
  'priority',
  'progress',
  'queuedMax',
  'random',
  'rateLimit',
  'recordTtlMs',
  'source',
  'view',
];

/** What the controller calls of the objects it is given. */
const SEAMS = {
  source: ['list', 'watch', 'get', 'compare'],
  progress: ['get', 'compareAndSet', 'delete', 'list'],
  essence: ['digest', 'canonicalize'],
  clock: ['now', 'wallTime', 'after'],
  logger: ['debug', 'info', 'warn', 'error'],
} as const;

/** All of the options but the backoff, which is checked where it is filled in. */
export function checkController<T>(options: ControllerOptions<T>): void {
  const action = 'create a controller';
  checkNames(action, options, CONTROLLER_NAMES);
  const { essence, view, policy, drainMs, cleanupMs } = options;
  for (const [name, methods] of Object.entries(SEAMS)) {
    const seam: unknown = Reflect.get(options, name);
    if (seam !== undefined || name === 'source') checkMethods(name, seam, action, methods);
  }
  checkFunction(action, 'view', view);
  checkFunction(action, 'random', options.random);
  const { source } = options;
  checkFunction(action, 'patch of the source', source.patch);
  checkFunction(action, 'owns of the source', source.owns);
  checkFunction(action, 'conceal of the progress', options.progress?.conceal);
  if (source.hasFinalizers !== undefined && typeof source.hasFinalizers !== 'boolean') {
    throw new TypeError(
      `Cannot ${action}: hasFinalizers of the source is of type ${typeof source.hasFinalizers}, not a boolean`,
    );
  }
  if (essence !== undefined && view !== undefined) {
    throw new TypeError(`Cannot ${action}: essence and view exclude each other`);
  }
  if (essence !== undefined && typeof essence.schemaId !== 'string') {
    throw new TypeError(
      `Cannot ${action}: schemaId of the essence is of type ${typeof essence.schemaId}, not a string`,
    );
  }
  if (policy !== undefined && policy !== 'supersede' && policy !== 'complete') {
    throw new TypeError(`Cannot ${action}: policy is ${shown(policy)}, allowed are supersede and complete`);
  }
  const { persist, parallel } = options;
  if (persist !== undefined && persist !== 'call' && persist !== 'pass') {
    throw new TypeError(`Cannot ${action}: persist is ${shown(persist)}, allowed are call and pass`);
  }
  if (parallel !== undefined && !isCount(parallel)) {
    throw wrongNumber(action, 'parallel', parallel, 'a whole number from 1 on');
  }
  checkConcurrency(action, options.concurrency);
  checkScheduling(action, options);
  const { finalizer, recordTtlMs } = options;
  if (recordTtlMs !== undefined && !(typeof recordTtlMs === 'number' && recordTtlMs >= 0)) {
    throw wrongNumber(action, 'recordTtlMs', recordTtlMs, 'at least 0');
  }
  if (finalizer !== undefined && (typeof finalizer !== 'string' || finalizer === '')) {
    throw new TypeError(`Cannot ${action}: finalizer must be a string with content`);
  }
  checkWellFormed(action, 'finalizer', finalizer ?? '');
  for (const [name, value] of Object.entries({ drainMs, cleanupMs })) {
    if (value !== undefined && !(typeof value === 'number' && value >= 0)) {
      throw wrongNumber(action, name, value, 'at least 0');
    }
  }
}

/** One call in eleven days. Slower would be a wait that no timer can be set for. */
const PER_SECOND_MIN = 1e-6;

/** What says when calls may begin; the backoff of the breaker is checked where it is filled in. */
function checkScheduling<T>(
  action: string,
  { priority, ageingMs, rateLimit, breaker, queuedMax }: ControllerOptions<T>,
): void {
  checkFunction(action, 'priority', priority);
  if (ageingMs !== undefined && !(typeof ageingMs === 'number' && ageingMs > 0 && Number.isFinite(ageingMs))) {
    throw wrongNumber(action, 'ageingMs', ageingMs, 'above 0');
  }
  if (queuedMax !== undefined && !isCount(queuedMax)) {
    throw wrongNumber(action, 'queuedMax', queuedMax, 'a whole number from 1 on');
  }
  if (rateLimit !== undefined) {
    checkNames(`${action}: rateLimit`, rateLimit, ['perSecond', 'burst']);
    const { perSecond, burst } = rateLimit;
    if (!(typeof perSecond === 'number' && perSecond >= PER_SECOND_MIN && Number.isFinite(perSecond))) {
      throw wrongNumber(action, 'perSecond', perSecond, `at least ${PER_SECOND_MIN}`);
    }
    if (burst !== undefined && !(Number.isInteger(burst) && burst >= 1)) {
      throw wrongNumber(action, 'burst', burst, 'a whole number from 1 on');
    }
  }
  if (breaker === undefined) return;
  checkNames(`${action}: breaker`, breaker, ['failuresMax', 'backoff']);
  const { failuresMax } = breaker;
  if (!(Number.isInteger(failuresMax) && failuresMax >= 1)) {
    throw wrongNumber(action, 'failuresMax', failuresMax, 'a whole number from 1 on');
  }
}
