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

/** One member of an object, such as `status.plimsoll`, that holds nothing but records. */
export class MemberPlace implements RecordPlace {
  readonly title: string;
  readonly bytesMax: number;
  readonly #path: readonly string[];

  constructor(title: string, path: readonly string[], bytesMax: number) {
    this.title = title;
    this.#path = path;
    this.bytesMax = bytesMax;
  }

  read(object: unknown): PlaceContent {
    const part = partAt(object, this.#path);
    const entries = isRecord(part) ? Object.entries(part) : [];
    const texts = entries.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text] as const] : []));
    return { texts: new Map(texts), foreignBytes: 0 };
  }

  bytesOf(name: string, text: string): number {
    return bytesOfText(name) + bytesOfText(text);
  }

  patchOf(changes: ReadonlyMap<string, string | null>): MergePatch {
    return patchAt(this.#path, Object.fromEntries(changes));
  }

  conceal(object: unknown): unknown {
    return concealAt(object, this.#path, () => ({}));
  }

  reaches(patch: Patch): boolean {
    return patchReaches(patch, this.#path, () => true);
  }

  check(action: string, object: unknown): void {
    checkPlace(action, object, this.#path);
  }
}
