import { describe, expect, it } from 'vitest';
import { Core } from '../../src/core/core.ts';
import { coreModule } from '../../src/core/module.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { StoreFullError } from '../../src/types/errors.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';

/** Keys that are written again and again. */
const HOT = ['hot0', 'hot1', 'hot2'];

/**
 * Commits of every size on a core that is nearly always full. The promise under test: what `reserve` lets pass cannot
 * fail, whatever is read before the appends; and a refusal changes nothing that can be seen.
 */
class FullCoreProgram {
  readonly #core: Core;
  readonly #random: () => number;
  readonly #keys: string[] = [];
  readonly #hot: number;
  readonly #keyBytesMax: number;
  #commit = 2 ** 33;
  #compacted = 0;
  refused = 0;
  exact = 0;

  constructor(seed: number) {
    this.#random = createSeededRandom(seed);
    this.#core = new Core(coreModule(), { memoryBytesMax: 200_000 + this.#below(300_000) });
    this.#hot = this.#random();
    this.#keyBytesMax = [12, 60, 600, 3000][this.#below(4)] ?? 12;
  }

  run(commits: number): void {
    for (let index = 0; index < commits; index++) {
      this.#write();
      if (this.#random() < 0.1) this.#trim();
      if (index % 32 === 0) this.#core.verify();
    }
    this.#core.verify();
  }

  #write(): void {
    const events = this.#random() < 0.1 ? 1 + this.#below(2000) : 1 + this.#below(this.#random() < 0.5 ? 3 : 128);
    const keys = Array.from({ length: events }, () => this.#key());
    const fresh = [...new Set(keys)].filter((key) => this.#core.findKey(key) < 0);
    const longestKeyBytes = Math.max(0, ...fresh.map((key) => key.length));
    const newKeyBytes = fresh.reduce((sum, key) => sum + key.length, 0);
    const before = this.#core.stats();
    const known = keys.map((key) => this.#core.findKey(key)).filter((keyId) => keyId >= 0);
    const deletesAhead = this.#below(8);
    let isExact = false;
    try {
      try {
        this.#core.reserve('write', { events, newKeys: fresh.length, newKeyBytes, longestKeyBytes });
      } catch (error) {
        if (!(error instanceof StoreFullError) || new Set(keys).size < keys.length) throw error;
        this.#core.reserveExact('write', { keyIds: known, newKeys: fresh, longestKeyBytes, deletesAhead });
        isExact = true;
        this.exact++;
      }
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
      this.refused++;
      // What was claimed on the way stays, as free room.
      const bytes = { memoryBytes: 0, claimedBytes: 0, memory: undefined };
      expect({ ...this.#core.stats(), ...bytes }).toEqual({ ...before, ...bytes });
      this.#trim();
      return;
    }
    this.#readMuch();
    this.#commit += this.#random() < 0.02 && !isExact ? 2 ** 33 : 1;
    for (const key of keys) {
      const keyId = this.#core.internKey(key);
      const create = this.#random() < 0.1 && !isExact ? 1 : this.#commit;
      this.#core.append(keyId, this.#commit, this.#commit, create, 1, 0, this.#random() < 0.2);
    }
    this.#keys.push(...fresh);
    if (isExact) this.#deleteWhatIsAhead(deletesAhead);
  }

  /** Deletes of any keys, each a commit of its own, once compaction has been there. */
  #deleteWhatIsAhead(deletes: number): void {
    this.#compacted = this.#commit;
    while (!this.#core.compactStep(this.#compacted, 1 + this.#below(500)).done);
    const live = this.#core.range({ start: new Uint8Array(), end: new Uint8Array() }, Number.POSITIVE_INFINITY, 0);
    const keyIds = Array.from(live, (slot) => this.#core.keyOf(slot));
    for (let left = Math.min(deletes, keyIds.length); left > 0; left--) {
      const [keyId = -1] = keyIds.splice(this.#below(keyIds.length), 1);
      this.#core.reserveExact('delete', { keyIds: [keyId], newKeys: [], longestKeyBytes: 0, deletesAhead: 0 });
      this.#commit++;
      this.#core.append(keyId, this.#commit, this.#commit, 0, 0, 0, true);
    }
  }

  /** Reads of every kind, of the keys that have the longest histories too: they must leave alone what is reserved. */
  #readMuch(): void {
    const everything = { start: new Uint8Array(), end: new Uint8Array() };
    const revision = this.#compacted + this.#below(this.#commit - this.#compacted + 1);
    const hot = HOT.map((key) => this.#core.findKey(key)).filter((keyId) => keyId >= 0);
    const reads = [
      (): unknown => this.#core.range(everything, revision, 0),
      (): unknown => this.#core.range(everything, Number.POSITIVE_INFINITY, 0),
      (): unknown => this.#core.count(everything, revision),
      (): unknown => this.#core.replay(everything, 0, 0, 1e9),
      (): unknown => this.#core.findKey('q'.repeat(4000 + this.#below(60_000))),
      (): unknown => this.#core.nextCommit({ start: new Uint8Array([0x7f]), end: new Uint8Array() }, 0, 0),
      (): unknown => hot.map((keyId) => this.#core.slotAt(keyId, revision)),
    ];
    const { blocks, freeBlocks } = this.#core.stats().memory;
    for (const read of reads) if (this.#random() < 0.3) read();
    // Not even where it would not have been missed this time.
    expect(this.#core.stats().memory).toMatchObject({ blocks, freeBlocks });
  }

  /** Deletes some keys if there is room for it, and compacts to somewhere. */
  #trim(): void {
    for (let deletes = this.#below(100); deletes > 0; deletes--) {
      const keyId = this.#core.findKey(this.#keys[this.#below(this.#keys.length)] ?? '');
      if (keyId < 0) continue;
      try {
        this.#core.reserveExact('delete', { keyIds: [keyId], newKeys: [], longestKeyBytes: 0, deletesAhead: 0 });
      } catch (error) {
        if (!(error instanceof StoreFullError)) throw error;
        break;
      }
      this.#commit++;
      this.#core.append(keyId, this.#commit, this.#commit, 0, 0, 0, true);
    }
    const target = this.#random() < 0.3 ? this.#commit + 1 : this.#commit - this.#below(100);
    this.#compacted = Math.max(this.#compacted, target);
    while (!this.#core.compactStep(this.#compacted, 1 + this.#below(500)).done);
    this.#commit = Math.max(this.#commit, this.#compacted);
  }

  #key(): string {
    if (this.#random() < this.#hot) return HOT[this.#below(HOT.length)] ?? '';
    const known = this.#keys[this.#below(this.#keys.length)];
    if (known !== undefined && this.#random() < 0.5) return known;
    return `${this.#below(1e9).toString(36)}/${'n'.repeat(this.#below(this.#keyBytesMax))}`;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

describe('a core at its memory limit', () => {
  it('keeps what reserve promised', () => {
    const programs = sized({ smoke: 60, full: 2_000 });
    let refused = 0;
    let exact = 0;
    for (let index = 0; index < programs; index++) {
      const program = new FullCoreProgram(testSeed() + index);
      try {
        program.run(250);
      } catch (error) {
        throw new Error(`program ${testSeed() + index} fails; ${reproduce('property')}`, { cause: error });
      }
      refused += program.refused;
      exact += program.exact;
    }
    expect(refused).toBeGreaterThan(programs);
    expect(exact).toBeGreaterThan(programs / 4);
  });
});
