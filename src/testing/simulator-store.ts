/** A value that nobody has written yet. */
export const NO_VALUE = -1;
/** The author of an edit that is nobody's of the replicas. */
export const OTHERS = -1;

/**
 * The optimistic store of a simulation: one revision counter for all keys, a write names the revision it was made from.
 *
 * ```text
 *   object of a key   { revision, spec, value }      spec: raised by edits of others; value: what replicas write
 *   log               entry i is revision base + i   what happened to which key, for the watches
 * ```
 *
 * The log is kept whole: a replica may lag however far. It is what bounds the length of a simulation.
 */
export class SimulatorStore {
  readonly keys: readonly string[];
  readonly configurations: number;
  readonly revisions: Float64Array;
  readonly specs: Int32Array;
  readonly values: Int32Array;
  readonly writes: Int32Array;
  readonly worstWaits: Float64Array;
  readonly log: LogEntry[] = [];
  readonly #contestedKeys: number;
  readonly #since: Float64Array;
  readonly #indexOf: ReadonlyMap<string, number>;
  #unsatisfied: number;
  #convergedAt = Number.NaN;

  /** Objects that exist from the start have the revisions 1 to `keys`. */
  constructor(keys: number, configurations: number, contestedKeys: number) {
    this.keys = Array.from({ length: keys }, (_, index) => `key-${index}`);
    this.#indexOf = new Map(this.keys.map((key, index) => [key, index]));
    this.configurations = configurations;
    this.#contestedKeys = contestedKeys;
    this.revisions = Float64Array.from({ length: keys }, (_, index) => index + 1);
    this.specs = new Int32Array(keys);
    this.values = new Int32Array(keys).fill(NO_VALUE);
    this.writes = new Int32Array(keys);
    this.worstWaits = new Float64Array(keys);
    this.#since = new Float64Array(keys);
    this.#unsatisfied = keys;
  }

  get revision(): number {
    return this.keys.length + this.log.length;
  }

  /** Keys whose value is what no configuration wants for their spec. */
  get unsatisfied(): number {
    return this.#unsatisfied;
  }

  /** When the last key became right; NaN while one is not. */
  get convergedAt(): number {
    return this.#convergedAt;
  }

  indexOf(key: string): number {
    const index = this.#indexOf.get(key);
    if (index === undefined) throw new RangeError(`Cannot find the key: "${key}" is not in the simulation`);
    return index;
  }

  /** All objects as they are now, in the order of their keys. */
  list(): readonly LogEntry[] {
    return this.keys.map((_, key) => this.#entry(key, OTHERS, 0));
  }

  /** What a configuration wants for a key with such a spec: no two of them want the same where it is contested. */
  wanted(key: number, configuration: number, spec: number): number {
    return spec * this.configurations + (key < this.#contestedKeys ? configuration : 0);
  }

  /** The configuration whose value a key has; `undefined` if that is no value for the present spec. */
  configurationOf(key: number): number | undefined {
    const value = this.values[key] ?? NO_VALUE;
    const isRight = value !== NO_VALUE && Math.floor(value / this.configurations) === this.specs[key];
    return isRight ? value % this.configurations : undefined;
  }

  /** Compare and set: `undefined` is a conflict. */
  write(key: number, value: number, expected: number, author: number, at: number): number | undefined {
    if (this.revisions[key] !== expected) return undefined;
    this.values[key] = value;
    this.writes[key] = (this.writes[key] ?? 0) + 1;
    return this.#commit(key, author, at);
  }

  /** Somebody else edits the object: every replica wants something new for it. */
  edit(key: number, at: number): number {
    this.specs[key] = (this.specs[key] ?? 0) + 1;
    return this.#commit(key, OTHERS, at);
  }

  /** Somebody else touches the object without changing what anybody wants. */
  touch(key: number, at: number): number {
    return this.#commit(key, OTHERS, at);
  }

  /** How long the key that waits longest has been waiting. */
  longestWait(now: number): number {
    let longest = 0;
    for (const since of this.#since) if (now - since > longest) longest = now - since;
    return longest;
  }

  #commit(key: number, author: number, at: number): number {
    const revision = this.revision + 1;
    this.revisions[key] = revision;
    const entry = this.#entry(key, author, at);
    this.log.push(entry);
    this.#account(key, Math.floor(entry.value / this.configurations) === entry.spec, at);
    return revision;
  }

  #entry(key: number, author: number, at: number): LogEntry {
    const [revision = 0, spec = 0, value = NO_VALUE] = [this.revisions[key], this.specs[key], this.values[key]];
    return { key, revision, spec, value, author, at };
  }

  #account(key: number, isSatisfied: boolean, at: number): void {
    const since = this.#since[key] ?? Number.NaN;
    if (isSatisfied === Number.isNaN(since)) return;
    if (isSatisfied) {
      this.worstWaits[key] = Math.max(this.worstWaits[key] ?? 0, at - since);
      this.#since[key] = Number.NaN;
      this.#unsatisfied--;
      if (this.#unsatisfied === 0) this.#convergedAt = at;
    } else {
      this.#since[key] = at;
      this.#unsatisfied++;
      this.#convergedAt = Number.NaN;
    }
  }
}

/** One commit. */
export interface LogEntry {
  readonly key: number;
  readonly revision: number;
  readonly spec: number;
  readonly value: number;
  /** Index of the replica that wrote it, or `OTHERS`. */
  readonly author: number;
  readonly at: number;
}
