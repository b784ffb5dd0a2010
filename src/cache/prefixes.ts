import { byteText, compareKeyText, prefixEnd } from '../core/key-order.ts';
import type { KeySpace } from '../store/keyspace.ts';
import type { ByteRange } from '../types/backend.ts';
import { NotCachedError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key } from '../types/revision.ts';

/** The part of the keyspace that a replica keeps: disjoint prefixes in key order, all of it by default. */
export class ReplicatedPrefixes {
  /** For the backend: in key order and disjoint, so that rows of several ranges come sorted (M11). */
  readonly ranges: readonly ByteRange[];
  readonly #keys: KeySpace<Key>;
  readonly #texts: readonly string[];
  readonly #ends: readonly string[];

  /** Throws what `KeySpace.resolve` throws, and RangeError for an empty list. */
  constructor(keys: KeySpace<Key>, prefixes: readonly Key[]) {
    if (prefixes.length === 0) throw new RangeError('Cannot open a store: prefixes is empty');
    const resolved = prefixes.map((prefix) => keys.resolve({ prefix }, 'open a store'));
    const sorted = resolved.map((range) => range.text).sort(compareKeyText);
    // In this order a prefix that another one covers comes right behind it.
    const texts: string[] = [];
    for (const text of sorted) {
      const last = texts[texts.length - 1];
      if (last === undefined || !text.startsWith(last)) texts.push(text);
    }
    this.#keys = keys;
    this.#texts = texts;
    this.#ends = texts.map((text) => byteText(prefixEnd(keys.bytes(text))));
    this.ranges = texts.map((text) => {
      const start = keys.bytes(text);
      return { start, end: prefixEnd(start) };
    });
  }

  has(text: string): boolean {
    return this.#texts.some((prefix) => text.startsWith(prefix));
  }

  /** Throws `NotCachedError` unless the range lies inside one of the prefixes (D5). */
  check(range: ResolvedRange, action: string): void {
    if (range.empty || this.covers(range)) return;
    const prefixes = this.#texts.map((text) => this.#keys.key(text));
    throw new NotCachedError(action, { range: this.#keys.rangeOf(range), prefixes });
  }

  /** The same for one key. */
  checkKey(text: string, action: string): void {
    if (this.has(text)) return;
    const prefixes = this.#texts.map((prefix) => this.#keys.key(prefix));
    throw new NotCachedError(action, { range: { key: this.#keys.key(text) }, prefixes });
  }

  covers(range: ResolvedRange): boolean {
    return this.#texts.some((prefix, index) => {
      if (!range.text.startsWith(prefix)) return false;
      if (range.kind !== 'interval') return true;
      const end = range.bytes.end;
      const bound = this.#ends[index] as string;
      if (bound === '') return true;
      return end !== undefined && end.length > 0 && byteText(end) <= bound;
    });
  }

  /** Whether a write of this range touches anything that is replicated; if not, it need not be waited for (M3). */
  touches(range: ResolvedRange): boolean {
    if (range.empty) return false;
    if (range.kind === 'point') return this.has(range.text);
    const start = byteText(range.bytes.start);
    const end = range.bytes.end === undefined ? '' : byteText(range.bytes.end);
    return this.ranges.some((own, index) => {
      const ownEnd = this.#ends[index] as string;
      return (ownEnd === '' || start < ownEnd) && (end === '' || byteText(own.start) < end);
    });
  }
}
