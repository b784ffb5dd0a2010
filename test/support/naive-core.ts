import type { FilterCode } from '../../src/core/core.ts';
import type { ByteRange } from '../../src/types/backend.ts';

/**
 * The oracle of `Core`: the same questions answered by filtering plain arrays. It has no index, no search and no steps;
 * compaction follows the keep-rule (store:R23) from its words, not from a walk over the log. Slots and key ids are never
 * reused, so the test maps them to those of the core.
 */
export interface NaiveVersion {
  readonly slot: number;
  readonly keyId: number;
  readonly commit: number;
  readonly mod: number;
  readonly create: number;
  readonly version: number;
  readonly lease: number;
  readonly tombstone: boolean;
}

export class NaiveCore {
  /** Stored versions in append order, of all keys. */
  versions: NaiveVersion[] = [];
  /** Slots of the versions in the log are those with commit >= this. */
  compactRevision = 0;
  readonly keys: Map<number, Uint8Array> = new Map();
  readonly #ids = new Map<string, number>();
  #nextKey = 0;
  #nextSlot = 0;

  internKey(key: Uint8Array): number {
    const known = this.findKey(key);
    if (known >= 0) return known;
    this.keys.set(this.#nextKey, key.slice());
    this.#ids.set(name(key), this.#nextKey);
    return this.#nextKey++;
  }

  findKey(key: Uint8Array): number {
    return this.#ids.get(name(key)) ?? -1;
  }

  append(version: Omit<NaiveVersion, 'slot'>): number {
    this.versions.push({ ...version, slot: this.#nextSlot });
    return this.#nextSlot++;
  }

  /** Newest version of the key at the revision, `undefined` for none; may be a tombstone. */
  at(keyId: number, revision: number): NaiveVersion | undefined {
    return this.versions.findLast((version) => version.keyId === keyId && version.commit <= revision);
  }

  range(range: ByteRange, revision: number, limit: number): number[] {
    const newest = new Map<number, NaiveVersion>();
    for (const version of this.versions) if (version.commit <= revision) newest.set(version.keyId, version);
    const slots = [...newest.values()]
      .filter(({ keyId, tombstone }) => !tombstone && isInRange(this.#bytes(keyId), range))
      .sort((left, right) => compareBytes(this.#bytes(left.keyId), this.#bytes(right.keyId)))
      .map(({ slot }) => slot);
    return limit === 0 ? slots : slots.slice(0, limit);
  }

  log(): NaiveVersion[] {
    return this.versions.filter(({ commit }) => commit >= this.compactRevision);
  }

  matching(range: ByteRange, fromRevision: number, filter: FilterCode): NaiveVersion[] {
    return this.log().filter(
      ({ keyId, commit, tombstone }) =>
        commit >= fromRevision && filter !== (tombstone ? 2 : 1) && isInRange(this.#bytes(keyId), range),
    );
  }

  nextCommit(range: ByteRange, fromRevision: number, filter: FilterCode): number {
    return this.matching(range, fromRevision, filter)[0]?.commit ?? 0;
  }

  eventsAt(range: ByteRange, commit: number, filter: FilterCode): number[] {
    const events = this.matching(range, commit, filter).filter((version) => version.commit === commit);
    return events.map(({ slot }) => slot);
  }

  replay(range: ByteRange, fromRevision: number, filter: FilterCode, maxEvents: number): number[] {
    const events = this.matching(range, fromRevision, filter);
    const last = events[Math.max(1, maxEvents) - 1]?.commit ?? Number.POSITIVE_INFINITY;
    return events.filter(({ commit }) => commit <= last).map(({ slot }) => slot);
  }

  /** All of the compaction at once. Returns the slots freed and the keys dropped. */
  compact(revision: number): { freedSlots: Set<number>; droppedKeys: Set<number> } {
    const last = new Map<number, NaiveVersion>();
    for (const version of this.versions) if (version.commit <= revision) last.set(version.keyId, version);
    const isKept = (version: NaiveVersion): boolean =>
      version.commit >= revision || (last.get(version.keyId) === version && !version.tombstone);
    const freed = this.versions.filter((version) => !isKept(version));
    this.versions = this.versions.filter(isKept);
    this.compactRevision = revision;
    const left = new Set(this.versions.map(({ keyId }) => keyId));
    const droppedKeys = new Set(freed.map(({ keyId }) => keyId).filter((keyId) => !left.has(keyId)));
    for (const keyId of droppedKeys) {
      this.#ids.delete(name(this.#bytes(keyId)));
      this.keys.delete(keyId);
    }
    return { freedSlots: new Set(freed.map(({ slot }) => slot)), droppedKeys };
  }

  #bytes(keyId: number): Uint8Array {
    return this.keys.get(keyId) ?? new Uint8Array();
  }
}

/** One character for each byte: equal exactly when the bytes are. */
function name(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1');
}

export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}

export function isInRange(key: Uint8Array, range: ByteRange): boolean {
  if (range.end === undefined) return compareBytes(key, range.start) === 0;
  return compareBytes(key, range.start) >= 0 && (range.end.length === 0 || compareBytes(key, range.end) < 0);
}
