import { LimitExceededError, ValueError } from '../types/errors.ts';
import { type ListElement, writeList } from './canonical-list.ts';
import { canonicalString, DEPTH_MAX, PARTS_MAX } from './canonical-text.ts';
import {
  ANNOTATION_MARKERS,
  annotationPrefixLength,
  type EssenceRules,
  isRemovedPrefix,
  type ListOrder,
  type RuleNode,
} from './essence-rules.ts';
import { jsonPointer } from './json-pointer.ts';

/** UTF-16 units of canonical text; below what any engine allows a string to have. */
const TEXT_UNITS_MAX = 2 ** 28;

/**
 * The canonical text (RFC 8785) of a parsed JSON value without what the rules exclude: the slow twin of the core's
 * scan. Both must give the same text for the same document, which a property test holds them to.
 *
 * Promised: the value is only read, in place; `toJSON` is not called; a member that is `undefined` is absent; excluded
 * parts are not looked at. Class instances count as the plain object of their own enumerable members. Not promised:
 * a sensible answer when a getter changes the value during the walk.
 *
 * Throws `ValueError` with the JSON pointer of the part that is not JSON, and `LimitExceededError`.
 */
export function canonicalJson(value: unknown, rules: EssenceRules, action: string): string {
  return new CanonicalWriter(rules, action).write(value, rules.root, false);
}

class CanonicalWriter {
  readonly #rules: EssenceRules;
  readonly #action: string;
  /** The way to the part being written: one name or index for every open container. */
  readonly #path: (string | number)[] = [];
  #depth = 0;
  #parts = 0;

  constructor(rules: EssenceRules, action: string) {
    this.#rules = rules;
    this.#action = action;
  }

  /** `prune`: inside `metadata`, where members with an empty container go. */
  write(value: unknown, node: RuleNode | undefined, prune: boolean): string {
    switch (typeof value) {
      case 'string':
        return canonicalString(value) ?? this.#refuse('has half of a surrogate pair');
      case 'number':
        // ECMAScript's own text is the canonical one, and that of -0 is "0".
        return Number.isFinite(value) ? String(value) : this.#refuse(`is ${value}, which JSON does not have`);
      case 'boolean':
        return value ? 'true' : 'false';
      case 'object':
        if (value === null) return 'null';
        if (!Array.isArray(value)) return this.#writeObject(value, node, prune);
        return node?.list === undefined
          ? this.#writeArray(value, node, prune)
          : this.#writeList(value, node, node.list, prune);
      default:
        return this.#refuse(`is of type ${typeof value}`);
    }
  }

  #writeArray(value: readonly unknown[], node: RuleNode | undefined, prune: boolean): string {
    const place = this.#enter();
    let text = '';
    for (let index = 0; index < value.length; index++) {
      const child = node === undefined ? undefined : (node.indexes.get(index) ?? node.any);
      this.#count(text.length);
      if (child?.excluded) continue;
      this.#path[place] = index;
      const element = this.write(value[index], child, prune);
      text += text === '' ? element : `,${element}`;
    }
    this.#leave();
    return `[${text}]`;
  }

  /** An array whose order does not count. */
  #writeList(value: readonly unknown[], node: RuleNode, order: ListOrder, prune: boolean): string {
    const place = this.#enter();
    const elements: ListElement[] = [];
    let units = 0;
    for (let index = 0; index < value.length; index++) {
      const child = node.indexes.get(index) ?? node.any;
      this.#count(units);
      if (child?.excluded) continue;
      this.#path[place] = index;
      const element: unknown = value[index];
      const keys = new Map<string, string>();
      const isKeyed = order.length > 0 && typeof element === 'object' && element !== null && !Array.isArray(element);
      const text = isKeyed ? this.#writeObject(element, child, prune, keys) : this.write(element, child, prune);
      elements.push({ text, keys: order.map((name) => keys.get(name) ?? '') });
      units += text.length + 1;
    }
    this.#leave();
    return writeList(elements, order.length === 0);
  }

  /** `written` gets the text of each member that is written, by name. */
  #writeObject(value: object, node: RuleNode | undefined, inherited: boolean, written?: Map<string, string>): string {
    const place = this.#enter();
    if (!isRecord(value)) this.#refuse(`is a ${Object.prototype.toString.call(value).slice(8, -1)}, not plain data`);
    const record = value as Readonly<Record<string, unknown>>;
    const prune = inherited || node?.role === 'metadata';
    const marked = node?.role === 'annotations' ? markedPrefixes(record) : undefined;
    let text = '';
    for (const name of sortedNames(record)) {
      this.#count(text.length);
      const child = node?.names.get(name);
      // Not looked at: it may have a getter. Names of rules are whole text.
      if (child?.excluded) continue;
      const member = record[name];
      if (member === undefined) continue;
      this.#path[place] = name;
      const quoted = canonicalString(name) ?? this.#refuse('has half of a surrogate pair in its name');
      if (member === null && this.#rules.nullIsAbsent) continue;
      const prefix = marked === undefined ? '' : name.slice(0, annotationPrefixLength(name));
      if (prefix !== '' && isRemovedPrefix(this.#rules, prefix.slice(0, -1))) continue;
      const part = this.write(member, child, prune);
      if (prune && (part === '{}' || part === '[]')) continue;
      if (part === '{}' && child?.role === 'metadata') continue;
      // Only now: a fault in a marked annotation is reported, as the core does, which reads the marker too late.
      if (prefix !== '' && marked?.has(prefix)) continue;
      written?.set(name, part);
      text += text === '' ? `${quoted}:${part}` : `,${quoted}:${part}`;
    }
    this.#leave();
    return `{${text}}`;
  }

  /** Opens a container and returns its place in the path. */
  #enter(): number {
    if (this.#depth === DEPTH_MAX) this.#refuse(`is more than ${DEPTH_MAX} levels deep, or contains itself`);
    return this.#depth++;
  }

  #leave(): void {
    this.#depth--;
    this.#path.length = this.#depth;
  }

  #count(units: number): void {
    if (++this.#parts > PARTS_MAX) {
      throw new LimitExceededError(this.#action, {
        limit: 'the number of members and elements',
        max: PARTS_MAX,
        actual: this.#parts,
      });
    }
    if (units > TEXT_UNITS_MAX) {
      throw new LimitExceededError(this.#action, {
        limit: 'the length of the canonical text',
        max: TEXT_UNITS_MAX,
        actual: units,
      });
    }
  }

  #refuse(reason: string): never {
    throw new ValueError(this.#action, { path: jsonPointer(this.#path), reason });
  }
}

/** Names in the order of UTF-16 units, which is that of `<` and of `sort` without a comparator. */
function sortedNames(record: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.keys(record);
  for (let index = 1; index < names.length; index++) {
    if ((names[index - 1] as string) > (names[index] as string)) return names.sort();
  }
  return names;
}

/** Prefixes, with their slash, of which some annotation has the marker as its name. */
function markedPrefixes(annotations: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const marked = new Set<string>();
  for (const name of Object.keys(annotations)) {
    const length = annotationPrefixLength(name);
    if (length > 0 && ANNOTATION_MARKERS.has(name.slice(length)) && annotations[name] !== undefined) {
      marked.add(name.slice(0, length));
    }
  }
  return marked;
}

/**
 * Whether the members of an object are all there is to it: not so for dates, maps, typed arrays, boxed values and the
 * like, which would look empty. Objects of another realm pass, hence no comparison of prototypes alone.
 */
function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.prototype.toString.call(value) === '[object Object]';
}
