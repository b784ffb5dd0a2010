/**
 * Text -> what can be found under it. One of them is by far the most frequent number, so a set is made for the second.
 */
export class Postings<E extends object> {
  readonly #byText = new Map<string, E | Set<E>>();
  #sets = 0;

  get size(): number {
    return this.#byText.size;
  }

  /** Something may be under a text that something else is under, too: otherwise nobody has to look. */
  get hasShared(): boolean {
    return this.#sets > 0;
  }

  add(text: string, item: E): void {
    const found = this.#byText.get(text);
    if (found === undefined) this.#byText.set(text, item);
    else if (found instanceof Set) found.add(item);
    else if (found !== item) {
      this.#byText.set(text, new Set([found, item]));
      this.#sets++;
    }
  }

  delete(text: string, item: E): void {
    const found = this.#byText.get(text);
    if (found instanceof Set) {
      found.delete(item);
      // A walk may be in the middle of the set, so it is not put back to one item; it goes with its last one.
      if (found.size > 0) return;
      this.#byText.delete(text);
      this.#sets--;
    } else if (found === item) this.#byText.delete(text);
  }

  get(text: string): E | ReadonlySet<E> | undefined {
    return this.#byText.get(text);
  }

  /** All of them, for whoever does not care how they are kept. */
  *under(text: string): Generator<E, void, undefined> {
    const found = this.#byText.get(text);
    if (found instanceof Set) yield* found;
    else if (found !== undefined) yield found;
  }

  texts(): IterableIterator<string> {
    return this.#byText.keys();
  }
}
