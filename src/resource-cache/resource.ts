import { freezeJson } from './freeze-json.ts';
import type { ResourceKey } from './resource-key.ts';

/** As in `metadata.ownerReferences`. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** One state of an object, as a cache keeps it: frozen, to the last leaf of `object` and `info`. */
export interface Resource<T = unknown, I = undefined> {
  readonly key: ResourceKey;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly ownerReferences: readonly OwnerReference[];
  /** Of its `metadata`; empty if it has none. */
  readonly creationTimestamp: string;
  /** What `populate` made of it. */
  readonly info: I | undefined;
  /** The manifest; `undefined` where `populate` said not to keep it. */
  readonly object: T | undefined;
  /** The commit that made it. */
  readonly seq: number;
}

/** What a cache has to remember of an object beside what it always does. */
export interface Populated<I> {
  readonly info?: I;
  /** Whether the whole object stays in memory. @default true */
  readonly keepManifest?: boolean;
}

/** Called once for each commit that makes a state. One that throws is reported, and counts for nothing. */
export type Populate<T, I> = (object: T, key: ResourceKey) => Populated<I> | undefined;

/** The part of an object that is read here; it was checked when it came in. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp?: unknown;
  readonly ownerReferences?: unknown;
}

const NO_REFERENCES: readonly OwnerReference[] = Object.freeze([]);

export function metadataOf(object: unknown): Metadata {
  return (object as { readonly metadata: Metadata }).metadata;
}

/** The state that commit `seq` makes. */
export function makeResource<T, I>(
  object: T,
  { key, seq, populated }: { key: ResourceKey; seq: number; populated: Populated<I> | undefined },
): Resource<T, I> {
  const { uid, resourceVersion, creationTimestamp, ownerReferences } = metadataOf(object);
  return Object.freeze({
    key,
    uid,
    resourceVersion,
    ownerReferences: readReferences(ownerReferences),
    creationTimestamp: typeof creationTimestamp === 'string' ? creationTimestamp : '',
    info: freezeJson(populated?.info),
    object: populated?.keepManifest === false ? undefined : freezeJson(object),
    seq,
  });
}

/** What is no reference is left out: who wrote it has no owner by it, and the object is there all the same. */
function readReferences(references: unknown): readonly OwnerReference[] {
  if (!Array.isArray(references) || references.length === 0) return NO_REFERENCES;
  for (const reference of references) {
    if (!isReference(reference)) return freezeJson(references.filter(isReference));
  }
  return freezeJson(references);
}

function isReference(reference: unknown): boolean {
  if (typeof reference !== 'object' || reference === null) return false;
  const { uid, name, kind, apiVersion } = reference as Partial<Record<keyof OwnerReference, unknown>>;
  // Without a uid it is resolved by its name (RH2).
  if (uid !== undefined && typeof uid !== 'string') return false;
  return typeof kind === 'string' && typeof name === 'string' && typeof apiVersion === 'string';
}
