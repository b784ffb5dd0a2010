import { checkSignal } from '../types/check-signal.ts';
import type { SignalOptions } from '../types/signal.ts';

/** Refuses options that are no object or have a name too many: what is misspelt would be ignored otherwise. */
export function checkNames(action: string, options: unknown, names: ReadonlySet<string>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`Cannot ${action}: the options are not an object`);
  }
  for (const name of Object.keys(options)) {
    if (!names.has(name)) throw new TypeError(`Cannot ${action}: unknown option ${name}`);
  }
}

/** The signal of a wait to hear who leads, read once. Refuses what is none, and options that are wrong. */
export function checkWait(options: SignalOptions): AbortSignal | undefined {
  const action = 'wait for a leader';
  checkNames(action, options, WAIT_NAMES);
  const { signal } = options;
  checkSignal(signal, action);
  return signal;
}

const WAIT_NAMES: ReadonlySet<string> = new Set<keyof SignalOptions>(['signal']);

/** Refuses what is no finite number, and one of which the caller says that it is not among the `allowed` ones. */
export function checkNumber(action: string, name: string, value: unknown, allowed: string, isAllowed: boolean): void {
  if (typeof value !== 'number') {
    throw new TypeError(`Cannot ${action}: ${name} is of type ${typeof value}, allowed is a number ${allowed}`);
  }
  if (!Number.isFinite(value) || !isAllowed) {
    throw new RangeError(`Cannot ${action}: ${name} is ${value}, allowed is a finite number ${allowed}`);
  }
}

/** Refuses what is no whole number from 1 on. */
export function checkCount(action: string, name: string, value: unknown): void {
  if (typeof value !== 'number') {
    throw new TypeError(`Cannot ${action}: ${name} is of type ${typeof value}, allowed is an integer from 1 on`);
  }
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`Cannot ${action}: ${name} is ${value}, allowed is a safe integer from 1 on`);
  }
}

/** Refuses what is there and of another type. */
export function checkOptional(action: string, name: string, value: unknown, type: 'function' | 'boolean'): void {
  if (value !== undefined && typeof value !== type) {
    throw new TypeError(`Cannot ${action}: ${name} is of type ${typeof value}, allowed is a ${type}`);
  }
}

/** Refuses a key that is not text. */
export function checkKey(action: string, key: unknown): void {
  if (typeof key !== 'string') throw new TypeError(`Cannot ${action}: the key is of type ${typeof key}, not a string`);
}

/** Refuses what is to be called and cannot be. */
export function checkWork(action: string, work: unknown): void {
  if (typeof work === 'function') return;
  throw new TypeError(`Cannot ${action}: work is of type ${typeof work}, allowed is a function`);
}

/** Calls what the user gave to be told of something. Typed as void, which an async function satisfies too. */
export function tell(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const result = call();
    if (typeof (result as { then?: unknown } | null | undefined)?.then === 'function') {
      Promise.resolve(result).then(undefined, onError);
    }
  } catch (error) {
    onError(error);
  }
}
