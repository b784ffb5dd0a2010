/**
 * What handlers are for: the world outside, in which their effects are. It outlives every process and reads no records of
 * the controller, so it can judge them.
 */
export class OutsideWorld {
  /** Effects that were done. */
  calls = 0;
  /** Those of them that had been done before under the same key: a consumer that remembers keys would drop them. */
  repeated = 0;
  /** Effects of subs that were taken back because their sub had left the plan. */
  retired = 0;
  /** Deletions that were handled while effects of subs were still there. */
  early = 0;
  readonly #effects = new Map<string, Map<string, string>>();
  readonly #released = new Set<string>();
  readonly #keys = new Set<string>();
  /** The number of the last process that has greeted each uid, and how often it has. */
  readonly #greetings = new Map<string, { readonly process: number; readonly times: number }>();

  /** An effect is there under this key. */
  note(key: string): void {
    this.calls++;
    if (this.#keys.has(key)) this.repeated++;
    else this.#keys.add(key);
  }

  put(uid: string, id: string, value: string): void {
    const effects = this.#effects.get(uid) ?? new Map<string, string>();
    this.#effects.set(uid, effects);
    effects.set(id, value);
  }

  effect(uid: string, id: string): string | undefined {
    return this.#effects.get(uid)?.get(id);
  }

  /** Ids of everything that is there for a uid. */
  effects(uid: string): readonly string[] {
    return [...(this.#effects.get(uid)?.keys() ?? [])].sort();
  }

  /** All uids that anything is there for. */
  get uids(): readonly string[] {
    return [...this.#effects.keys()];
  }

  retire(uid: string, id: string): void {
    this.retired++;
    this.#effects.get(uid)?.delete(id);
  }

  release(uid: string): void {
    if (this.effects(uid).some((id) => id.includes('/'))) this.early++;
    this.#effects.delete(uid);
    this.#released.add(uid);
  }

  isReleased(uid: string): boolean {
    return this.#released.has(uid);
  }

  greet(uid: string, process: number): void {
    const before = this.#greetings.get(uid);
    this.#greetings.set(uid, { process, times: before?.process === process ? before.times + 1 : 1 });
  }

  /** How often this process has greeted a uid. */
  greetings(uid: string, process: number): number {
    const last = this.#greetings.get(uid);
    return last?.process === process ? last.times : 0;
  }
}
