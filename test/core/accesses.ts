import { inspect } from 'node:util';
import type { CoreExports } from '../../src/core/abi.ts';
import type { CapturedEssence } from './capture.ts';
import { checkEnds } from './ends.ts';
import { makeExportProgram } from './export-program.ts';
import { runExportProgram } from './export-runner.ts';
import { placeText, warmText, warmUp, writableZones, type Zone } from './guarded-scan.ts';
import { makeBytes } from './hostile-bytes.ts';
import { createWatchedCore, createWatchedEssence } from './instrumented.ts';
import { makeKeysProgram, runKeysProgram } from './keys-program.ts';
import type { Part, WorkerOptions } from './part.ts';
import { diceOf, seedOf } from './programs.ts';
import { errorOf } from './shrink.ts';
import { makeValue } from './value-program.ts';
import { overlaps, watchedIndex } from './watched-index.ts';

/**
 * Every single access to memory, looked at: what a scan, a digest, and a call of the index and the log may read and
 * write, byte by byte. Slow, so on fewer inputs than the guards; but nothing that is read and does no harm goes unseen.
 */
export async function runAccesses(part: Part, { seed, smoke }: Pick<WorkerOptions, 'seed' | 'smoke'>): Promise<void> {
  const watcher = new Watcher();
  watcher.checkItself(part);
  checkEnds(part);
  for (let index = 0; index < (smoke ? 150 : 4000) && !part.isOver; index++) {
    const text = makeBytes(diceOf(seedOf(seed, 300, index)));
    const name = `scan ${index}: ${JSON.stringify(Buffer.from(text).toString('latin1')).slice(0, 300)}`;
    part.check(name, () => watcher.scan(text));
    const value = makeValue(diceOf(seedOf(seed, 302, index)));
    part.check(`value ${index}: ${inspect(value, { depth: 3, maxStringLength: 100 })}`, () => watcher.value(value));
    part.progress(() => `accesses: text ${index}`);
  }
  for (let index = 0; index < (smoke ? 40 : 800) && !part.isOver; index++) {
    const program = makeExportProgram(diceOf(seedOf(seed, 301, index)));
    part.check(`program ${index}`, () => runExportProgram(watchedIndex(), program));
    if (index % 4 === 0) {
      const keys = makeKeysProgram(diceOf(seedOf(seed, 303, index)));
      part.check(`keys ${index}`, () => runKeysProgram(watchedIndex(), keys));
    }
    part.progress(() => `accesses: program ${index}`);
  }
}

/** A core for scans: zones say what may be touched now; an access outside of all of them is an error. */
class Watcher {
  readonly #core: CoreExports;
  readonly #values: CapturedEssence;
  readonly #valuesFrom: number;
  readonly #heap: number;
  /** What the rules have claimed: read by scans, written by none. */
  readonly #rules: Zone;
  readonly #keyRegion: Zone;
  #loads: readonly Zone[] | undefined;
  #stores: readonly Zone[] | undefined;
  /** Memory that was free at the start of the call belongs to it as soon as it is claimed. */
  #free = 0;

  constructor() {
    const onLoad = (address: number, bytes: number): void => this.#look('read', this.#loads, address, bytes);
    const onStore = (address: number, bytes: number): void => this.#look('wrote', this.#stores, address, bytes);
    this.#heap = createWatchedCore(onLoad, onStore).claimedBytes();
    this.#core = createWatchedEssence(onLoad, onStore).exports;
    this.#rules = [this.#heap, this.#core.claimedBytes(), 'rules'];
    this.#keyRegion = [this.#core.keyRegion(), this.#core.keyRegion() + this.#core.keyRegionBytes(), 'keys'];
    warmUp(this.#core);
    // One that is only used as it is meant to be: it knows where its region is, and nobody may move that.
    this.#values = createWatchedEssence(onLoad, onStore);
    this.#valuesFrom = this.#values.exports.claimedBytes();
    this.#values.core.digest(warmText(), false, 'warm up');
  }

  /** That an access outside is noticed: a hash of bytes that it may not read. */
  checkItself(part: Part): void {
    const pointer = this.#core.inputRegion(100);
    part.check('an access outside of the zones is noticed', () => {
      let noticed = false;
      try {
        this.#within([[pointer, pointer + 50, 'half']], [], () => this.#core.essenceHash(pointer, 51));
      } catch {
        noticed = true;
      }
      if (!noticed) throw new Error('the 51st byte of 50 was read and nobody noticed');
    });
  }

  scan(text: Uint8Array): void {
    const core = this.#core;
    const [input, pad] = placeText(core, text);
    const own = writableZones(core, text.length);
    const reads: Zone = [input[0], pad[1], 'input'];
    const call = (): number => core.essenceScan(text.length, 0);
    const length = this.#within([reads, this.#rules, ...own], [pad, ...own], call);
    if (length < 0) return;
    const start = core.essenceRegion(0);
    this.#within([[start, start + length, 'canonical']], [], () => core.essenceHash(start, length));
  }

  /** What is written into the core piece by piece, and read from there. */
  value(value: unknown): void {
    const { core, exports } = this.#values;
    const own: Zone = [this.#valuesFrom, exports.claimedBytes(), 'regions'];
    const error = errorOf(() => this.#within([this.#rules, own], [own], () => core.digestValue(value)));
    // A getter of the value may throw, and is no business of the core.
    if (error instanceof Error && error.message.startsWith('the core')) throw error;
  }

  #within<T>(loads: readonly Zone[], stores: readonly Zone[], call: () => T): T {
    this.#free = this.#core.claimedBytes();
    this.#loads = loads;
    this.#stores = stores;
    try {
      return call();
    } finally {
      this.#loads = undefined;
      this.#stores = undefined;
    }
  }

  #look(did: string, zones: readonly Zone[] | undefined, address: number, bytes: number): void {
    if (zones === undefined || bytes === 0) return;
    const isIn = ([start, end]: Zone): boolean => address >= start && address + bytes <= end;
    if (zones.some(isIn) || (address >= this.#free && address + bytes <= this.#core.claimedBytes())) return;
    // Constants and tables of the module itself, but not the region where keys of callers lie.
    if (address + bytes <= this.#heap && !overlaps(this.#keyRegion, address, bytes)) return;
    const places = zones.map(([start, end, name]) => `${name} ${start}..${end}`).join(', ');
    throw new Error(`the core ${did} ${bytes} bytes at ${address}, outside of ${places}`);
  }
}
