import { JsonSyntaxError, StoreFullError, ValueError } from '../types/errors.ts';
import { isDetached } from '../types/is-detached.ts';
import type { CoreExports } from './abi.ts';
import { STATUS_FULL } from './abi.ts';
import { canonicalString } from './canonical-text.ts';
import { TAG_CHARS } from './digest.ts';
import { algorithmCode, type DigestScheme, digitsOf } from './digest-scheme.ts';
import { ANNOTATION_MARKERS, type EssenceRules, type RuleNode } from './essence-rules.ts';
import { EssenceWriter, NOT_WRITTEN } from './essence-writer.ts';
import { CoreInstance } from './instance.ts';

/**
 * The essence part of the core: how texts and values get into it and digests out. One instance holds one set of rules, and its scratch
 * regions stay as large as the largest text it has seen; dropping it gives all of that back.
 *
 * A digest of a small object takes less than a microsecond, so this file keeps views and pointers, where others ask for
 * them: `memory.buffer` alone is a call into the engine. A view that growing the memory has detached has no bytes left.
 */
export class EssenceCore {
  readonly #instance: CoreInstance;
  readonly #exports: CoreExports;
  readonly #scheme: DigestScheme;
  /** The memory, and the place in it where the core writes all digests, with the tag in front. */
  #memory: Uint8Array;
  #digest: Uint8Array;
  /** The region for texts, and how many bytes it takes. */
  #input = 0;
  #inputBytes = 0;
  /** How often the region was written to. */
  #uses = 0;
  readonly #rules: RuleNode | undefined;
  readonly #writer: EssenceWriter;
  #inputView: Uint8Array = new Uint8Array();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** For ASCII, and quicker than the strict one on some runtimes. */
  readonly #asciiDecoder = new TextDecoder();
  readonly #encoder = new TextEncoder();

  constructor(module: WebAssembly.Module, rules: EssenceRules, scheme: DigestScheme = PLAIN_SCHEME) {
    this.#instance = new CoreInstance(module);
    this.#exports = this.#instance.exports;
    this.#scheme = scheme;
    this.#rules = rules.root;
    this.#writer = new EssenceWriter({
      bytes: () => this.#region(),
      grow: (length, kept) => this.#grow(length, kept),
      escapes: (offset, length) => this.#exports.essenceEscapes(this.#input + offset, length),
      escape: (offset, length, extra) => this.#exports.essenceEscape(this.#input + offset, length, extra),
    });
    if (rules.root !== undefined) this.#loadRules(rules, rules.root);
    const { algorithm, seed } = scheme;
    this.#exports.essenceAlgorithm(algorithmCode(algorithm), Number(seed & 0xffffffffn), Number(seed >> 32n));
    this.#memory = this.#instance.bytes();
    this.#digest = this.#memory.subarray(0, 0);
    // A text of no bytes needs a region too: it is read up to the zeros behind it.
    this.#makeRoom(INPUT_BYTES_MIN, ACTION);
  }

  /**
   * The digest of a JSON text, or `undefined` if the text is valid but has to be canonicalised by the caller (`input`
   * gives it back). Throws `JsonSyntaxError`, `StoreFullError`.
   */
  digest(bytes: Uint8Array, rejectDuplicates: boolean, action: string): string | undefined {
    this.#copyIn(bytes, action);
    const pointer = this.#exports.essenceDigest(bytes.length, rejectDuplicates ? REJECT_DUPLICATES : 0);
    return pointer >= 0 ? this.#digestAt(pointer) : this.#refuse(pointer, action);
  }

  /**
   * Scans a JSON text and returns the length of its canonical text; `undefined` and errors as with `digest`.
   */
  scan(bytes: Uint8Array, rejectDuplicates: boolean, action: string): number | undefined {
    this.#copyIn(bytes, action);
    const length = this.#exports.essenceScan(bytes.length, rejectDuplicates ? REJECT_DUPLICATES : 0);
    return length >= 0 ? length : this.#refuse(length, action);
  }

  /** The text of the last scan as it went in: the caller's bytes may have changed since, the copy here has not. */
  input(length: number): string {
    return this.#decoder.decode(this.#instance.bytes().subarray(this.#input, this.#input + length));
  }

  /** The canonical text of the last scan. */
  text(length: number): string {
    const pointer = this.#exports.essenceRegion(REGION_TEXT);
    return this.#decoder.decode(this.#instance.bytes().subarray(pointer, pointer + length));
  }

  /**
   * The digest of a parsed value, or `undefined` if the caller has to canonicalise it, which also says what is wrong with
   * it if something is.
   */
  digestValue(value: unknown): string | undefined {
    const use = ++this.#uses;
    const length = this.#writer.write(value, this.#rules);
    // A getter of the value may have used this hasher for something else, and so the region that was written to.
    if (length === NOT_WRITTEN || this.#uses !== use) return undefined;
    const pointer = this.#exports.essenceDigest(length, NUMBERS_CANONICAL);
    return pointer >= 0 ? this.#digestAt(pointer) : undefined;
  }

  /** The digest of a text that is canonical already. */
  digestText(text: string, action: string): string {
    this.#uses++;
    this.#makeRoom(text.length * 3, action);
    const target = this.#memory.subarray(this.#input, this.#input + text.length * 3);
    const { written } = this.#encoder.encodeInto(text, target);
    return this.#digestAt(this.#exports.essenceHash(this.#input, written));
  }

  #copyIn(bytes: Uint8Array, action: string): void {
    this.#uses++;
    if (isDetached(bytes)) throw new ValueError(action, { path: '', reason: 'is bytes whose buffer is detached' });
    if (bytes.length > this.#inputBytes || this.#memory.length === 0) this.#makeRoom(bytes.length, action);
    this.#memory.set(bytes, this.#input);
  }

  #makeRoom(bytes: number, action: string): void {
    if (!this.#hasRoom(bytes)) throw new StoreFullError(action, this.#instance.memoryBytesMax);
  }

  /** Makes the region as large as that, and the view of the memory one of today's. */
  #hasRoom(bytes: number): boolean {
    if (bytes > this.#inputBytes) {
      // The core doubles as well: so its region has what is asked for here, and no more.
      let room = Math.max(this.#inputBytes, INPUT_BYTES_MIN);
      while (room < bytes) room *= 2;
      const pointer = room > INPUT_BYTES_MAX ? 0 : this.#exports.inputRegion(room);
      if (pointer === 0) return false;
      this.#input = pointer;
      this.#inputBytes = room;
    }
    this.#memory = this.#instance.bytes();
    return true;
  }

  #region(): Uint8Array {
    if (this.#inputView.length !== this.#inputBytes) {
      this.#memory = this.#instance.bytes();
      this.#inputView = this.#memory.subarray(this.#input, this.#input + this.#inputBytes);
    }
    return this.#inputView;
  }

  #grow(length: number, kept: number): Uint8Array | undefined {
    const from = this.#input;
    if (!this.#hasRoom(length)) return undefined;
    this.#memory.copyWithin(this.#input, from, from + kept);
    return this.#region();
  }

  #digestAt(pointer: number): string {
    if (this.#digest.length === 0) {
      const { algorithm, tag } = this.#scheme;
      const digits = pointer + TAG_CHARS;
      const start = digits - tag.length;
      this.#memory = this.#instance.bytes();
      this.#digest = this.#memory.subarray(start, digits + digitsOf(algorithm));
      this.#encoder.encodeInto(tag, this.#digest);
    }
    return this.#asciiDecoder.decode(this.#digest);
  }

  #refuse(status: number, action: string): undefined {
    if (status === SCAN_UNDECIDED) return undefined;
    if (status === STATUS_FULL) throw new StoreFullError(action, this.#instance.memoryBytesMax);
    throw new JsonSyntaxError(action, {
      offset: this.#exports.essenceFaultOffset(),
      reason: FAULT_REASONS[this.#exports.essenceFault()] ?? 'the text is not JSON',
    });
  }

  #loadRules(rules: EssenceRules, root: RuleNode): void {
    // Three nodes more, whose edges are the names by which annotations are judged; `root` serves as "found".
    const prefixes = rules.nodes.length + 1;
    const names: [node: number, name: string, child: number][] = [];
    const indexes: [node: number, index: number, child: number][] = [];
    for (const node of rules.nodes) {
      for (const [name, child] of node.names) names.push([node.id, name, child.id]);
      for (const [index, child] of node.indexes) indexes.push([node.id, index, child.id]);
    }
    for (const [offset, set] of [rules.prefixes, rules.domains, ANNOTATION_MARKERS].entries()) {
      for (const name of set) names.push([prefixes + offset, name, root.id]);
    }
    this.#check(this.#exports.essenceRules(rules.nodes.length + 3, names.length + indexes.length, root.id));
    this.#exports.essenceAnnotationNodes(prefixes, prefixes + 1, prefixes + 2);
    for (const node of rules.nodes) this.#exports.essenceRuleNode(node.id, flagsOf(node), node.any?.id ?? 0);
    for (const [node, index, child] of indexes) this.#exports.essenceRuleIndex(node, index, child);
    for (const [node, name, child] of names) {
      const text = canonicalString(name)?.slice(1, -1) ?? '';
      const pointer = this.#instance.input(text.length * 3, ACTION);
      this.#check(this.#exports.essenceRuleName(node, this.#instance.encodeAt(text, pointer), child));
    }
  }

  #check(status: number): void {
    if (status === STATUS_FULL) throw new StoreFullError(ACTION, this.#instance.memoryBytesMax);
  }
}

const ACTION = 'create the essence hasher';
const PLAIN_SCHEME: DigestScheme = { algorithm: 'xxh3-128', seed: 0n, tag: 'xxh3-128:' };
/** The smallest and the largest input region of `assembly/scratch.ts`. */
const INPUT_BYTES_MIN = 4096;
const INPUT_BYTES_MAX = 2 ** 30;

/** `Scan.Undecided` and `Region.Text` of `assembly/essence.ts`. */
const SCAN_UNDECIDED = -17;
const REGION_TEXT = 0;
/** `Reading` there. */
const REJECT_DUPLICATES = 1;
const NUMBERS_CANONICAL = 2;

/** `Rule` of `assembly/json-rules.ts`. */
function flagsOf(node: RuleNode): number {
  if (node.excluded) return 1;
  return node.role === 'metadata' ? 2 : node.role === 'annotations' ? 4 : 0;
}

/** What to say for each `Fault` of `assembly/json-fault.ts`. */
export const FAULT_REASONS: Readonly<Record<number, string>> = {
  2: 'the text ends too early',
  3: 'a value was expected',
  4: 'a member name in quotes was expected',
  5: '":" was expected',
  6: '"," or "}" was expected',
  7: '"," or "]" was expected',
  8: 'the end of the text was expected',
  9: 'a byte order mark is not part of JSON',
  10: 'nested more than 1000 levels deep',
  11: 'the number is malformed',
  12: 'the number is larger than any double',
  13: 'a control character must be escaped',
  14: 'the escape is malformed',
  15: 'half of a surrogate pair is not a character',
  16: 'the bytes are not UTF-8',
  17: 'the member name was used before',
};
