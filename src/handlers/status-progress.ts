import type { ObjectSource } from '../types/source.ts';
import { wrongNumber } from '../types/wrong-number.ts';
import { checkObjectRecords, isNoSecret, type ObjectRecordOptions } from './annotation-progress.ts';
import { MemberPlace } from './member-place.ts';
import { createObjectProgress } from './object-progress.ts';
import { parsePath } from './path.ts';
import type { ProgressStore } from './progress.ts';

/** Options of {@link createStatusProgress}. */
export interface StatusProgressOptions<T = unknown> extends ObjectRecordOptions<T> {
  /** The member that records are kept in, and nothing else: two names or more. One controller, one path. @default 'status.plimsoll' */
  readonly path?: string;
  /** Most bytes of it, names and texts, from 1 on. @default 262144 */
  readonly bytesMax?: number;
}

/**
 * Keeps records in a member of the objects themselves, by default `status.plimsoll`: texts by name, as in annotations, and all
 * else as {@link createAnnotationProgress} has it. For objects whose annotations are other people's, and for more room: a
 * schema has to allow the member, an object of strings.
 *
 * @example
 * ```ts
 * import { createController, createStatusProgress } from 'plimsoll';
 * import { createObjectSource, createSeededRandom, createVirtualClock } from 'plimsoll/testing';
 *
 * const source = createObjectSource<{ status?: object }>({ clock: createVirtualClock(), random: createSeededRandom(1) });
 * createController({ source, progress: createStatusProgress(source, { path: 'status.handlers' }) });
 * ```
 *
 * @throws TypeError for a source without `patch`, an unknown option, and a path that is none or has one name.
 * @throws RangeError for `bytesMax` out of range.
 */
export function createStatusProgress<T>(
  source: ObjectSource<T>,
  options: StatusProgressOptions<T> = {},
): ProgressStore {
  const action = 'create a status progress';
  checkObjectRecords(action, source, options, ['path', 'bytesMax']);
  const { path = 'status.plimsoll', bytesMax = 262_144, overflow, keepsViews = isNoSecret } = options;
  const names = parsePath(path);
  if (names.length < 2) throw new TypeError(`Cannot ${action}: the path ${path} is a whole part of the object`);
  if (typeof bytesMax !== 'number') {
    throw new TypeError(`Cannot ${action}: bytesMax is of type ${typeof bytesMax}, not a number`);
  }
  if (!(bytesMax >= 1)) throw wrongNumber(action, 'bytesMax', bytesMax, 'from 1 on');
  return createObjectProgress({ source, place: new MemberPlace(path, names, bytesMax), overflow, keepsViews });
}
