import { jsonPointer } from '../core/json-pointer.ts';
import { ValueError } from '../types/errors.ts';
import type { MergePatch, Patch } from '../types/patch.ts';
import { isJsonPatch, segmentsOf } from './patch.ts';

/** A place within objects that holds texts by name: what records are kept in (A42'). */
export interface RecordPlace {
  /** How errors name it. */
  readonly title: string;
  /** Most bytes in it, names and texts of everybody together. */
  readonly bytesMax: number;
  /** The texts there, and the bytes that others have there. */
  read(object: unknown): PlaceContent;
  /** Bytes that a text takes. */
  bytesOf(name: string, text: string): number;
  /** A patch that sets texts, and removes those that are `null`. */
  patchOf(changes: ReadonlyMap<string, string | null>): MergePatch;
  /** The object without what is in the place, and without containers on the way to it that have nothing else. */
  conceal(object: unknown): unknown;
  /** Whether a patch of an object without it names what is in the place, or a container of it. */
  reaches(patch: Patch): boolean;
  /** Throws `ValueError` for an object that has no room for the place, since something else is on the way to it. */
  check(action: string, object: unknown): void;
}

export interface PlaceContent {
  readonly texts: ReadonlyMap<string, string>;
  readonly foreignBytes: number;
}

const encoder = new TextEncoder();

export function bytesOfText(text: string): number {
  return encoder.encode(text).length;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of own members. */
export function partAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (part, name) => (isRecord(part) && Object.hasOwn(part, name) ? part[name] : undefined),
    object,
  );
}

/**
 * The object as it is without what `hide` takes out of its part at a path, and without containers on the way that have
 * nothing else: who had no annotations before the first record has none to see after it. Containers that were empty before
 * are not shown either, or the first record would take them out of view. Itself, if nothing is to go.
 */
export function concealAt(
  object: unknown,
  path: readonly string[],
  hide: (part: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): unknown {
  const shown = shownOf(object, path, hide);
  if (shown !== undefined) return shown;
  return isRecord(object) && Object.keys(object).length === 0 ? object : {};
}

function shownOf(part: unknown, path: readonly string[], hide: Parameters<typeof concealAt>[2]): unknown {
  // Whatever that is, it is nothing of ours.
  if (!isRecord(part)) return part;
  const [name, ...rest] = path;
  let shown = part;
  if (name === undefined) shown = hide(part);
  else if (Object.hasOwn(part, name)) {
    const inner = shownOf(part[name], rest, hide);
    if (inner === undefined) {
      const { [name]: _hidden, ...others } = part;
      shown = others;
    } else if (inner !== part[name]) {
      shown = { ...part, [name]: inner };
    }
  }
  return Object.keys(shown).length === 0 ? undefined : shown;
}

/**
 * Refuses an object that has something else than a container on the way to the place: a record would take its place.
 *
 * Throws `ValueError` with the pointer.
 */
export function checkPlace(action: string, object: unknown, path: readonly string[]): void {
  let part = object;
  for (let depth = 0; ; depth++) {
    const name = path[depth];
    if (!isRecord(part)) {
      const reason = 'is no object, so it has no room for records';
      throw new ValueError(action, { path: jsonPointer(path.slice(0, depth)), reason });
    }
    if (name === undefined || !Object.hasOwn(part, name) || part[name] === undefined) return;
    part = part[name];
  }
}

/**
 * Whether a patch of the object as it is shown may mean something else for the whole one: it names a container of the
 * place, or a member in it that is hidden.
 */
export function patchReaches(patch: Patch, path: readonly string[], isHidden: (name: string) => boolean): boolean {
  if (isJsonPatch(patch)) {
    return patch.some((operation) =>
      [operation.path, ...('from' in operation ? [operation.from] : [])].some((pointer) => {
        const at = segmentsOf(pointer);
        if (at.some((segment, depth) => depth < path.length && segment !== path[depth])) return false;
        const name = at[path.length];
        return name === undefined || isHidden(name);
      }),
    );
  }
  let part: unknown = patch;
  for (const name of path) {
    if (!isRecord(part)) return true;
    if (!Object.hasOwn(part, name) || part[name] === undefined) return false;
    part = part[name];
  }
  return !isRecord(part) || Object.keys(part).some(isHidden);
}

/** A merge patch for a part at a path. */
export function patchAt(path: readonly string[], part: MergePatch): MergePatch {
  return path.reduceRight<MergePatch>((patch, name) => ({ [name]: patch }), part);
}
