import { LimitExceededError } from '../types/errors.ts';
import { DEPTH_MAX } from './canonical-text.ts';
import { unescapeSegment } from './json-pointer.ts';

/**
 * What the essence leaves out, compiled once into a trie that both paths walk: `canonical-json.ts` as it is, the core
 * as a copy in linear memory.
 *
 * ```text
 *   ignore ['/spec/args/*', '/spec/args/0/x']        root -spec-> a -args-> b -any-> (excluded)
 *                                                                            -0---> (excluded)
 * ```
 *
 * The trie is deterministic: where `*` and an index match the same array element, the child for that index has the
 * rules of both. So a walk follows one node at a time, and its cost does not depend on the number of rules. The price
 * is that rules which mix the two at many levels multiply; `RULE_NODES_MAX` bounds that.
 */
export interface RuleNode {
  /** From 1 on, the place in {@link EssenceRules.nodes}. */
  readonly id: number;
  /** The value here is removed; a node like this has no children. */
  readonly excluded: boolean;
  readonly role: RuleRole;
  /** How an array here is written when its order does not count. The core does not know it. */
  readonly list: ListOrder | undefined;
  /** Children for the members of an object. */
  readonly names: ReadonlyMap<string, RuleNode>;
  /** Children for the elements of an array that an index names; they have the rules of `any` too. */
  readonly indexes: ReadonlyMap<number, RuleNode>;
  /** The child for all other elements of an array. */
  readonly any: RuleNode | undefined;
}

/** `metadata`: empty containers below go. `annotations`: names are judged by prefix. Both only with the defaults. */
export type RuleRole = 'none' | 'metadata' | 'annotations';

/** Names of the members that tell the elements of a keyed list apart; none of them: a set. */
export type ListOrder = readonly string[];

export interface EssenceRules {
  /** `undefined`: nothing is left out. */
  readonly root: RuleNode | undefined;
  readonly nodes: readonly RuleNode[];
  /** Annotations with exactly these prefixes are removed. */
  readonly prefixes: ReadonlySet<string>;
  /** Annotations whose prefix is a subdomain of these are removed. */
  readonly domains: ReadonlySet<string>;
  /** Some order does not count: only `canonical-json.ts` can write that. */
  readonly hasLists: boolean;
  /** Members that are null are left out: as for lists. */
  readonly nullIsAbsent: boolean;
}

/** What the rules are compiled of, each checked already but for the pointers. */
export interface RuleSource {
  readonly ignore: readonly string[];
  readonly defaults: boolean;
  /** Entries of {@link SOFT_POINTERS} and {@link SOFT_PREFIXES}. */
  readonly keep?: ReadonlySet<string>;
  readonly lists?: readonly (readonly [pointer: string, order: ListOrder])[];
  readonly nullIsAbsent?: boolean;
}

/** Nodes of the compiled trie; more is `LimitExceededError`. */
export const RULE_NODES_MAX = 65_536;

/** Removed by default (D17), and not to be put back: never meaningful, or written with every write. Reasons: `docs/essence.md`. */
export const HARD_POINTERS: readonly string[] = [
  '/metadata/resourceVersion',
  '/metadata/managedFields',
  '/metadata/selfLink',
];

/** Removed by default, but for those that `keep` names. */
export const SOFT_POINTERS: readonly string[] = [
  '/apiVersion',
  '/kind',
  '/status',
  '/metadata/name',
  '/metadata/namespace',
  '/metadata/generateName',
  '/metadata/uid',
  '/metadata/generation',
  '/metadata/creationTimestamp',
  '/metadata/deletionTimestamp',
  '/metadata/deletionGracePeriodSeconds',
  '/metadata/finalizers',
  '/metadata/ownerReferences',
  '/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration',
  '/metadata/annotations/deployment.kubernetes.io~1revision',
  '/metadata/annotations/control-plane.alpha.kubernetes.io~1leader',
  '/metadata/annotations/endpoints.kubernetes.io~1last-change-trigger-time',
];

export const DEFAULT_POINTERS: readonly string[] = [...HARD_POINTERS, ...SOFT_POINTERS];

/** Annotations with exactly these prefixes are bookkeeping: Plimsoll's own, not to be put back. */
export const HARD_PREFIXES: readonly string[] = ['plimsoll.dev'];
/** So are, but for those that `keep` names, annotations whose prefix is one of these or a subdomain of one. */
export const SOFT_PREFIXES: readonly string[] = ['cattle.io'];
/** An annotation `<prefix>/<this>` says that all annotations of the prefix are the bookkeeping of a Plimsoll operator. */
export const ANNOTATION_MARKERS: ReadonlySet<string> = new Set(['plimsoll-managed']);

/** The length of an annotation's prefix with its slash; 0 without one. */
export function annotationPrefixLength(name: string): number {
  return name.indexOf('/') + 1;
}

/** Whether the prefix, without its slash, is one whose annotations are removed. */
export function isRemovedPrefix({ prefixes, domains }: EssenceRules, prefix: string): boolean {
  if (prefixes.has(prefix)) return true;
  for (let dot = prefix.indexOf('.'); dot >= 0; dot = prefix.indexOf('.', dot + 1)) {
    if (domains.has(prefix.slice(dot + 1))) return true;
  }
  return false;
}

/** Whether no rule is about what is at a place, keys from the root, or about anything below it. */
export function isUntouched({ root, nullIsAbsent }: EssenceRules, path: readonly string[]): boolean {
  let node = root;
  for (const key of path) {
    if (node === undefined) break;
    if (node.excluded || node.role !== 'none') return false;
    // A key may be the index of an element: without one that is left out, or in another order, those behind it have others.
    if (node.list !== undefined || node.any !== undefined || node.indexes.size > 0) return false;
    node = node.names.get(key);
  }
  return node === undefined && !nullIsAbsent;
}

/**
 * Compiles the rules.
 *
 * Throws `TypeError` naming a pointer that is malformed, and `LimitExceededError` for more than `RULE_NODES_MAX` nodes.
 */
export function compileRules(source: RuleSource): EssenceRules {
  const { ignore, defaults, keep = NONE, lists = [], nullIsAbsent = false } = source;
  const trie = new RuleTrie();
  if (defaults) {
    for (const pointer of DEFAULT_POINTERS) if (!keep.has(pointer)) trie.exclude(pointer);
    trie.setRole('/metadata', 'metadata');
    trie.setRole('/metadata/annotations', 'annotations');
  }
  for (const pointer of ignore) trie.exclude(pointer);
  for (const [pointer, order] of lists) trie.setList(pointer, order);
  const domains = new Set(defaults ? SOFT_PREFIXES.filter((prefix) => !keep.has(prefix)) : []);
  const prefixes = new Set(defaults ? [...HARD_PREFIXES, ...domains] : []);
  return { ...trie.compile(), prefixes, domains, hasLists: lists.length > 0, nullIsAbsent };
}

const NONE: ReadonlySet<string> = new Set();

/** A node of the trie as written, where `*` is a segment like any other. */
interface RulePart {
  readonly id: number;
  readonly children: Map<string, RulePart>;
  excluded: boolean;
  role: RuleRole;
  list: ListOrder | undefined;
}

class RuleTrie {
  #parts = 0;
  readonly #root: RulePart = this.#create();
  readonly #nodes: RuleNode[] = [];
  /** Compiled nodes by the parts they stand for. */
  readonly #known = new Map<string, RuleNode>();

  exclude(pointer: string): void {
    this.#find(pointer, 'ignore').excluded = true;
  }

  /** The first one stays: who declares a list for a kind means it more than who declares it for all. */
  setList(pointer: string, order: ListOrder): void {
    this.#find(pointer, 'lists').list ??= order;
  }

  setRole(pointer: string, role: RuleRole): void {
    this.#find(pointer, 'ignore').role = role;
  }

  compile(): Pick<EssenceRules, 'root' | 'nodes'> {
    if (this.#root.children.size === 0) return { root: undefined, nodes: [] };
    return { root: this.#merge([this.#root]), nodes: this.#nodes };
  }

  #create(): RulePart {
    return { id: this.#parts++, children: new Map(), excluded: false, role: 'none', list: undefined };
  }

  #find(pointer: string, option: string): RulePart {
    let part = this.#root;
    for (const segment of parsePointer(pointer, option)) {
      let child = part.children.get(segment);
      if (child === undefined) {
        child = this.#create();
        part.children.set(segment, child);
      }
      part = child;
    }
    return part;
  }

  /** The node for a place that all of `parts` describe. */
  #merge(parts: readonly RulePart[]): RuleNode {
    const key = parts.map(({ id }) => id).join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const id = this.#nodes.length + 1;
    if (id > RULE_NODES_MAX) {
      throw new LimitExceededError(ACTION, { limit: 'the number of rule nodes', max: RULE_NODES_MAX, actual: id });
    }
    const excluded = parts.some((part) => part.excluded);
    const role = parts.find((part) => part.role !== 'none')?.role ?? 'none';
    // Of an index and a `*`, the index comes first.
    const list = parts.find((part) => part.list !== undefined)?.list;
    const names = new Map<string, RuleNode>();
    const indexes = new Map<number, RuleNode>();
    const everyElement = excluded ? [] : childrenOf(parts, ANY);
    const place = this.#nodes.push({ id, excluded, role, list, names, indexes, any: undefined }) - 1;
    const segments = new Set(excluded ? [] : parts.flatMap((part) => [...part.children.keys()]));
    for (const segment of segments) {
      if (segment === ANY) continue;
      const children = childrenOf(parts, segment);
      const name = unescapeSegment(segment);
      names.set(name, this.#merge(children));
      if (isIndex(name)) indexes.set(Number(name), this.#merge([...children, ...everyElement]));
    }
    const any = everyElement.length === 0 ? undefined : this.#merge(everyElement);
    const node: RuleNode = { id, excluded, role, list, names, indexes, any };
    this.#nodes[place] = node;
    this.#known.set(key, node);
    return node;
  }
}

const ACTION = 'create the essence hasher';
/** Matches every element of an array, and nothing in an object. */
const ANY = '*';
/** No array has an element beyond this one. */
const INDEX_MAX = 0x7fffffff;

function childrenOf(parts: readonly RulePart[], segment: string): readonly RulePart[] {
  return parts.flatMap((part) => part.children.get(segment) ?? []);
}

function isIndex(name: string): boolean {
  return /^(0|[1-9][0-9]{0,9})$/.test(name) && Number(name) <= INDEX_MAX;
}

/** The segments of a JSON pointer (RFC 6901), still escaped: `*` and the name `*` would be one otherwise. */
function parsePointer(pointer: unknown, option: string): readonly string[] {
  if (typeof pointer !== 'string') {
    throw new TypeError(`Cannot ${ACTION}: an ${option} entry is of type ${typeof pointer}, not a JSON pointer`);
  }
  const refuse = (reason: string): TypeError =>
    new TypeError(`Cannot ${ACTION}: the ${option} pointer ${JSON.stringify(pointer)} ${reason}`);
  if (pointer === '') throw refuse('is the whole document');
  if (!pointer.startsWith('/')) throw refuse('does not start with "/"');
  if (/~(?![01])/.test(pointer)) throw refuse('has a "~" that is neither "~0" nor "~1"');
  if (!pointer.isWellFormed()) throw refuse('has half of a surrogate pair');
  const segments = pointer.slice(1).split('/');
  if (segments.length > DEPTH_MAX) throw refuse(`names a place more than ${DEPTH_MAX} levels deep`);
  return segments;
}
