import { openStore } from '../../src/open-store.ts';
import { textCodec } from '../../src/store/codecs.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { type CommitHistory, createCommitHistory, type HeldCommit } from '../../src/testing/commit-history.ts';
import { createFaultyBackend, type FaultyBackend } from '../../src/testing/faulty-backend.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Backend, BackendKeyValue } from '../../src/types/backend.ts';
import { CompactedError, NotReadyError } from '../../src/types/errors.ts';
import type { Random } from '../../src/types/random.ts';
import type { KeyValue, Revision } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';
import type { ModelWatch } from './replica-watch.ts';

/**
 * - `named`: the backend names its data; every promise is kept.
 * - `unnamed`: it does not, so that a replacement can go unnoticed (M25).
 * - `lying`: it sends premature progress marks and stale answers; only convergence is promised.
 */
export type Mode = 'named' | 'unnamed' | 'lying';

export interface OwnWrite {
  readonly what: string;
  state: 'pending' | 'resolved' | 'rejected';
  error: unknown;
}

const decoder = new TextDecoder();

/** A replica in a hostile environment, beside the naive full histories that it is compared with. */
export class World {
  readonly mode: Mode;
  readonly random: Random;
  readonly clock: VirtualClock = createVirtualClock();
  readonly backend: FaultyBackend;
  readonly prefixes: readonly string[];
  /** Whether streams tell how far they are complete; else the replica asks what has changed (M20). */
  readonly hasProgress: boolean;
  readonly watches: ModelWatch[] = [];
  readonly writes: OwnWrite[] = [];
  readonly held: HeldCommit[] = [];
  readonly hanging: (() => void)[] = [];
  readonly trace: string[] = [];
  /** What was found while nobody waited for it. */
  readonly problems: unknown[] = [];
  /** Every data set so far; the last one answers. */
  readonly histories: CommitHistory[] = [];
  /** Runs of revisions that relists left unreadable, by epoch: `after` to `revision`. */
  holes: { after: Revision; revision: Revision }[] = [];
  /** The faulty backend has a position to answer from again. */
  hasRemembered = false;
  /** A replacement went unnoticed: nothing can be compared any more. */
  isUndetected = false;
  /** The data set that the replica shows, as far as is known: an index of `histories`. */
  shown = 0;
  applied: Revision = 0;
  epoch = 1;
  store!: Store<string>;
  /** Only one data set looked like the first list of this epoch. */
  #isShownSure = true;
  readonly #mods = new Map<string, Revision>();

  constructor(seed: number, mode: Mode) {
    this.mode = mode;
    this.random = createSeededRandom(seed);
    this.prefixes = this.pick([[''], ['a/'], ['a/', 'c/'], ['b/', 'a/k1']] as const);
    this.histories.push(createCommitHistory({ identity: this.#identity() }));
    this.hasProgress = mode === 'lying' || this.chance(0.6);
    this.backend = createFaultyBackend(this.#limited(this.history), { clock: this.clock });
  }

  async open(): Promise<void> {
    this.store = await openStore<string>({
      backend: this.backend,
      prefixes: this.prefixes,
      clock: this.clock,
      random: this.random,
      codec: textCodec(),
      waitReady: false,
      retention: this.pick([{}, {}, { events: 8 }, { bytes: 40 }, { ageMs: 2_000 }]),
    });
  }

  get history(): CommitHistory {
    return this.histories[this.histories.length - 1] as CommitHistory;
  }

  /** Data set that the replica shows. */
  get shownHistory(): CommitHistory {
    return this.histories[this.shown] as CommitHistory;
  }

  integer(max: number): number {
    return Math.floor(this.random() * max);
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.integer(from.length)] as T;
  }

  key(): string {
    return `${this.pick(['a/', 'a/', 'b/', 'c/'])}k${this.integer(4)}`;
  }

  replaced(history: CommitHistory): void {
    this.histories.push(history);
  }

  fresh(): CommitHistory {
    const history = createCommitHistory({ identity: this.#identity() });
    for (let count = this.integer(6); count > 0; count--) history.commit([{ key: this.key(), value: `n${count}` }]);
    return history;
  }

  isReplicated(key: string): boolean {
    return this.prefixes.some((prefix) => key.startsWith(prefix));
  }

  /** What is shown, or `undefined` while it is not ready. */
  readable(): boolean {
    try {
      return this.store.revision >= 0;
    } catch (error) {
      if (error instanceof NotReadyError) return false;
      throw error;
    }
  }

  /** Invariants 1, 2, 6, 9: after every step. */
  check(): void {
    const { store } = this;
    for (const problem of this.problems) throw problem;
    if (store.epoch !== this.epoch) this.#newEpoch(store.epoch);
    if (!this.readable()) return;
    if (store.revision < this.applied) this.fail(`the revision fell from ${this.applied} to ${store.revision}`);
    const before = this.applied;
    this.applied = store.revision;
    if (this.applied === 0) this.fail('an empty answer before the first list');
    if (before === 0) this.shown = this.#primedFrom();
    if (this.mode === 'lying' || this.isUndetected) return;
    this.#checkState();
    this.#noteHoles(before);
  }

  /** Invariants 4 and 5: an old revision is the true state, or an error. */
  checkHistory(revision: Revision): void {
    this.check();
    if (!this.readable() || this.mode === 'lying' || this.isUndetected) return;
    const { compactRevision } = this.store;
    if (revision < 1 || revision > this.applied) return;
    const isLegal = revision >= compactRevision && this.holeAt(revision) === undefined;
    try {
      const rows = this.rows(revision);
      if (!isLegal) this.differs(`a read at ${revision} was answered, outside the window or in a hole`);
      if (rows !== this.expected(revision)) this.differs(`a read at ${revision} is not the state there: ${rows}`);
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      if (isLegal) this.differs(`a read at ${revision} was refused: ${error.message}`);
    }
  }

  /** The hole whose inside holds a revision. */
  holeAt(revision: Revision): { after: Revision; revision: Revision } | undefined {
    return this.holes.find((hole) => hole.after < revision && revision < hole.revision);
  }

  expected(revision: Revision, history: CommitHistory = this.shownHistory): string {
    return history
      .stateAt(revision)
      .filter(({ key }) => this.isReplicated(decoder.decode(key)))
      .map(rowOfBackend)
      .join('\n');
  }

  /**
   * What is shown is not what was there: a fault, unless data without a name were replaced and it went unnoticed (M25).
   * From then on only the last state is compared.
   */
  differs(message: string): void {
    const isNewest = this.#isShownSure && this.shown === this.histories.length - 1;
    if (this.mode === 'named' || isNewest) this.fail(message);
    this.isUndetected = true;
  }

  fail(message: string): never {
    throw new Error(`${message}\n  ${this.trace.slice(-60).join('\n  ')}`);
  }

  /** For `replace`: the history as this backend shows it. */
  backendOf(history: CommitHistory): Backend {
    return this.#limited(history);
  }

  #limited(history: CommitHistory): Backend {
    if (this.hasProgress) return history;
    return {
      capabilities: { ...history.capabilities, progress: false },
      range: (request) => history.range(request),
      status: (request) => history.status(request),
      watch: (request) => history.watch(request),
      txn: (request) => history.txn(request),
      compact: (request) => history.compact(request),
      leases: history.leases,
      [Symbol.asyncDispose]: () => history[Symbol.asyncDispose](),
    };
  }

  #identity(): string {
    return this.mode === 'named' ? `data ${this.histories.length}` : '';
  }

  /** What the replica shows at a revision, 0 the newest, as text. */
  rows(revision: Revision): string {
    const prefixes = [...this.prefixes].sort();
    return prefixes.flatMap((prefix) => this.store.range({ prefix, revision }).kvs.map(rowOf)).join('\n');
  }

  #checkState(): void {
    const rows = this.rows(0);
    if (rows !== this.expected(this.applied)) {
      this.differs(`the state at ${this.applied} is:\n${rows}\nand should be:\n${this.expected(this.applied)}`);
      return;
    }
    for (const prefix of this.prefixes) {
      for (const { key, modRevision } of this.store.range({ prefix }).kvs) {
        if (modRevision < (this.#mods.get(key) ?? 0)) this.fail(`the mod revision of ${key} fell to ${modRevision}`);
        this.#mods.set(key, modRevision);
      }
    }
  }

  /** Which data the first list of an epoch came from: by name, or the newest that look like it. */
  #primedFrom(): number {
    const { identity } = this.store;
    if (identity !== '') return this.histories.findIndex((history) => history.identity === identity);
    // The first list may be a while ago: what it showed is still readable at the low watermark.
    const revisions = [this.store.compactRevision, this.applied];
    const isAlike = (history: CommitHistory) =>
      revisions.every((revision) => this.expected(revision, history) === this.rows(revision));
    this.#isShownSure = this.histories.filter(isAlike).length === 1;
    return Math.max(this.histories.findLastIndex(isAlike), 0);
  }

  #noteHoles(before: Revision): void {
    const key = `${this.prefixes[0]}x`;
    let after = -1;
    for (let revision = Math.max(before, this.store.compactRevision); revision <= this.applied; revision++) {
      let isReadable = true;
      try {
        this.store.get(key, { revision });
      } catch (error) {
        if (!(error instanceof CompactedError)) throw error;
        isReadable = false;
      }
      if (!isReadable && after < 0) after = revision - 1;
      if (isReadable && after >= 0) {
        this.holes.push({ after, revision });
        after = -1;
      }
    }
  }

  /** Invariant 12: whoever was there has heard of it. */
  #newEpoch(epoch: number): void {
    if (epoch < this.epoch) this.fail('the epoch fell');
    if (this.mode !== 'lying' && this.histories.length === 1) this.fail('a reset although nothing was replaced');
    this.epoch = epoch;
    this.applied = 0;
    this.holes = [];
    this.#mods.clear();
    for (const watch of this.watches) watch.mustEndByReset();
  }
}

function rowOf(kv: KeyValue<string>): string {
  return [kv.key, kv.value, kv.createRevision, kv.modRevision, kv.version, kv.lease].join(' ');
}

function rowOfBackend(kv: BackendKeyValue): string {
  const { key, value, createRevision, modRevision, version, lease } = kv;
  return [decoder.decode(key), decoder.decode(value), createRevision, modRevision, version, lease].join(' ');
}
