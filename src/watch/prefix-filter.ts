/**
 * Says which prefixes of a key may be among those of an index, before any is cut out and looked up: of keys that are
 * paths, twenty lengths are in use, and a look-up in a large map is a cache miss or two.
 *
 * ```text
 *   lengths in use     6, 15, 17            how many prefixes have each
 *   key   /registry/pods/a/b                one pass; the hash of the first 6, 15, 17 units asks for a bit
 *   bits  ..1.....1....1..                  set by the hash of a prefix
 * ```
 *
 * A bit that another prefix has set, or one that has left, costs a look-up and answers nothing wrong. At most one bit in
 * `BITS_PER_MARK` is set: when there are more, the bits are made anew of the prefixes that are there, which takes at most
 * two steps for each prefix that has come since the last time.
 */
export class PrefixFilter {
  /** The prefixes of the index, by their own text. */
  readonly #prefixes: ReadonlyMap<string, unknown>;
  readonly #counts = new Map<number, number>();
  /** The lengths of `#counts`, ascending. */
  #lengths: readonly number[] = [];
  #bits = new Uint32Array(WORDS_MIN);
  /** Prefixes that came since the bits were made, and those they were made of. */
  #marks = 0;

  constructor(prefixes: ReadonlyMap<string, unknown>) {
    this.#prefixes = prefixes;
  }

  /** What is in memory: lengths in use, and bits. */
  get held(): { readonly lengths: number; readonly bits: number } {
    return { lengths: this.#lengths.length, bits: this.#bits.length * 32 };
  }

  /** A prefix that is in the index by now, and was not before. */
  add(prefix: string): void {
    const { length } = prefix;
    const count = this.#counts.get(length) ?? 0;
    this.#counts.set(length, count + 1);
    if (count === 0) {
      // A new list each time: a visit may be under way.
      const [below, above] = [this.#lengths.filter((one) => one < length), this.#lengths.filter((one) => one > length)];
      this.#lengths = [...below, length, ...above];
    }
    this.#marks++;
    if (this.#marks * BITS_PER_MARK > this.#bits.length * 32) this.#renew();
    else this.#mark(prefix);
  }

  /** A prefix that is in the index no longer. Its bit stays, which others may need. */
  remove(prefix: string): void {
    const { length } = prefix;
    const left = (this.#counts.get(length) as number) - 1;
    if (left > 0) {
      this.#counts.set(length, left);
      return;
    }
    this.#counts.delete(length);
    this.#lengths = this.#lengths.filter((one) => one !== length);
  }

  /** Calls `visit` for each prefix of the key that may be in the index, ascending; for each that is in any case. */
  visit(text: string, visit: (prefix: string) => void): void {
    let hash = HASH_BASIS;
    let at = 0;
    for (const length of this.#lengths) {
      if (length > text.length) return;
      for (; at < length; at++) hash = step(hash, text.charCodeAt(at));
      const bit = bitOf(hash);
      const word = this.#bits[(bit >>> 5) & (this.#bits.length - 1)] as number;
      if (((word >>> (bit & 31)) & 1) !== 0) visit(length === text.length ? text : text.slice(0, length));
    }
  }

  #mark(prefix: string): void {
    let hash = HASH_BASIS;
    for (let at = 0; at < prefix.length; at++) hash = step(hash, prefix.charCodeAt(at));
    const bit = bitOf(hash);
    const place = (bit >>> 5) & (this.#bits.length - 1);
    this.#bits[place] = (this.#bits[place] as number) | (1 << (bit & 31));
  }

  /** Twice as many bits as are needed now: as many prefixes may come before the next time. */
  #renew(): void {
    let words = WORDS_MIN;
    while (words * 32 < this.#prefixes.size * BITS_PER_MARK * 2) words *= 2;
    this.#bits = new Uint32Array(words);
    this.#marks = this.#prefixes.size;
    for (const prefix of this.#prefixes.keys()) this.#mark(prefix);
  }
}

/** A power of two: 2048 bits. */
const WORDS_MIN = 64;
const BITS_PER_MARK = 16;

/** FNV-1a, 32 bits, by UTF-16 units. Whoever prepares keys that collide gets the look-ups that there were without it. */
const HASH_BASIS = 0x811c9dc5;

function step(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

/** The low bits of FNV are its best, and the high ones know more of the last units: both count. */
function bitOf(hash: number): number {
  return hash ^ (hash >>> 15);
}
