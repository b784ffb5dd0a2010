/**
 * Gives equal parts of JSON data equal numbers, so that whole subtrees are compared at once: to compare them part by part,
 * at each level anew, would cost the depth times the size.
 *
 * ```text
 *   {"a":[1,2],"b":[1,2]}     1 -> #0   2 -> #1   [0,1] -> #2   {"a":2,"b":2} -> #3
 * ```
 *
 * Each container is looked at once, however often it is asked for. Data that changes in between gets wrong numbers.
 */
export class JsonIdentity {
  readonly #numbers = new Map<string, number>();
  readonly #known = new Map<object, number>();
  readonly #hasOrder: boolean;

  /** `hasOrder`: objects with the same members in another order are not equal. */
  constructor(hasOrder: boolean) {
    this.#hasOrder = hasOrder;
  }

  of(value: unknown): number {
    if (typeof value !== 'object' || value === null) return this.#number(textOf(value));
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const number = this.#number(Array.isArray(value) ? this.#arrayText(value) : this.#objectText(value));
    this.#known.set(value, number);
    return number;
  }

  #arrayText(value: readonly unknown[]): string {
    return `[${value.map((part) => this.of(part)).join()}]`;
  }

  #objectText(value: object): string {
    const members = Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([name, part]) => `${JSON.stringify(name)}:${this.of(part)}`);
    return `{${(this.#hasOrder ? members : members.sort()).join()}}`;
  }

  #number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }
}

/** -0 is 0 in JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value === 0 ? 0 : value);
}
