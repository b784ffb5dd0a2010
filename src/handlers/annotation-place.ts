import type { MergePatch, Patch } from '../types/patch.ts';
import {
  bytesOfText,
  checkPlace,
  concealAt,
  isRecord,
  type PlaceContent,
  partAt,
  patchAt,
  patchReaches,
  type RecordPlace,
} from './record-place.ts';

/** What the essence leaves out by itself. */
export const DEFAULT_PREFIX = 'plimsoll.dev';
/** The bound of Kubernetes on all annotations of an object, names and texts together. */
const ANNOTATION_BYTES_MAX = 262_144;
/** Tells other operators that annotations with this prefix are records (docs/essence.md). */
const MARKER = 'plimsoll-managed';
const PATH = ['metadata', 'annotations'] as const;

/**
 * Annotations with a prefix. Concealed are those of every operator that keeps records there, since two that see each
 * other's would call each other for ever.
 */
export class AnnotationPlace implements RecordPlace {
  readonly title = 'annotations';
  readonly bytesMax: number = ANNOTATION_BYTES_MAX;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  read(object: unknown): PlaceContent {
    const texts = new Map<string, string>();
    // Counted as there before it is.
    let foreignBytes = bytesOfText(`${this.#prefix}/${MARKER}`);
    for (const [key, text] of entriesOf(object)) {
      if (!key.startsWith(`${this.#prefix}/`)) foreignBytes += bytesOfText(key) + bytesOfText(text);
      else texts.set(key.slice(this.#prefix.length + 1), text);
    }
    return { texts, foreignBytes };
  }

  bytesOf(name: string, text: string): number {
    return bytesOfText(`${this.#prefix}/${name}`) + bytesOfText(text);
  }

  patchOf(changes: ReadonlyMap<string, string | null>): MergePatch {
    const part = Object.fromEntries([...changes].map(([name, text]) => [`${this.#prefix}/${name}`, text]));
    return patchAt(PATH, { ...part, [`${this.#prefix}/${MARKER}`]: '' });
  }

  conceal(object: unknown): unknown {
    return concealAt(object, PATH, (annotations) => {
      const keys = Object.keys(annotations);
      const hidden = new Set([this.#prefix, DEFAULT_PREFIX]);
      for (const key of keys) if (key.endsWith(`/${MARKER}`)) hidden.add(prefixOf(key));
      const left = keys.filter((key) => !hidden.has(prefixOf(key)));
      return left.length === keys.length ? annotations : Object.fromEntries(left.map((key) => [key, annotations[key]]));
    });
  }

  /** Annotations of other operators are theirs: a patch of one reaches nothing of ours. */
  reaches(patch: Patch): boolean {
    return patchReaches(patch, PATH, (key) => [this.#prefix, DEFAULT_PREFIX].includes(prefixOf(key)));
  }

  check(action: string, object: unknown): void {
    checkPlace(action, object, PATH);
  }
}

function prefixOf(key: string): string {
  return key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
}

function entriesOf(object: unknown): readonly (readonly [string, string])[] {
  const annotations = partAt(object, PATH);
  if (!isRecord(annotations)) return [];
  return Object.entries(annotations).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text] as const] : []));
}
