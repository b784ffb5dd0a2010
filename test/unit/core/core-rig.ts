import { Core, type FilterCode } from '../../../src/core/core.ts';
import type { CoreOptions } from '../../../src/core/instance.ts';
import { coreModule } from '../../../src/core/module.ts';
import type { ByteRange } from '../../../src/types/backend.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** `[start, end)`; `end` undefined is the point, `''` no upper bound. */
export function between(start: string, end?: string): ByteRange {
  return end === undefined ? { start: bytes(start) } : { start: bytes(start), end: bytes(end) };
}

export const EVERYTHING: ByteRange = between('', '');

/** A core that is talked to in keys and revisions: writes as a store would, answers as text. */
export class CoreRig {
  readonly core: Core;

  constructor(options: CoreOptions = {}) {
    this.core = new Core(coreModule(), options);
  }

  put(key: string, commit: number, mod: number = commit): number {
    const keyId = this.core.internKey(key);
    const head = this.core.headSlot(keyId);
    const isNew = head < 0 || this.core.isTombstone(head);
    const create = isNew ? mod : this.core.createRevision(head);
    return this.core.append(keyId, commit, mod, create, isNew ? 1 : this.core.version(head) + 1, 0, false);
  }

  delete(key: string, commit: number): number {
    return this.core.append(this.core.internKey(key), commit, commit, 0, 0, 0, true);
  }

  /** `2 4 6t`: puts as numbers, tombstones with a t. */
  write(key: string, history: string): void {
    for (const word of history.split(' ')) {
      if (word.endsWith('t')) this.delete(key, Number(word.slice(0, -1)));
      else this.put(key, Number(word));
    }
  }

  /** The key's state as `[create, mod, version]`, undefined when it does not exist at the revision. */
  get(key: string, revision: number): readonly number[] | undefined {
    const keyId = this.core.findKey(key);
    const slot = keyId < 0 ? -1 : this.core.slotAt(keyId, revision);
    if (slot < 0 || this.core.isTombstone(slot)) return undefined;
    return [this.core.createRevision(slot), this.core.modRevision(slot), this.core.version(slot)];
  }

  /** `key@mod` of the live keys. */
  list(range: ByteRange, revision: number = Number.POSITIVE_INFINITY, limit = 0): string {
    return [...this.core.range(range, revision, limit)]
      .map((slot) => `${this.key(slot)}@${this.core.modRevision(slot)}`)
      .join(' ');
  }

  /** The log from a revision on, in the notation of `write`, of all keys. */
  events(fromRevision: number, range: ByteRange = EVERYTHING, filter: FilterCode = 0): string {
    return this.words(this.core.replay(range, fromRevision, filter, Number.POSITIVE_INFINITY));
  }

  words(slots: Uint32Array): string {
    return [...slots]
      .map((slot) => `${this.core.commitRevision(slot)}${this.core.isTombstone(slot) ? 't' : ''}`)
      .join(' ');
  }

  /** Every stored version of a key, oldest first: read from above, one revision at a time. */
  stored(key: string, last: number): string {
    const keyId = this.core.findKey(key);
    const words: string[] = [];
    for (let revision = last; keyId >= 0 && revision > 0; revision--) {
      const slot = this.core.slotAt(keyId, revision);
      if (slot < 0) break;
      words.unshift(`${this.core.commitRevision(slot)}${this.core.isTombstone(slot) ? 't' : ''}`);
      revision = this.core.commitRevision(slot);
    }
    return words.join(' ');
  }

  /** Compacts to the end, `budget` entries a step; the slots and key ids reported, in order. */
  compact(revision: number, budget = 1000): { freed: number[]; dropped: number[] } {
    const freed: number[] = [];
    const dropped: number[] = [];
    for (;;) {
      const step = this.core.compactStep(revision, budget);
      freed.push(...step.freedSlots);
      dropped.push(...step.droppedKeys);
      if (step.done) return { freed, dropped };
    }
  }

  key(slot: number): string {
    return decoder.decode(this.core.keyBytes(this.core.keyOf(slot)));
  }
}
