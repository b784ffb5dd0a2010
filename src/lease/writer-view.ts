import { checkInteger } from '../types/check-integer.ts';
import type { Observation, ObservedFlags, ObservedValue, ReadResult } from '../types/writer-lease.ts';
import type { WriterKey } from './writer-key.ts';

/** An observation as the rules ask for it. Never kept: one object serves all (`observe` may come by the million). */
export interface Flags {
  revision: number;
  satisfied: boolean;
  changed: boolean;
  satisfiedBefore: boolean;
}

type Equal = (a: unknown, b: unknown) => boolean;

/** Throws TypeError and RangeError for what is no observation. */
export function checkObservation(observation: Observation<unknown>): void {
  const action = 'observe a key';
  checkSeen(action, observation);
  checkInteger('the revision', observation.revision, action, 0);
}

/** The same without the revision. */
export function checkSeen(action: string, seen: WithoutRevision): void {
  if (typeof seen !== 'object' || seen === null) {
    throw new TypeError(`Cannot ${action}: the observation is not an object`);
  }
  if ('satisfied' in seen) checkCompared(seen, action);
  else if (!('value' in seen) || !('wanted' in seen)) {
    throw new TypeError(`Cannot ${action}: it has neither satisfied and changed nor value and wanted`);
  }
}

type WithoutRevision = Omit<ObservedFlags, 'revision'> | Omit<ObservedValue<unknown>, 'revision'>;

function checkCompared(compared: Pick<ObservedFlags, 'satisfied' | 'changed'>, action: string): void {
  for (const name of ['satisfied', 'changed'] as const) {
    if (typeof compared[name] === 'boolean') continue;
    throw new TypeError(`Cannot ${action}: ${name} is of type ${typeof compared[name]}, allowed is a boolean`);
  }
}

/** Another value is wanted from now on; answers whether it is another one than before. */
export function wish(key: WriterKey, wanted: unknown, equal: Equal): boolean {
  if (!key.hasWanted) {
    key.hasWanted = true;
    key.wanted = wanted;
    return false;
  }
  if (equal(key.wanted, wanted)) return false;
  key.wantedBefore = key.wanted;
  key.hasWantedBefore = true;
  key.wanted = wanted;
  return true;
}

/**
 * Compares what was seen with what was seen last, with the wish, and with the one before it: a watch that leaves steps out
 * may show a mate's write together with the change that made the wish another one (WL6).
 */
export function compareSeen(key: WriterKey, value: unknown, flags: Flags, equal: Equal): void {
  flags.satisfied = key.hasWanted && equal(value, key.wanted);
  flags.satisfiedBefore = key.hasWantedBefore && equal(value, key.wantedBefore);
  flags.changed = key.view >= 0 && !equal(value, key.value);
}

/** The same for what a read found. Throws TypeError and RangeError for what is no answer of a read. */
export function compareRead(key: WriterKey, found: NonNullable<ReadResult<unknown>>, equal: Equal): Flags {
  const action = 'use what a read found';
  const flags: Flags = { revision: found.revision, satisfied: false, changed: false, satisfiedBefore: false };
  checkInteger('the revision', found.revision, action, 0);
  if ('satisfied' in found) {
    checkCompared(found, action);
    flags.satisfied = found.satisfied;
    flags.changed = found.changed;
  } else if ('value' in found) compareSeen(key, found.value, flags, equal);
  else throw new TypeError(`Cannot ${action}: it has neither satisfied nor value`);
  return flags;
}
