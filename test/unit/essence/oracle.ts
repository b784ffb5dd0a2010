/**
 * The essence by the book, slowly: parse, remove, write. Shares no code with `src/`, and takes another way wherever it
 * can: it works on a copy of the value instead of a trie, and judges every path by matching it against every pointer.
 */
export interface OracleOptions {
  readonly ignore?: readonly string[];
  readonly defaults?: boolean;
  readonly keep?: readonly string[];
  readonly lists?: Readonly<Record<string, 'set' | { readonly key: string | readonly string[] }>>;
  readonly nullIsAbsent?: boolean;
}

type Path = readonly (string | number)[];

const HARD_METADATA = ['resourceVersion', 'managedFields', 'selfLink', 'generation', 'uid', 'creationTimestamp'];
const SOFT_METADATA = ['deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers', 'ownerReferences'];
const IDENTITY = ['name', 'namespace', 'generateName'];
const CHURN = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
  'control-plane.alpha.kubernetes.io/leader',
  'endpoints.kubernetes.io/last-change-trigger-time',
];

export function oracleText(value: unknown, options: OracleOptions = {}): string {
  const pointers = (options.ignore ?? []).map((pointer) => pointer.split('/').slice(1));
  const defaults = (options.defaults ?? true) && isObject(value);
  const markers = defaults ? markedPrefixes(value) : [];
  const isPutBack = (path: Path): boolean =>
    (options.keep ?? []).some((entry) =>
      entry.startsWith('/')
        ? matches(entry.split('/').slice(1), path)
        : path.length === 3 && `.${path[2]}`.split('/')[0]?.endsWith(`.${entry}`) && !isMarked(path, markers),
    );
  const isRemoved = (path: Path): boolean =>
    pointers.some((pointer) => matches(pointer, path)) ||
    (defaults && isBookkeeping(path, markers) && !(isPutBack(path) && !isMarked(path, markers)));
  const kept = remove(value, [], {
    isRemoved,
    nullIsAbsent: options.nullIsAbsent ?? false,
    orderOf: ordersOf(options),
  });
  if (defaults && kept instanceof Map) pruneMetadata(kept);
  return write(kept);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function matches(pointer: readonly string[], path: Path): boolean {
  if (pointer.length !== path.length) return false;
  return pointer.every((segment, place) => {
    const step = path[place];
    const name = segment.split('~1').join('/').split('~0').join('~');
    return typeof step === 'number' ? segment === '*' || name === `${step}` : segment !== '*' && name === step;
  });
}

/** What order there is in the list at a place: names of its key, none for a set. An index says more than a `*`. */
function ordersOf({ lists = {} }: OracleOptions): (path: Path) => readonly string[] | undefined {
  const rules = Object.entries(lists).map(([pointer, list]) => {
    const keys = list === 'set' ? [] : typeof list.key === 'string' ? [list.key] : list.key;
    return { segments: pointer.split('/').slice(1), keys };
  });
  return (path) =>
    rules
      .filter(({ segments }) => matches(segments, path))
      .sort((a, b) => rank(a.segments, path).localeCompare(rank(b.segments, path)))[0]?.keys;
}

/** Of two pointers that match one place, the one that names an index where the other has its last `*`. */
function rank(segments: readonly string[], path: Path): string {
  return segments
    .map((segment, place) => (typeof path[place] === 'number' && segment === '*' ? 'b' : 'a'))
    .reverse()
    .join('');
}

function isMarked(path: Path, markers: readonly string[]): boolean {
  const third = path[2];
  return (
    path.length === 3 && typeof third === 'string' && third.includes('/') && markers.includes(third.split('/')[0] ?? '')
  );
}

function isBookkeeping(path: Path, markers: readonly string[]): boolean {
  const [first, second, third] = path;
  if (path.length === 1) return first === 'apiVersion' || first === 'kind' || first === 'status';
  if (first !== 'metadata' || typeof second !== 'string') return false;
  if (path.length === 2) return [...HARD_METADATA, ...SOFT_METADATA, ...IDENTITY].includes(second);
  if (path.length !== 3 || second !== 'annotations' || typeof third !== 'string') return false;
  if (CHURN.includes(third)) return true;
  const [prefix, ...rest] = third.split('/');
  if (prefix === undefined || rest.length === 0) return false;
  return /^(plimsoll\.dev|(.*\.)?cattle\.io)$/s.test(prefix) || markers.includes(prefix);
}

function markedPrefixes(value: Record<string, unknown>): readonly string[] {
  const metadata = value.metadata;
  if (!isObject(metadata) || !isObject(metadata.annotations)) return [];
  return Object.keys(metadata.annotations).flatMap((name) => /^([^/]*)\/plimsoll-managed$/.exec(name)?.[1] ?? []);
}

interface Rules {
  readonly isRemoved: (path: Path) => boolean;
  readonly nullIsAbsent: boolean;
  readonly orderOf: (path: Path) => readonly string[] | undefined;
}

/** Of the arrays that are written in another order than they have. */
const orders = new WeakMap<object, readonly string[]>();

/** Objects become maps, so that no name is special. */
function remove(value: unknown, path: Path, rules: Rules): unknown {
  const { isRemoved, nullIsAbsent, orderOf } = rules;
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    value.forEach((element, index) => {
      if (!isRemoved([...path, index])) kept.push(remove(element, [...path, index], rules));
    });
    const order = orderOf(path);
    if (order !== undefined) orders.set(kept, order);
    return kept;
  }
  if (!isObject(value)) return value;
  const kept = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    if (isRemoved([...path, name]) || (nullIsAbsent && member === null)) continue;
    kept.set(name, remove(member, [...path, name], rules));
  }
  return kept;
}

function pruneMetadata(root: Map<string, unknown>): void {
  const metadata = root.get('metadata');
  if (!(metadata instanceof Map)) return;
  prune(metadata);
  if (metadata.size === 0) root.delete('metadata');
}

function prune(value: unknown): void {
  if (Array.isArray(value)) value.forEach(prune);
  if (!(value instanceof Map)) return;
  for (const [name, member] of value) {
    prune(member);
    if ((member instanceof Map && member.size === 0) || (Array.isArray(member) && member.length === 0)) {
      value.delete(name);
    }
  }
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${arranged(value).join(',')}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  const names = [...(value as Map<string, unknown>).keys()].sort(compareUnits);
  return `{${names.map((name) => `${JSON.stringify(name)}:${write(value.get(name))}`).join(',')}}`;
}

/** The texts of the elements, by bubble sort: nothing that `src/` does. */
function arranged(elements: readonly unknown[]): readonly string[] {
  const keys = orders.get(elements);
  const entries = elements.map((element) => ({ text: write(element), element }));
  if (keys === undefined) return entries.map(({ text }) => text);
  const keyOf = (element: unknown, name: string): string =>
    element instanceof Map && element.has(name) ? write(element.get(name)) : '';
  const order = (a: (typeof entries)[number], b: (typeof entries)[number]): number => {
    if (keys.length === 0) return compareUnits(a.text, b.text);
    return keys.map((name) => compareUnits(keyOf(a.element, name), keyOf(b.element, name))).find((d) => d !== 0) ?? 0;
  };
  for (let end = entries.length; end > 1; end--) {
    for (let place = 1; place < end; place++) {
      const [a, b] = [entries[place - 1], entries[place]];
      if (a !== undefined && b !== undefined && order(a, b) > 0) entries.splice(place - 1, 2, b, a);
    }
  }
  const texts = entries.map(({ text }) => text);
  return keys.length > 0 ? texts : texts.filter((text, place) => texts.indexOf(text) === place);
}

function compareUnits(a: string, b: string): number {
  for (let place = 0; place < Math.min(a.length, b.length); place++) {
    const difference = a.charCodeAt(place) - b.charCodeAt(place);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
