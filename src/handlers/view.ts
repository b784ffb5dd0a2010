import { ValueError } from '../types/errors.ts';

/** Deepest nesting that is frozen or compared; deeper data is refused rather than overflow the stack. */
const DEPTH_MAX = 1000;

const OWN_ANNOTATIONS = 'plimsoll.dev/';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A place in an object: the keys from the root to it. */
export type Path = readonly string[];

/**
 * Reads `'spec.replicas'` or, where a key has a dot in it, the JSON pointer `'/metadata/annotations/a.b~1c'`.
 * Throws `TypeError` for an empty path or an empty key.
 */
export function parsePath(field: string): Path {
  const path = field.startsWith('/')
    ? field
        .slice(1)
        .split('/')
        .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    : field.split('.');
  if (path.some((key) => key === '')) throw new TypeError(`Cannot use field "${field}": it has an empty key`);
  return path;
}

/** The value at a path, `undefined` where there is none. Looks at own keys only. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/**
 * The default view of a handler: the object less what is bookkeeping or somebody's output.
 *
 * | gone | why |
 * |---|---|
 * | `status` | written by controllers, often by this one |
 * | `apiVersion`, `kind` | the same for the life of the object, whatever version it is served in |
 * | `metadata`, but for labels and annotations | changes with every write, or never |
 * | annotations `plimsoll.dev/*` | own writes |
 * | annotation `kubectl.kubernetes.io/last-applied-configuration` | a copy of the rest |
 *
 * Labels or annotations that end up empty go too, and so does an empty `metadata`; `spec: {}` stays. A value that is
 * not a plain object is its own view. Pure; the input is not changed, unchanged parts are shared with it.
 */
export function defaultView(object: unknown): unknown {
  if (typeof object !== 'object' || object === null || Array.isArray(object) || ArrayBuffer.isView(object)) {
    return object;
  }
  const {
    status: _status,
    apiVersion: _apiVersion,
    kind: _kind,
    metadata,
    ...view
  } = object as Record<string, unknown>;
  const kept = keptMetadata(metadata);
  return kept === undefined ? view : { ...view, metadata: kept };
}

function keptMetadata(metadata: unknown): object | undefined {
  const kept: { labels?: unknown; annotations?: unknown } = {};
  const labels = valueAt(metadata, ['labels']);
  if (!isEmpty(labels)) kept.labels = labels;
  const annotations = valueAt(metadata, ['annotations']);
  if (typeof annotations === 'object' && annotations !== null) {
    const foreign = Object.entries(annotations).filter(
      ([key]) => !key.startsWith(OWN_ANNOTATIONS) && key !== LAST_APPLIED,
    );
    if (foreign.length > 0) kept.annotations = Object.fromEntries(foreign);
  }
  return isEmpty(kept) ? undefined : kept;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

/**
 * Freezes plain data to the last leaf and returns it, so that no handler can change what another one sees (I5').
 * A frozen container is taken as frozen below. Bytes cannot be frozen and are left alone.
 */
export function deepFreeze<T>(value: T, depth = 0): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  if (depth > DEPTH_MAX) {
    throw new ValueError('freeze an object', { path: '', reason: `is nested deeper than ${DEPTH_MAX} levels` });
  }
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part, depth + 1);
  return value;
}

/** How views are told apart. `createEssenceHasher` makes one; any function of the value's JSON meaning will do. */
export interface ViewDigest {
  /** Equal for equal values, different for different ones, the same in every process. */
  digest(value: unknown): string;
}

/** JSON has no word for "nothing there", so it gets one that no hasher makes. */
const ABSENT = 'absent';

/** The digest of a handler's view. */
export function digestOfView(essence: ViewDigest, view: unknown): string {
  return view === undefined ? ABSENT : essence.digest(view);
}

/** The digest of a sub-handler: of what it sees and of its arguments. Never equal to that of a plain view. */
export function digestOfSub(essence: ViewDigest, view: unknown, args: unknown): string {
  const seen: { view?: unknown; args?: unknown } = {};
  if (view !== undefined) seen.view = view;
  if (args !== undefined) seen.args = args;
  return `sub:${essence.digest(seen)}`;
}
