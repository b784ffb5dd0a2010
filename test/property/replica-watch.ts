import type { CommitHistory } from '../../src/testing/commit-history.ts';
import type { BackendEvent } from '../../src/types/backend.ts';
import { CompactedError, IdentityChangedError } from '../../src/types/errors.ts';
import type { WatchBatch, WatchEvent } from '../../src/types/event.ts';
import type { Revision } from '../../src/types/revision.ts';
import type { Watch, WatchOptions } from '../../src/types/watch.ts';
import type { World } from './replica-world.ts';

const decoder = new TextDecoder();

/**
 * One watch and what it must bring: invariants 3, 11 and 12.
 *
 * `covered` is the revision up to which its consumer knows everything. A batch moves it on, and whatever matches in
 * between and was not delivered must lie inside a hole.
 */
export class ModelWatch {
  readonly prefix: string;
  readonly options: WatchOptions;
  isEnded = false;
  readonly #world: World;
  readonly #watch: Watch<string>;
  readonly #wasStarted: boolean;
  readonly #history: CommitHistory;
  readonly #epoch: number;
  #covered: Revision;
  #isFirst = true;
  #next: Promise<void> | undefined;
  #mustReset = false;

  constructor(world: World, prefix: string, options: WatchOptions) {
    world.check();
    this.#world = world;
    this.prefix = prefix;
    this.options = options;
    this.#wasStarted = world.readable() && world.applied > 0;
    this.#history = world.shownHistory;
    this.#epoch = world.epoch;
    const from = options.fromRevision ?? 0;
    this.#covered = from === 0 ? world.applied : from - 1;
    this.#watch = world.store.watch({ prefix }, options);
  }

  mustEndByReset(): void {
    if (this.#wasStarted && !this.isEnded) this.#mustReset = true;
  }

  /** Reads up to so many batches, as far as there are any. */
  async consume(count: number): Promise<void> {
    for (let left = count; left > 0 && !this.isEnded; left--) {
      let isSettled = false;
      this.#next ??= this.#read().catch((error: unknown) => void this.#world.problems.push(error));
      this.#next = this.#next.then(() => {
        isSettled = true;
      });
      await this.#world.clock.settle();
      if (!isSettled) return;
      this.#next = undefined;
    }
  }

  async end(): Promise<void> {
    this.isEnded = true;
    await this.#watch.return();
  }

  /** After everything was read: nothing that matches is left out. */
  checkComplete(): void {
    if (this.isEnded || !this.#isComparable() || this.#world.applied <= this.#covered) return;
    this.#checkGap(this.#world.applied);
  }

  async #read(): Promise<void> {
    const mustReset = this.#mustReset;
    try {
      const { value, done } = await this.#watch.next();
      if (this.isEnded) return;
      this.#world.check();
      if (done === true) return this.#world.fail('a watch ended without an error');
      if (mustReset) this.#world.fail('a watch went on after a reset');
      if (this.#isComparable()) this.#check(value);
    } catch (error) {
      this.isEnded = true;
      this.#world.check();
      if (error instanceof CompactedError) this.#checkCompacted(error);
      else if (!(error instanceof IdentityChangedError && this.#world.store.epoch > 1)) throw error;
      if ((await this.#watch.next()).done !== true) this.#world.differs('a watch went on after its error');
    }
  }

  /** Watches that began before the store was ready start somewhere that nobody saw. */
  #isComparable(): boolean {
    const { mode, isUndetected, epoch } = this.#world;
    if (mode === 'lying' || isUndetected || !this.#wasStarted) return false;
    return this.#epoch === epoch && this.#world.readable();
  }

  #check(batch: WatchBatch<string>): void {
    const { revision, after, events } = batch;
    if (this.#isFirst && this.options.initial === true) {
      if (batch.initial !== true) this.#world.differs('the first batch is not the initial one');
    } else if (after === undefined) {
      this.#checkGap(revision - 1);
      if (revision <= this.#covered) this.#world.differs(`a batch at ${revision} came twice`);
      this.#same(events.map(briefEvent), this.#matching(revision, revision), `the batch at ${revision}`);
    } else {
      if (after < this.#covered) this.#world.differs(`a span from ${after} for a watch that knows ${this.#covered}`);
      this.#checkGap(after);
      this.#same(events.map(briefEvent), this.#difference(after, revision), `the span (${after},${revision}]`);
    }
    this.#isFirst = false;
    this.#covered = revision;
  }

  #same(actual: readonly string[], expected: readonly string[], what: string): void {
    if (actual.join() !== expected.join()) {
      this.#world.differs(`${what} of ${this.prefix} is [${actual.join()}] and should be [${expected.join()}]`);
    }
  }

  /** Nothing that matches lies in (covered, to], but for what a hole swallowed. */
  #checkGap(to: Revision): void {
    for (const { revision } of this.#history.eventsOf(this.#covered + 1, to)) {
      if (this.#matching(revision, revision).length === 0) continue;
      const isSwallowed = this.#world.holes.some((hole) => hole.after < revision && revision <= hole.revision);
      // A hole that was compacted in the step that made it was never seen; then its end is not above the watermark.
      const isUnknown = revision <= this.#world.store.compactRevision;
      if (!isSwallowed && !isUnknown)
        this.#world.differs(`the commit at ${revision} was not delivered to ${this.prefix}`);
    }
  }

  #matching(from: Revision, to: Revision): string[] {
    const { filter } = this.options;
    return this.#history
      .eventsOf(from, to)
      .flatMap(({ events }) => events)
      .filter((event) => decoder.decode(keyOf(event)).startsWith(this.prefix))
      .filter(({ type }) => filter !== (type === 'put' ? 'noput' : 'nodelete'))
      .map(briefBackend);
  }

  /** What changed between two states, keys ascending; deletes carry the later revision. */
  #difference(after: Revision, revision: Revision): string[] {
    const rows = (at: Revision) =>
      new Map(
        this.#history.stateAt(at).flatMap((kv) => {
          const key = decoder.decode(kv.key);
          return key.startsWith(this.prefix) ? [[key, kv] as const] : [];
        }),
      );
    const [old, now] = [rows(after), rows(revision)];
    const { filter } = this.options;
    return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((key) => {
      const kv = now.get(key);
      if (kv === undefined) return filter === 'nodelete' ? [] : [`del ${key}@${revision}`];
      if (old.get(key)?.modRevision === kv.modRevision || filter === 'noput') return [];
      return [briefBackend({ type: 'put', kv })];
    });
  }

  /** Only who is behind is ended, or who asked for a start that is not legal; with the smallest that is. */
  #checkCompacted(error: CompactedError): void {
    if (!this.#isComparable()) return;
    const { store, holes } = this.#world;
    const { compactRevision } = store;
    const start = this.#covered + 1;
    const isInHole = holes.some((hole) => hole.after + 1 < start && start <= hole.revision);
    const isBelow = start <= compactRevision;
    if (!isInHole && !isBelow) this.#world.differs(`a watch at ${start} was ended: ${error.message}`);
    if (error.minRevision <= start) this.#world.differs(`the legal start ${error.minRevision} is not above ${start}`);
    // Idle watchers know everything: only something undelivered may have been compacted.
    const isIdle = !this.#isFirst && this.#matching(start, compactRevision).length === 0;
    const isSwallowed = holes.some((hole) => hole.after < compactRevision && start <= hole.revision);
    if (isIdle && !isSwallowed) this.#world.differs(`an idle watch at ${start} was ended: ${error.message}`);
  }
}

function keyOf(event: BackendEvent): Uint8Array {
  return event.type === 'put' ? event.kv.key : event.key;
}

function briefBackend(event: BackendEvent): string {
  if (event.type === 'delete') return `del ${decoder.decode(event.key)}@${event.modRevision}`;
  const { key, value, createRevision, modRevision, version } = event.kv;
  return `put ${decoder.decode(key)}=${decoder.decode(value)}@${createRevision}/${modRevision}/${version}`;
}

function briefEvent(event: WatchEvent<string>): string {
  if (event.type === 'delete') return `del ${event.kv.key}@${event.kv.modRevision}`;
  const { key, value, createRevision, modRevision, version } = event.kv;
  return `put ${key}=${value}@${createRevision}/${modRevision}/${version}`;
}
