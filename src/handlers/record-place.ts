import type { MergePatch } from '../types/patch.ts';

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
  /** The object without what is in the place: itself, if there is nothing. */
  conceal(object: unknown): unknown;
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
 * The object with another part at a path; `undefined` takes it out, and with it the containers that have nothing else: who
 * had no annotations before the first record has none to see after it.
 */
export function withPart(object: unknown, path: readonly string[], part: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return part;
  if (!isRecord(object)) return object;
  const inner = withPart(Object.hasOwn(object, name) ? object[name] : undefined, rest, part);
  const { [name]: _old, ...others } = object;
  if (inner !== undefined) return { ...object, [name]: inner };
  return Object.keys(others).length === 0 ? undefined : others;
}

/** A merge patch for a part at a path. */
export function patchAt(path: readonly string[], part: MergePatch): MergePatch {
  return path.reduceRight<MergePatch>((patch, name) => ({ [name]: patch }), part);
}
