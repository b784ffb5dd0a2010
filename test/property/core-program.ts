import { Core, type FilterCode } from '../../src/core/core.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import type { ByteRange } from '../../src/types/backend.ts';
import { compareBytes, NaiveCore, type NaiveVersion } from '../support/naive-core.ts';

/**
 * One random program, run on `Core` and on the oracle with every answer compared. Programs differ in shape: which keys
 * they use, how often they delete, how many events share a commit, how far commits jump, how eagerly they compact.
 */
export interface ProgramShape {
  readonly seed: number;
  readonly steps: number;
  readonly keySpace: number;
}

export class CoreProgram {
  readonly #core: Core;
  readonly #naive = new NaiveCore();
  readonly #random: () => number;
  readonly #keys: readonly Uint8Array[];
  readonly #deletes: number;
  readonly #jump: number;
  readonly #compactions: number;
  /** Slots and key ids of the core as those of the oracle. */
  readonly #slots = new Map<number, number>();
  readonly #keyIds = new Map<number, number>();
  /** What the core has freed and dropped in the compaction that is under way. */
  #freed = new Set<number>();
  #dropped = new Set<number>();
  #target = 0;
  #isDone = true;
  #commit = 0;
  #steps: number;

  constructor(module: WebAssembly.Module, shape: ProgramShape) {
    this.#core = new Core(module);
    this.#random = createSeededRandom(shape.seed);
    this.#keys = keySpace(this.#random, shape.keySpace);
    this.#deletes = [0.05, 0.3, 0.6][this.#below(3)] ?? 0;
    this.#jump = [1, 3, 2 ** 33][this.#below(3)] ?? 1;
    this.#compactions = [0.01, 0.05, 0.2][this.#below(3)] ?? 0;
    this.#steps = shape.steps;
  }

  run(): void {
    for (; this.#steps > 0; this.#steps--) {
      const dice = this.#random();
      if (dice < 0.5) this.#write();
      else if (dice < 0.5 + this.#compactions) this.#compact();
      else if (dice > 0.98) this.#sweep();
      else this.#compare();
      if (this.#random() < 0.1) this.#core.verify();
    }
    for (let check = 0; check < 8; check++) this.#compare();
    this.#core.verify();
  }

  /** One commit that writes or deletes most keys: only so do trees grow and shrink by levels. */
  #sweep(): void {
    this.#commit++;
    const isDrain = this.#random() < 0.5;
    for (const key of this.#keys) {
      if (this.#random() < 0.05) continue;
      if (!isDrain) this.#append(key);
      else if (this.#naive.findKey(key) >= 0) this.#append(key, 1);
    }
    if (!isDrain) return;
    this.#target = this.#commit + 1;
    do this.#step();
    while (!this.#isDone);
  }

  #write(): void {
    this.#commit += 1 + (this.#random() < 0.1 ? this.#below(this.#jump) : 0);
    const events = this.#random() < 0.8 ? 1 : 1 + this.#below(12);
    for (let event = 0; event < events; event++) this.#append(this.#key());
  }

  #append(key: Uint8Array, deletes: number = this.#deletes): void {
    const keyId = this.#naive.internKey(key);
    const coreKey = this.#core.internKey(key);
    // Whatever is asked between the two calls must not lead the append astray.
    if (this.#random() < 0.1) this.#core.count(this.#range(), Number.POSITIVE_INFINITY);
    this.#keyIds.set(keyId, coreKey);
    same('keyBytes', compareBytes(this.#core.keyBytes(coreKey), key), 0);
    const before = this.#naive.at(keyId, this.#commit);
    const tombstone = before !== undefined && !before.tombstone && this.#random() < deletes;
    const mod = this.#commit - (this.#random() < 0.2 ? this.#below(Math.min(this.#commit, this.#jump)) : 0);
    const create = tombstone ? 0 : before === undefined || before.tombstone ? mod : Math.min(mod, before.create);
    const version = tombstone ? 0 : this.#below(2) === 0 ? 1 : 0xffffffff;
    const lease = this.#random() < 0.8 ? 0 : this.#below(0x100000000);
    const commit = this.#commit;
    const slot = this.#naive.append({ keyId, commit, mod, create, version, lease, tombstone });
    const coreSlot = this.#core.append(coreKey, commit, mod, create, version, lease, tombstone);
    if (this.#slots.has(coreSlot)) throw new Error(`slot ${coreSlot} was given out twice`);
    this.#slots.set(coreSlot, slot);
    same('headSlot', this.#core.headSlot(coreKey), coreSlot);
  }

  #compact(): void {
    if (this.#isDone || this.#random() < 0.2) {
      this.#target = Math.max(this.#target, this.#someRevision());
    }
    this.#step();
  }

  #step(): void {
    const step = this.#core.compactStep(this.#target, 1 + this.#below(this.#random() < 0.7 ? 10 : 1000));
    for (const coreSlot of step.freedSlots) {
      const slot = this.#slots.get(coreSlot);
      if (slot === undefined || this.#freed.has(slot)) throw new Error(`slot ${coreSlot} was freed twice`);
      this.#slots.delete(coreSlot);
      this.#freed.add(slot);
    }
    for (const coreKey of step.droppedKeys) {
      const entry = [...this.#keyIds].find(([, id]) => id === coreKey);
      if (entry === undefined) throw new Error(`key ${coreKey} was dropped twice`);
      this.#keyIds.delete(entry[0]);
      this.#dropped.add(entry[0]);
    }
    this.#isDone = step.done;
    if (step.done) this.#compareCompaction();
  }

  /** At the end of a compaction: exactly what the keep-rule says has gone. */
  #compareCompaction(): void {
    const { freedSlots, droppedKeys } = this.#naive.compact(this.#target);
    same('freed slots', sorted(this.#freed), sorted(freedSlots));
    // A key dropped by an early step and written again before the last one has a new id in the core only.
    const gone = [...this.#dropped].filter((keyId) => !this.#keyIds.has(keyId));
    same('dropped keys', sorted(gone), sorted(droppedKeys));
    this.#freed = new Set();
    this.#dropped = new Set();
    this.#core.verify();
  }

  /** One question of each kind. While a compaction is under way only revisions from its target on are asked for. */
  #compare(): void {
    const range = this.#range();
    const revision = this.#random() < 0.3 ? Number.POSITIVE_INFINITY : this.#someRevision();
    const limit = this.#random() < 0.6 ? 0 : this.#below(20);
    this.#sameSlots('range', this.#core.range(range, revision, limit), this.#naive.range(range, revision, limit));
    same('count', this.#core.count(range, revision), this.#naive.range(range, revision, 0).length);
    const from = this.#someRevision();
    const filter = this.#below(3) as FilterCode;
    const next = this.#core.nextCommit(range, from, filter);
    same('nextCommit', next, this.#naive.nextCommit(range, from, filter));
    const commit = next > 0 && this.#random() < 0.8 ? next : from;
    this.#sameSlots(
      'eventsAt',
      this.#core.eventsAt(range, commit, filter),
      this.#naive.eventsAt(range, commit, filter),
    );
    const most = this.#below(30);
    this.#sameSlots(
      'replay',
      this.#core.replay(range, from, filter, most),
      this.#naive.replay(range, from, filter, most),
    );
    this.#compareLog(from);
    this.#compareKey(this.#key(), this.#random() < 0.3 ? Number.POSITIVE_INFINITY : this.#someRevision());
    this.#compareVersion();
    if (this.#isDone) this.#compareStats();
  }

  #compareLog(from: number): void {
    const log = this.#naive.log();
    const later = log.filter(({ commit }) => commit >= from).length;
    same('entriesFrom', this.#core.entriesFrom(from), later);
    const entries = this.#below(later + 1);
    same('commitFromEnd', this.#core.commitFromEnd(entries), entries === 0 ? 0 : (log.at(-entries)?.commit ?? 0));
  }

  #compareKey(key: Uint8Array, revision: number): void {
    const keyId = this.#naive.findKey(key);
    const coreKey = this.#core.findKey(key);
    const expected = keyId < 0 ? undefined : this.#naive.at(keyId, revision);
    if (this.#isDone) same('findKey', coreKey, keyId < 0 ? -1 : this.#keyIds.get(keyId));
    const slot = coreKey < 0 ? -1 : this.#core.slotAt(coreKey, revision);
    // In mid-compaction a tombstone below the target may be gone or not; both say that the key does not exist.
    const isPut = slot >= 0 && !this.#core.isTombstone(slot);
    same('slotAt', isPut ? this.#slots.get(slot) : -1, expected?.tombstone === false ? expected.slot : -1);
    if (this.#isDone) same('slotAt', slot < 0 ? -1 : this.#slots.get(slot), expected?.slot ?? -1);
  }

  #compareVersion(): void {
    const entries = [...this.#slots];
    const entry = entries[this.#below(entries.length)];
    if (entry === undefined) return;
    const [slot, naiveSlot] = entry;
    const version = this.#naive.versions.find((candidate) => candidate.slot === naiveSlot);
    if (version === undefined) throw new Error(`slot ${slot} outlived its version`);
    const expected: NaiveVersion = { ...version, keyId: this.#keyIds.get(version.keyId) ?? -1 };
    const actual: NaiveVersion = {
      slot: naiveSlot,
      keyId: this.#core.keyOf(slot),
      commit: this.#core.commitRevision(slot),
      mod: this.#core.modRevision(slot),
      create: this.#core.createRevision(slot),
      version: this.#core.version(slot),
      lease: this.#core.leaseTag(slot),
      tombstone: this.#core.isTombstone(slot),
    };
    for (const field of Object.keys(expected) as (keyof NaiveVersion)[]) same(field, actual[field], expected[field]);
  }

  #compareStats(): void {
    const stats = this.#core.stats();
    const log = this.#naive.log();
    same('keys', stats.keys, this.#naive.keys.size);
    same('liveKeys', stats.liveKeys, this.#naive.range(EVERYTHING, Number.POSITIVE_INFINITY, 0).length);
    same('versions', stats.versions, this.#naive.versions.length);
    same('logEntries', this.#core.logEntries, log.length);
    same('firstCommit', this.#core.firstCommit, log[0]?.commit ?? 0);
    same('lastCommit', this.#core.lastCommit, log.at(-1)?.commit ?? 0);
  }

  #sameSlots(method: string, slots: Uint32Array, expected: readonly number[]): void {
    same(method, [...slots].map((slot) => this.#slots.get(slot)).join(), expected.join());
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #key(): Uint8Array {
    return this.#keys[this.#below(this.#keys.length)] ?? new Uint8Array([1]);
  }

  /** A revision at or above the compaction's target, mostly one that exists. */
  #someRevision(): number {
    const commits = this.#naive.versions;
    const revision = (commits[this.#below(commits.length)]?.commit ?? 0) + this.#below(3) - 1;
    return Math.max(revision, this.#target);
  }

  #range(): ByteRange {
    const [start, end, dice] = [this.#key(), this.#key(), this.#random()];
    if (dice < 0.15) return { start };
    if (dice < 0.25) return EVERYTHING;
    if (dice < 0.4) return { start, end: new Uint8Array() };
    if (dice < 0.6) return { start, end };
    const prefix = start.subarray(0, 1 + this.#below(start.length));
    return { start: prefix, end: prefixEnd(prefix) };
  }
}

const EVERYTHING: ByteRange = { start: new Uint8Array(), end: new Uint8Array() };

/** The end of a prefix range (store:R7). */
export function prefixEnd(prefix: Uint8Array): Uint8Array {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  const end = prefix.slice(0, length);
  if (length > 0) end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}

/** Keys of one character: paths, few bytes with zeros and 0xff, one long common head, very long ones. */
function keySpace(random: () => number, size: number): readonly Uint8Array[] {
  const below = (count: number): number => Math.floor(random() * count);
  const kind = below(5);
  const encoder = new TextEncoder();
  const edge = [0x00, 0x01, 0x61, 0xfe, 0xff];
  return Array.from({ length: size }, () => {
    if (kind === 0)
      return encoder.encode(`/registry/${['pods', 'services'][below(2)]}/ns-${below(4)}/app-${below(size)}`);
    if (kind === 1) return Uint8Array.from({ length: 1 + below(6) }, () => edge[below(edge.length)] ?? 0);
    if (kind === 2) return encoder.encode(`${'x'.repeat(8 * below(4))}${below(size)}`);
    if (kind === 3) return encoder.encode('abc'.repeat(1 + below(size)));
    return encoder.encode(`${'long/'.repeat(below(2) * 800)}${'z'.repeat(below(3))}${below(size)}`);
  });
}

function sorted(numbers: Iterable<number>): string {
  return [...numbers].sort((left, right) => left - right).join();
}

function same(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: got ${String(actual)}, expected ${String(expected)}`);
}
