import { JsonSyntaxError, StoreFullError } from '../types/errors.ts';
import type { EssenceExports } from './abi.ts';
import { STATUS_FULL } from './abi.ts';
import { canonicalString } from './canonical-text.ts';
import {
  ANNOTATION_DOMAINS,
  ANNOTATION_MARKERS,
  ANNOTATION_PREFIXES,
  type EssenceRules,
  type RuleNode,
} from './essence-rules.ts';
import { CoreInstance } from './instance.ts';

/**
 * The essence part of the core: the only user of `EssenceExports`. One instance holds one set of rules, and its scratch
 * regions stay as large as the largest text it has seen; dropping it gives all of that back.
 */
export class EssenceCore {
  readonly #instance: CoreInstance;
  readonly #exports: EssenceExports;
  #digestView: Uint8Array = new Uint8Array();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(module: WebAssembly.Module, rules: EssenceRules) {
    this.#instance = new CoreInstance(module);
    this.#exports = this.#instance.exports;
    if (rules.root !== undefined) this.#loadRules(rules, rules.root);
  }

  /**
   * Scans a JSON text and returns the length of its canonical text, or `undefined` if the text is valid but has to be
   * canonicalised by the caller (`input` gives it back). Throws `JsonSyntaxError`, `StoreFullError`.
   */
  scan(bytes: Uint8Array, rejectDuplicates: boolean, action: string): number | undefined {
    const pointer = this.#instance.input(bytes.length, action);
    this.#instance.bytes().set(bytes, pointer);
    const length = this.#exports.essenceScan(bytes.length, rejectDuplicates ? 1 : 0);
    if (length >= 0) return length;
    if (length === SCAN_UNDECIDED) return undefined;
    if (length === STATUS_FULL) throw new StoreFullError(action, this.#instance.memoryBytesMax);
    throw new JsonSyntaxError(action, {
      offset: this.#exports.essenceFaultOffset(),
      reason: FAULT_REASONS[this.#exports.essenceFault()] ?? 'the text is not JSON',
    });
  }

  /** The text of the last scan as it went in: the caller's bytes may have changed since, the copy here has not. */
  input(length: number, action: string): string {
    const pointer = this.#instance.input(length, action);
    return this.#decoder.decode(this.#instance.bytes().subarray(pointer, pointer + length));
  }

  /** The canonical text of the last scan. */
  text(length: number): string {
    const pointer = this.#exports.essenceRegion(REGION_TEXT);
    return this.#decoder.decode(this.#instance.bytes().subarray(pointer, pointer + length));
  }

  /** The digest of the last scan's canonical text. */
  digestScanned(length: number): string {
    return this.#digest(this.#exports.essenceRegion(REGION_TEXT), length);
  }

  digestText(text: string, action: string): string {
    const pointer = this.#instance.input(text.length * 3, action);
    return this.#digest(pointer, this.#instance.encodeAt(text, pointer));
  }

  #digest(pointer: number, length: number): string {
    const digest = this.#exports.essenceHash(pointer, length);
    const memory = this.#instance.bytes();
    // The core writes all digests to one place; a new view for each would cost as much as hashing a small object.
    if (this.#digestView.buffer !== memory.buffer) this.#digestView = memory.subarray(digest, digest + DIGEST_BYTES);
    return this.#decoder.decode(this.#digestView);
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
    for (const [offset, set] of [ANNOTATION_PREFIXES, ANNOTATION_DOMAINS, ANNOTATION_MARKERS].entries()) {
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
/** The tag `xxh3-128:` and 32 digits. */
const DIGEST_BYTES = 41;

/** `Scan.Undecided` and `Region.Text` of `assembly/essence.ts`. */
const SCAN_UNDECIDED = -17;
const REGION_TEXT = 0;

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
