import { ContentionEntry } from './contention-entry.ts';

/**
 * The keys that a tracker remembers, the one whose last change is longest ago first.
 *
 * ```text
 *   first -> a (changed 10) <-> b (changed 70) <-> c (changed 90) <- last         touch(a): b <-> c <-> a
 * ```
 *
 * There is no timer: what is over goes when something else comes, a few at a time, and is never found again before that.
 * Bound: `max`; one more makes it forget the first.
 */
export class ContentionEntries {
  readonly #all = new Map<string, ContentionEntry>();
  readonly #max: number;
  readonly #intervalMs: number;
  #first: ContentionEntry | undefined;
  #last: ContentionEntry | undefined;

  constructor(max: number, intervalMs: number) {
    this.#max = max;
    this.#intervalMs = intervalMs;
  }

  get size(): number {
    return this.#all.size;
  }

  values(): Iterable<ContentionEntry> {
    return this.#all.values();
  }

  get(key: string, now: number): ContentionEntry | undefined {
    const found = this.#all.get(key);
    if (found === undefined || !found.isOver(now, this.#intervalMs)) return found;
    this.#drop(found);
    return undefined;
  }

  make(key: string, now: number): ContentionEntry {
    const found = this.get(key, now);
    if (found !== undefined) return found;
    if (this.#all.size >= this.#max && this.#first !== undefined) this.#drop(this.#first);
    const made = new ContentionEntry(key, now);
    this.#all.set(key, made);
    this.#append(made);
    return made;
  }

  /** It has changed: it goes to the end. Forgets what is over on this occasion. */
  touch(entry: ContentionEntry, now: number): void {
    if (entry !== this.#last) {
      this.#unlink(entry);
      this.#append(entry);
    }
    this.#sweep(now);
    this.#sweep(now);
  }

  /** Looks at the first one: one that is kept for another reason than its last change would hide those behind it. */
  #sweep(now: number): void {
    const first = this.#first;
    if (first === undefined) return;
    if (first.isOver(now, this.#intervalMs)) this.#drop(first);
    else if (first !== this.#last && now >= first.changedAt + 2 * this.#intervalMs) {
      this.#unlink(first);
      this.#append(first);
    }
  }

  #drop(entry: ContentionEntry): void {
    this.#unlink(entry);
    this.#all.delete(entry.key);
  }

  #append(entry: ContentionEntry): void {
    entry.previous = this.#last;
    entry.next = undefined;
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
  }

  #unlink(entry: ContentionEntry): void {
    const { previous, next } = entry;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    entry.previous = undefined;
    entry.next = undefined;
  }
}
