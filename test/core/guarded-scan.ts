import type { CoreExports } from '../../src/core/abi.ts';
import { captureEssence } from './capture.ts';

/** `Region` of `assembly/essence.ts`. */
const REGION = { text: 0, members: 1, membersEnd: 2 };
/** Zero bytes behind a text, which a scan may read (`assembly/scratch.ts`). */
const PAD = 64;
/** Bytes behind a canonical text, which a scan may write (`assembly/json-text.ts`). */
const TEXT_SLACK = 128;
/** `Scan` of `assembly/essence.ts`. */
const REFUSED = -16;
const UNDECIDED = -17;

export type Zone = readonly [start: number, end: number, name: string];

/** What a scan answered: the canonical text, "undecided" (valid, not canonicalised), or where it refused and why. */
export interface Scanned {
  readonly text?: Uint8Array;
  readonly undecided?: boolean;
  readonly offset?: number;
  readonly fault?: number;
}

/** Where the scan of a text may write besides the pad behind it: all of it above `claimed`, which is what rules take. */
export function writableZones(exports: CoreExports, length: number): readonly Zone[] {
  const text = exports.essenceRegion(REGION.text);
  return [
    [text, text + 2 * length + TEXT_SLACK, 'text'],
    [exports.essenceRegion(REGION.members), exports.essenceRegion(REGION.membersEnd), 'members'],
  ];
}

/** Where a text goes, its region made; and the pad behind it. */
export function placeText(exports: CoreExports, text: Uint8Array): readonly [input: Zone, pad: Zone] {
  const input = exports.inputRegion(text.length);
  new Uint8Array(exports.memory.buffer).set(text, input);
  const end = input + text.length;
  return [
    [input, end, 'input'],
    [end, end + PAD, 'pad'],
  ];
}

/** A text that needs regions of a usual size. */
export function warmText(): Uint8Array {
  const names = Array.from({ length: 300 }, (_, index) => `"${(index * 7919) % 300}":[{}]`);
  return new TextEncoder().encode(`{${names.join(',')}}`.padEnd(16_384));
}

/** Makes the regions of a usual size, so that they do not move later; above all that rules have claimed. */
export function warmUp(exports: CoreExports): void {
  const text = warmText();
  placeText(exports, text);
  exports.essenceScan(text.length, 0);
}

/**
 * Scans with guard zones: before each call everything that is not in use is filled with a pattern, and afterwards
 * everything but what the scan may write has to be as it was. The same text is scanned again with another pattern around
 * it and in the regions: an answer that changes was read from outside of the text.
 *
 * ```text
 *   | statics | rules | pattern | text of the caller | 64 zeros | pattern | canonical text, members | pattern |
 *               read              read                 read                 written, and read back
 * ```
 */
export class GuardedScan {
  readonly #exports: CoreExports;
  /** Rules lie from here ... */
  readonly #heap: number;
  /** ... to here; a scan's regions above. */
  readonly #rulesEnd: number;
  readonly #rules: Buffer;
  readonly #patterns = new Map<number, Buffer>();

  constructor(module: WebAssembly.Module, defaults: boolean) {
    this.#heap = (new WebAssembly.Instance(module, {}).exports as unknown as CoreExports).claimedBytes();
    this.#exports = captureEssence(module, defaults).exports;
    this.#rulesEnd = this.#exports.claimedBytes();
    this.#rules = Buffer.from(Buffer.from(this.#exports.memory.buffer, this.#heap, this.#rulesEnd - this.#heap));
    warmUp(this.#exports);
  }

  /** The answer; throws when a guard was hit. */
  scan(text: Uint8Array): Scanned {
    const claimed = this.#exports.claimedBytes();
    const first = this.#once(text, 0xa5);
    // A region has moved: what was free then is in use now. Once more, with regions that are large enough.
    if (this.#exports.claimedBytes() !== claimed) return this.scan(text);
    if (first.strays.length > 0) throw new Error(`the scan wrote outside of its regions: ${first.strays.join(', ')}`);
    const second = this.#once(text, 0x22);
    const [one, other] = [show(first.scanned), show(second.scanned)];
    if (one !== other)
      throw new Error(`the scan read outside of its text: ${one}, with other bytes around it ${other}`);
    return first.scanned;
  }

  #once(text: Uint8Array, pattern: number): { scanned: Scanned; strays: readonly string[] } {
    const exports = this.#exports;
    exports.inputRegion(text.length);
    const memory = Buffer.from(exports.memory.buffer);
    memory.fill(pattern, this.#rulesEnd);
    const [input, pad] = placeText(exports, text);
    exports.inputRegion(text.length);
    const own = writableZones(exports, text.length);
    const scanned = this.#answer(exports.essenceScan(text.length, 0));
    const strays: string[] = [];
    const after = Buffer.from(exports.memory.buffer);
    if (after.compare(this.#rules, 0, this.#rules.length, this.#heap, this.#rulesEnd) !== 0) strays.push('the rules');
    if (after.compare(text, 0, text.length, input[0], input[1]) !== 0) strays.push('the text itself');
    if (after.subarray(pad[0], pad[1]).some((byte) => byte !== 0)) strays.push('its pad');
    for (const [start, end] of [input, pad, ...own]) after.fill(pattern, start, end);
    const [from, end] = [this.#rulesEnd, after.length];
    if (after.compare(this.#pattern(pattern, end), from, end, from, end) !== 0) {
      const at = after.subarray(from).findIndex((byte) => byte !== pattern) + from;
      strays.push(`byte ${at}, ${at - input[0]} from the text, the regions are ${own.join('; ')}`);
    }
    return { scanned, strays };
  }

  #answer(length: number): Scanned {
    const exports = this.#exports;
    if (length >= 0) {
      const start = exports.essenceRegion(REGION.text);
      return { text: new Uint8Array(exports.memory.buffer).slice(start, start + length) };
    }
    if (length === UNDECIDED) return { undecided: true };
    if (length !== REFUSED) throw new Error(`the scan answered ${length}`);
    return { offset: exports.essenceFaultOffset(), fault: exports.essenceFault() };
  }

  #pattern(pattern: number, length: number): Buffer {
    let bytes = this.#patterns.get(pattern);
    if (bytes === undefined || bytes.length < length) {
      bytes = Buffer.alloc(length, pattern);
      this.#patterns.set(pattern, bytes);
    }
    return bytes;
  }
}

function show({ text, undecided, offset, fault }: Scanned): string {
  if (text !== undefined) return JSON.stringify(Buffer.from(text).toString('latin1'));
  return undecided === true ? 'undecided' : `refused at ${offset} (${fault})`;
}
