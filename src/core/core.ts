import type { ByteRange } from '../types/backend.ts';
import { InvariantError, StoreFullError } from '../types/errors.ts';
import { invariant } from '../types/invariant.ts';
import type { KeyLogExports } from './abi.ts';
import { STATUS_FULL, STATUS_INVALID, STATUS_NOT_FOUND, STATUS_OK, U32_MAX } from './abi.ts';
import { CoreInstance, type CoreOptions } from './instance.ts';
import { KeyWriter } from './key-writer.ts';

/** Which events a walk of the log leaves out, as the core has it: 0 none, 1 puts, 2 deletes. */
export type FilterCode = 0 | 1 | 2;

/** What `reserve` makes room for. */
export interface CoreNeed {
  readonly events: number;
  /** At most so many keys of the commit are new. */
  readonly newKeys: number;
  /** Their bytes in all. */
  readonly newKeyBytes: number;
  /** Length of the longest of them; saying it makes the bound of a bulk load tight. @default newKeyBytes */
  readonly longestKeyBytes?: number;
}

/** What `reserveExact` makes room for: appends whose mod and create are less than 2^32 - 2 below their commit. */
export interface ExactNeed {
  /** Keys that are there, all of them different. */
  readonly keyIds: readonly number[];
  /** Keys that are new, all of them different. */
  readonly newKeys: readonly (string | Uint8Array)[];
  readonly longestKeyBytes: number;
  /** Deletes of any keys after them, once the history of those is compacted. */
  readonly deletesAhead: number;
}

/** What one step of compaction did. The arrays are views, valid until the next call of the core. */
export interface CompactStep {
  /** Slots whose values can be dropped: each is reported once, and may be given out again by the next `append`. */
  readonly freedSlots: Uint32Array;
  /** Key ids that name nothing any more, and may be given out again by the next `internKey`. */
  readonly droppedKeys: Uint32Array;
  /** What was done, in log entries; a key that goes counts as 16 more. */
  readonly work: number;
  /** Nothing is left to do for this revision. */
  readonly done: boolean;
}

/** What the core's memory is used for, in bytes: an account of all that is claimed (`assembly/account.ts`). */
export interface CoreMemory {
  /** Static data. */
  readonly fixed: number;
  /** Pages of the key index. */
  readonly index: number;
  /** Pages of the revision log. */
  readonly log: number;
  /** Pages that either may take. */
  readonly freePages: number;
  /** Key bytes, separators, vectors of versions, directories. */
  readonly blocks: number;
  /** Room for more of them. */
  readonly freeBlocks: number;
  /** Records of versions and of keys, free ones included. */
  readonly tables: number;
  /** The input region and what reads have set aside. */
  readonly scratch: number;
}

export interface CoreStats {
  readonly keys: number;
  readonly liveKeys: number;
  readonly versions: number;
  readonly logEntries: number;
  /** Size of the linear memory, which never shrinks. */
  readonly memoryBytes: number;
  /** What of it has been handed out to structures, free ones included. */
  readonly claimedBytes: number;
  /** The same by what it is for; the parts add up to it. */
  readonly memory: CoreMemory;
}

/**
 * Keys, their versions and the revision log, in one WebAssembly instance.
 *
 * ```text
 *   key bytes --internKey--> key id --append--> slot       the caller keeps values in an array by slot
 *   range at R --range--> slots        log from R --nextCommit, eventsAt, replay--> slots
 *   compactStep(C) --> slots freed, key ids dropped
 * ```
 *
 * It knows numbers and bytes only: no values, no legality of revisions, no time. Reads below the revision it was
 * compacted to answer whatever is left; the store above refuses them. A failed `append` or `internKey` changes nothing.
 * Returned arrays may be views on the core's memory, valid until the next call. Reads need no memory of the core: what
 * does not fit into its output region is fetched in pages and put together here.
 *
 * ```text
 *   range ------> 4096 slots     a view when that is not full        rangeMore -> 4096 ...  rangeMore -> 17     a copy
 * ```
 */
export class Core {
  readonly #instance: CoreInstance;
  readonly #exports: KeyLogExports;
  readonly #keys: KeyWriter;

  constructor(module: WebAssembly.Module, options: CoreOptions = {}) {
    this.#instance = new CoreInstance(module, options);
    this.#exports = this.#instance.exports;
    this.#keys = new KeyWriter(this.#instance);
  }

  /**
   * Makes room: afterwards the next `events` appends, with at most `newKeys` new keys among them, cannot fail, whatever
   * is read in between. Holds until the next `reserve`. Throws `StoreFullError`, with nothing changed.
   */
  reserve(action: string, need: CoreNeed): void {
    const { events, newKeys, newKeyBytes, longestKeyBytes = newKeyBytes } = need;
    this.#keys.reserve(longestKeyBytes, action);
    const isCountable = events <= U32_MAX && newKeys <= U32_MAX && newKeyBytes <= U32_MAX;
    if (!isCountable || this.#exports.reserve(events, newKeys, newKeyBytes, longestKeyBytes) !== STATUS_OK) {
      throw new StoreFullError(action, this.#instance.memoryBytesMax);
    }
  }

  /**
   * The same for one append for each of these keys, and takes as little as it can: when `reserve` has refused, so that in a
   * full store what was deleted is room for something else. At most a page of keys (4096). Throws `StoreFullError`.
   */
  reserveExact(action: string, { keyIds, newKeys, longestKeyBytes, deletesAhead }: ExactNeed): void {
    this.#keys.reserve(longestKeyBytes, action);
    if (keyIds.length <= this.#instance.exports.outputWords()) {
      const [key] = newKeys;
      // How much a key needs in the index depends on where it comes to stand; of many, a bound will do.
      if (key !== undefined && newKeys.length === 1) this.#keys.write(key, action);
      this.#instance.output(keyIds.length).set(keyIds);
      const { pointer } = this.#keys;
      const { length } = newKeys;
      const status = this.#exports.reserveExact(pointer, longestKeyBytes, keyIds.length, length, deletesAhead);
      if (status === STATUS_OK) return;
    }
    throw new StoreFullError(action, this.#instance.memoryBytesMax);
  }

  /** Id of a key, made when absent. A new key has no versions; only an `append` makes it one that compaction can drop. */
  internKey(key: string | Uint8Array): number {
    const length = this.#keys.writeNew(key, 'store a key');
    return this.#slotOrFull(this.#exports.internKey(this.#keys.pointer, length), 'store a key');
  }

  /**
   * Id of a key, -1 when it is not in the index. Keys whose history is not compacted away yet are. The store has its own
   * map of ids; this is how tests look into the index.
   */
  findKey(key: string | Uint8Array): number {
    const length = this.#keys.write(key, 'look up a key');
    return this.#exports.findKey(this.#keys.pointer, length);
  }

  /** A copy of the key's bytes, as the index has them; for tests. */
  keyBytes(keyId: number): Uint8Array {
    const pointer = this.#exports.keyPointer(keyId);
    invariant(pointer !== 0, `no key has the id ${keyId}`);
    return this.#instance.bytes().slice(pointer, pointer + this.#exports.keyLength(keyId));
  }

  /**
   * Adds a put or a tombstone as the key's newest version and at the end of the log; returns its slot. `commit` is the
   * revision at which this store applied it and never decreases; `mod` differs from it after a relist (M10).
   */
  append(
    keyId: number,
    commit: number,
    mod: number,
    create: number,
    version: number,
    lease: number,
    tombstone: boolean,
  ): number {
    const slot = this.#exports.append(keyId, commit, mod, create, version, lease, tombstone ? 1 : 0);
    return slot >= 0 ? slot : this.#slotOrFull(slot, `append revision ${commit} to key ${keyId}`);
  }

  /** Slot of the newest version, which may be a tombstone; -1 for a key without versions. */
  headSlot(keyId: number): number {
    const slot = this.#exports.headSlot(keyId);
    return slot >= STATUS_NOT_FOUND ? slot : this.#slotOrFull(slot, `read key ${keyId}`);
  }

  /** Slot of the newest version with commit <= `revision`, which may be a tombstone; -1 when there is none. */
  slotAt(keyId: number, revision: number): number {
    const slot = this.#exports.slotAt(keyId, revision);
    return slot >= STATUS_NOT_FOUND ? slot : this.#slotOrFull(slot, `read key ${keyId}`);
  }

  commitRevision(slot: number): number {
    return this.#known(this.#exports.commitRevision(slot), slot);
  }

  modRevision(slot: number): number {
    return this.#known(this.#exports.modRevision(slot), slot);
  }

  createRevision(slot: number): number {
    return this.#known(this.#exports.createRevision(slot), slot);
  }

  version(slot: number): number {
    return this.#known(this.#exports.versionNumber(slot), slot);
  }

  /** What `append` was given. The store keeps lease ids, which need 64 bits, beside the core and passes 0; for tests. */
  leaseTag(slot: number): number {
    return this.#known(this.#exports.leaseTag(slot), slot);
  }

  keyOf(slot: number): number {
    return this.#known(this.#exports.keyOfVersion(slot), slot);
  }

  isTombstone(slot: number): boolean {
    return this.#known(this.#exports.tombstoneFlag(slot), slot) === 1;
  }

  /** Live slots of the range at `revision` (`Infinity`, or anything from the last commit on: newest) in key order. */
  range(range: ByteRange, revision: number, limit: number): Uint32Array {
    const length = this.#keys.writeRange(range, 'list a range');
    const { pointer, endLength } = this.#keys;
    const count = this.#exports.range(pointer, length, endLength, revision, Math.min(limit, U32_MAX));
    return this.#instance.pages(count, () => this.#exports.rangeMore());
  }

  /** Number of live keys of the range at `revision`: O(log n) at the newest, else one lookup for each key. */
  count(range: ByteRange, revision: number): number {
    const length = this.#keys.writeRange(range, 'count a range');
    return this.#exports.count(this.#keys.pointer, length, this.#keys.endLength, revision);
  }

  /** Smallest commit >= `fromRevision` with an event that the filter lets pass; 0 when there is none. */
  nextCommit(range: ByteRange, fromRevision: number, filter: FilterCode): number {
    const length = this.#keys.writeRange(range, 'find the next event');
    return this.#exports.nextCommit(this.#keys.pointer, length, this.#keys.endLength, fromRevision, filter);
  }

  /** Matching slots of exactly that commit, in append order. */
  eventsAt(range: ByteRange, commit: number, filter: FilterCode): Uint32Array {
    const length = this.#keys.writeRange(range, 'read the events of a revision');
    const count = this.#exports.eventsAt(this.#keys.pointer, length, this.#keys.endLength, commit, filter);
    return this.#instance.pages(count, () => this.#exports.eventsMore());
  }

  /**
   * Matching slots from `fromRevision` on in append order: whole commits, ending with the one in which `maxEvents` is
   * reached (at least one commit).
   */
  replay(range: ByteRange, fromRevision: number, filter: FilterCode, maxEvents: number): Uint32Array {
    const length = this.#keys.writeRange(range, 'replay events');
    const { pointer, endLength } = this.#keys;
    const most = Math.min(maxEvents, U32_MAX);
    const count = this.#exports.replay(pointer, length, endLength, fromRevision, filter, most);
    return this.#instance.pages(count, () => this.#exports.replayMore());
  }

  /** Number of log entries with commit >= `fromRevision`. */
  entriesFrom(fromRevision: number): number {
    return this.#exports.entriesFrom(fromRevision);
  }

  /** Commit of the n-th newest log entry (1 = newest); 0 when there are fewer. */
  commitFromEnd(entries: number): number {
    return this.#exports.commitFromEnd(Math.min(entries, U32_MAX));
  }

  get logEntries(): number {
    return this.#exports.logLength();
  }

  /** Commit of the oldest log entry, 0 when the log is empty; for tests. */
  get firstCommit(): number {
    return this.#exports.firstCommit();
  }

  /** Commit of the newest log entry, 0 when the log is empty; for tests. */
  get lastCommit(): number {
    return this.#exports.lastCommit();
  }

  /**
   * One step of the physical compaction to `compactRevision` (never lower than before), of at most `budget` log entries
   * (fewer when keys go, which count as more, or more could not be reported; never none). Call it until `done`; a step does
   * not change what is read at or above it.
   */
  compactStep(compactRevision: number, budget: number): CompactStep {
    const status = this.#exports.compactStep(compactRevision, Math.min(budget, U32_MAX));
    invariant(status === STATUS_OK, `compaction to ${compactRevision} after one to a later revision`);
    const [freed = 0, dropped = 0, done = 0, keysFrom = 0, work = 0] = this.#instance.output(STEP_HEADER_WORDS);
    const words = this.#instance.output(keysFrom + dropped);
    return {
      freedSlots: words.subarray(STEP_HEADER_WORDS, STEP_HEADER_WORDS + freed),
      droppedKeys: words.subarray(keysFrom, keysFrom + dropped),
      work,
      done: done === 1,
    };
  }

  stats(): CoreStats {
    return {
      keys: this.#exports.keyCount(),
      liveKeys: this.#exports.liveKeyCount(),
      versions: this.#exports.versionCount(),
      logEntries: this.#exports.logLength(),
      memoryBytes: this.#instance.exports.memory.buffer.byteLength,
      claimedBytes: this.#instance.exports.claimedBytes(),
      memory: this.#memory(),
    };
  }

  #memory(): CoreMemory {
    const part = (index: number): number => this.#instance.exports.memoryPart(index);
    return {
      fixed: part(0),
      index: part(1),
      log: part(2),
      freePages: part(3),
      blocks: part(4),
      freeBlocks: part(5),
      tables: part(6),
      scratch: part(7),
    };
  }

  /** Checks every structure in full; for tests. Throws `InvariantError` with the number in `assembly/verify.ts`. */
  verify(): void {
    const statement = this.#exports.verify();
    invariant(statement === 0, `statement ${statement} of the core does not hold`);
  }

  /** A slot or id as it is; Full and Invalid as the errors they stand for. */
  #slotOrFull(result: number, action: string): number {
    if (result >= 0) return result;
    if (result === STATUS_FULL) throw new StoreFullError(action, this.#instance.memoryBytesMax);
    const reason = result === STATUS_INVALID ? 'no such key, or a revision that goes backwards' : `status ${result}`;
    throw new InvariantError(`the core cannot ${action}: ${reason}`);
  }

  /** The getters answer NaN or -1 for a slot that holds no version. */
  #known(value: number, slot: number): number {
    if (value >= 0) return value;
    throw new InvariantError(`no version has the slot ${slot}`);
  }
}

/** Words in front of what a step of compaction reports. */
const STEP_HEADER_WORDS = 5;
