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
  /** Children for the members of an object. */
  readonly names: ReadonlyMap<string, RuleNode>;
  /** Children for the elements of an array that an index names; they have the rules of `any` too. */
  readonly indexes: ReadonlyMap<number, RuleNode>;
  /** The child for all other elements of an array. */
  readonly any: RuleNode | undefined;
}

/** `metadata`: empty containers below go. `annotations`: names are judged by prefix. Both only with the defaults. */
export type RuleRole = 'none' | 'metadata' | 'annotations';

export interface EssenceRules {
  /** `undefined`: nothing is left out. */
  readonly root: RuleNode | undefined;
  readonly nodes: readonly RuleNode[];
}

/** Nodes of the compiled trie; more is `LimitExceededError`. */
export const RULE_NODES_MAX = 65_536;

/** Removed by default (D17); the reason for each stands in `docs/essence.md`. */
export const DEFAULT_POINTERS: readonly string[] = [
  '/apiVersion',
  '/kind',
  '/status',
  '/metadata/name',
  '/metadata/namespace',
  '/metadata/generateName',
  '/metadata/uid',
  '/metadata/resourceVersion',
  '/metadata/generation',
  '/metadata/creationTimestamp',
  '/metadata/deletionTimestamp',
  '/metadata/deletionGracePeriodSeconds',
  '/metadata/finalizers',
  '/metadata/ownerReferences',
  '/metadata/managedFields',
  '/metadata/selfLink',
  '/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration',
  '/metadata/annotations/deployment.kubernetes.io~1revision',
  '/metadata/annotations/control-plane.alpha.kubernetes.io~1leader',
  '/metadata/annotations/endpoints.kubernetes.io~1last-change-trigger-time',
];

/** Annotations with exactly these prefixes are bookkeeping: Plimsoll's own first. */
export const ANNOTATION_PREFIXES: ReadonlySet<string> = new Set(['plimsoll.dev', 'cattle.io']);
/** So are annotations whose prefix is a subdomain of these. */
export const ANNOTATION_DOMAINS: ReadonlySet<string> = new Set(['cattle.io']);
/** An annotation `<prefix>/<this>` says that all annotations of the prefix are the bookkeeping of a Plimsoll operator. */
export const ANNOTATION_MARKERS: ReadonlySet<string> = new Set(['plimsoll-managed']);

/** The length of an annotation's prefix with its slash; 0 without one. */
export function annotationPrefixLength(name: string): number {
  return name.indexOf('/') + 1;
}

/** Whether the prefix, without its slash, is one whose annotations are removed. */
export function isRemovedPrefix(prefix: string): boolean {
  if (ANNOTATION_PREFIXES.has(prefix)) return true;
  for (let dot = prefix.indexOf('.'); dot >= 0; dot = prefix.indexOf('.', dot + 1)) {
    if (ANNOTATION_DOMAINS.has(prefix.slice(dot + 1))) return true;
  }
  return false;
}

/**
 * Compiles the rules.
 *
 * Throws `TypeError` naming a pointer that is malformed, and `LimitExceededError` for more than `RULE_NODES_MAX` nodes.
 */
export function compileRules(ignore: readonly string[], defaults: boolean): EssenceRules {
  const trie = new RuleTrie();
  if (defaults) {
    for (const pointer of DEFAULT_POINTERS) trie.add(pointer);
    trie.setRole('/metadata', 'metadata');
    trie.setRole('/metadata/annotations', 'annotations');
  }
  for (const pointer of ignore) trie.add(pointer);
  return trie.compile();
}

/** A node of the trie as written, where `*` is a segment like any other. */
interface RulePart {
  readonly id: number;
  readonly children: Map<string, RulePart>;
  excluded: boolean;
  role: RuleRole;
}

class RuleTrie {
  #parts = 0;
  readonly #root: RulePart = this.#create();
  readonly #nodes: RuleNode[] = [];
  /** Compiled nodes by the parts they stand for. */
  readonly #known = new Map<string, RuleNode>();

  add(pointer: string): void {
    this.#find(pointer).excluded = true;
  }

  setRole(pointer: string, role: RuleRole): void {
    this.#find(pointer).role = role;
  }

  compile(): EssenceRules {
    if (this.#root.children.size === 0) return { root: undefined, nodes: [] };
    return { root: this.#merge([this.#root]), nodes: this.#nodes };
  }

  #create(): RulePart {
    return { id: this.#parts++, children: new Map(), excluded: false, role: 'none' };
  }

  #find(pointer: string): RulePart {
    let part = this.#root;
    for (const segment of parsePointer(pointer)) {
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
    const names = new Map<string, RuleNode>();
    const indexes = new Map<number, RuleNode>();
    const everyElement = excluded ? [] : childrenOf(parts, ANY);
    const place = this.#nodes.push({ id, excluded, role, names, indexes, any: undefined }) - 1;
    const segments = new Set(excluded ? [] : parts.flatMap((part) => [...part.children.keys()]));
    for (const segment of segments) {
      if (segment === ANY) continue;
      const children = childrenOf(parts, segment);
      const name = unescapeSegment(segment);
      names.set(name, this.#merge(children));
      if (isIndex(name)) indexes.set(Number(name), this.#merge([...children, ...everyElement]));
    }
    const any = everyElement.length === 0 ? undefined : this.#merge(everyElement);
    const node: RuleNode = { id, excluded, role, names, indexes, any };
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
function parsePointer(pointer: unknown): readonly string[] {
  if (typeof pointer !== 'string') {
    throw new TypeError(`Cannot ${ACTION}: an ignore entry is of type ${typeof pointer}, not a JSON pointer`);
  }
  const refuse = (reason: string): TypeError =>
    new TypeError(`Cannot ${ACTION}: the ignore pointer ${JSON.stringify(pointer)} ${reason}`);
  if (pointer === '') throw refuse('is the whole document');
  if (!pointer.startsWith('/')) throw refuse('does not start with "/"');
  if (/~(?![01])/.test(pointer)) throw refuse('has a "~" that is neither "~0" nor "~1"');
  if (!pointer.isWellFormed()) throw refuse('has half of a surrogate pair');
  const segments = pointer.slice(1).split('/');
  if (segments.length > DEPTH_MAX) throw refuse(`names a place more than ${DEPTH_MAX} levels deep`);
  return segments;
}
