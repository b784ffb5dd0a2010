import { checkInteger } from '../types/check-integer.ts';
import { checkSignal } from '../types/check-signal.ts';
import type { GrantLeaseOptions, ResumeLeaseOptions, TimeToLiveOptions } from '../types/lease.ts';
import type { DeleteOptions, GetOptions, PutEntry, PutOptions } from '../types/requests.ts';
import type { Key, KeyRange, Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { PrefixOptions } from '../types/store.ts';

/** What embedded stores and replicas check alike in what they are given, before anything else happens. */

/** What a call without options has: known to be right, so that the common case is not looked through. */
export const NO_OPTIONS: Readonly<Record<never, never>> = Object.freeze({});

export const SIGNAL_NAMES: ReadonlySet<string> = new Set<keyof SignalOptions>(['signal']);
export const GET_NAMES: ReadonlySet<string> = new Set<keyof GetOptions>(['revision']);
export const LEASE_NAMES = ['lease', 'ttlMs', 'ignoreLease'] as const;
export const PUT_NAMES: ReadonlySet<string> = new Set<keyof PutOptions>([
  'signal',
  'expect',
  'prevKv',
  'ignoreValue',
  ...LEASE_NAMES,
]);
export const ENTRY_NAMES: ReadonlySet<string> = new Set<keyof PutEntry<unknown>>(['key', 'value', ...LEASE_NAMES]);
export const DELETE_NAMES: ReadonlySet<string> = new Set<keyof DeleteOptions>(['signal', 'expect', 'prevKv']);
export const GRANT_NAMES: ReadonlySet<string> = new Set<keyof (GrantLeaseOptions & SignalOptions)>([
  'ttlMs',
  'id',
  'keepAlive',
  'signal',
]);
export const RESUME_NAMES: ReadonlySet<string> = new Set<keyof (ResumeLeaseOptions & SignalOptions)>([
  'keepAlive',
  'signal',
]);
export const TTL_NAMES: ReadonlySet<string> = new Set<keyof (TimeToLiveOptions & SignalOptions)>(['keys', 'signal']);
export const PREFIX_NAMES: ReadonlySet<string> = new Set<keyof PrefixOptions<unknown>>(['codec']);
export const SELECTION_NAMES = [
  'limit',
  'keysOnly',
  'countOnly',
  'sortTarget',
  'sortOrder',
  'minModRevision',
  'maxModRevision',
  'minCreateRevision',
  'maxCreateRevision',
] as const;
export const RANGE_NAMES = ['key', 'prefix', 'start', 'end'] as const;
const RANGE_NAME_SET: ReadonlySet<string> = new Set(RANGE_NAMES);
export const REQUEST_NAMES: ReadonlySet<string> = new Set([...RANGE_NAMES, ...SELECTION_NAMES, 'revision', 'continue']);

/**
 * Throws TypeError for options that are no object, for a name that is not among them, and for a `signal` that is none. Returns
 * the signal, if it is one of the names: the caller must not read it again, nor any other option twice, since a getter may
 * give something else that nobody has checked.
 */
export function checkOptions(options: object, names: ReadonlySet<string>, action: string): AbortSignal | undefined {
  if (options === NO_OPTIONS) return undefined;
  checkMembers(options, names, action, 'the options are not an object', 'option');
  if (!names.has('signal')) return undefined;
  const { signal } = options as SignalOptions;
  checkSignal(signal, action);
  return signal;
}

/** The same for a range that is given alone. */
export function checkRange(range: object, action: string): void {
  checkMembers(range, RANGE_NAME_SET, action, 'the range is not an object', 'member of a range');
}

/** Misspelt names are refused, not ignored: a guard or a limit that silently does not hold is worse than an error. */
export function checkMembers(
  part: object,
  names: ReadonlySet<string>,
  action: string,
  notObject: string,
  what: string,
): void {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    throw new TypeError(`Cannot ${action}: ${notObject}`);
  }
  // Own names only, as Object.keys has them, which would make an array at every call.
  for (const name in part) {
    if (!names.has(name) && Object.hasOwn(part, name)) {
      throw new TypeError(`Cannot ${action}: unknown ${what} ${shown(name)}`);
    }
  }
}

/**
 * What a member that is a yes or a no says; nothing is no. Throws TypeError for anything else: `ignoreLease: 'yes'` that counts
 * as no would take the lease off its key.
 */
export function checkFlag(name: string, value: unknown, action: string): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw new TypeError(`Cannot ${action}: ${name} is ${shown(value)}, allowed are true and false`);
}

/** The revision that `expect` asks for, `undefined` without one. Throws TypeError, and RangeError for what is no revision. */
export function checkExpect(
  expect: { readonly modRevision: Revision } | undefined,
  action: string,
): Revision | undefined {
  if (expect === undefined) return undefined;
  checkMembers(expect, EXPECT_NAMES, action, 'expect is not an object', 'member of expect');
  const { modRevision } = expect;
  checkInteger('expect.modRevision', modRevision, action, 0);
  return modRevision;
}

const EXPECT_NAMES: ReadonlySet<string> = new Set(['modRevision']);

/** What a member that is one of a few words says. Throws TypeError for anything else. */
export function checkChoice<T extends string>(
  name: string,
  value: unknown,
  action: string,
  allowed: readonly T[],
): asserts value is T {
  if (allowed.includes(value as T)) return;
  const last = allowed[allowed.length - 1];
  const words = `${allowed.slice(0, -1).join(', ')} and ${last}`;
  throw new TypeError(`Cannot ${action}: ${name} is ${shown(value)}, allowed are ${words}`);
}

/** What `delete` was given, as a range. Throws TypeError for no range at all, and for an `expect` on more than a key. */
export function deleteRange<K extends Key>(target: K | KeyRange<K>, hasExpect: boolean, action: string): KeyRange<K> {
  if (typeof target === 'string' || target instanceof Uint8Array) return { key: target as K };
  const selected = target as KeyRange<K>;
  checkRange(selected, action);
  if (hasExpect && !('key' in selected)) throw new TypeError(`Cannot ${action}: expect needs a single key`);
  return selected;
}
