import { plainEqual } from '../../system/plain-equal.ts';
import { type ApiKind, type ServedKind, servedKind } from './kinds.ts';

/** A kind that is served, and the signal of the time when it no longer is. */
export interface Registration {
  readonly kind: ServedKind;
  readonly gone: AbortSignal;
}

/** The versions of a group, the preferred one first. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly { readonly version: string; readonly kinds: readonly ServedKind[] }[];
}

/** So many kinds, and no more: discovery is one answer. */
const KINDS_MAX = 10_000;
const ACTION = 'register a kind';

/**
 * The kinds that are served now. They come and go while the server runs; who watches one that goes hears of it by its signal.
 */
export class KindRegistry {
  readonly #served = new Map<string, Registration & { readonly end: AbortController }>();

  /** Throws TypeError for what is no kind, RangeError for a name that is taken and above 10,000 kinds. */
  add(given: ApiKind): ServedKind {
    const kind = servedKind(given);
    if (this.#served.size >= KINDS_MAX) throw new RangeError(`Cannot ${ACTION}: ${KINDS_MAX} kinds are served already`);
    for (const { kind: other } of this.#served.values()) {
      if (other.apiVersion !== kind.apiVersion) continue;
      if (other.plural === kind.plural || other.kind === kind.kind) {
        throw new RangeError(`Cannot ${ACTION}: ${kind.apiVersion} has ${other.kind} (${other.plural}) already`);
      }
    }
    this.#put(kind);
    return kind;
  }

  /** Serves it from now on, in place of what the same path was of; then watches of that end. No difference is no change. */
  set(kind: ServedKind): ServedKind {
    const before = this.#served.get(idOf(kind));
    if (before !== undefined && plainEqual(before.kind, kind)) return before.kind;
    this.#put(kind);
    before?.end.abort();
    return kind;
  }

  #put(kind: ServedKind): void {
    const end = new AbortController();
    this.#served.set(idOf(kind), { kind, end, gone: end.signal });
  }

  /** All versions of it, or one. Returns how many there were. */
  remove({ group = '', plural, version }: Pick<ApiKind, 'group' | 'plural'> & { readonly version?: string }): number {
    const found = [...this.#served].filter(
      ([, { kind }]) =>
        kind.group === group && kind.plural === plural && (version === undefined || kind.version === version),
    );
    for (const [id, { end }] of found) {
      this.#served.delete(id);
      end.abort();
    }
    return found.length;
  }

  find(group: string, version: string, plural: string): Registration | undefined {
    return this.#served.get(idOf({ group, version, plural }));
  }

  /** In the order of their first kinds; the core group, which need not have any, is not among them without one. */
  groups(): readonly ServedGroup[] {
    const groups = new Map<string, Map<string, ServedKind[]>>();
    for (const { kind } of this.#served.values()) {
      const versions = groups.get(kind.group) ?? new Map<string, ServedKind[]>();
      groups.set(kind.group, versions);
      versions.set(kind.version, [...(versions.get(kind.version) ?? []), kind]);
    }
    return [...groups].map(([group, versions]) => ({
      group,
      versions: [...versions]
        .map(([version, kinds]) => ({ version, kinds }))
        .sort((a, b) => compareVersions(a.version, b.version)),
    }));
  }
}

function idOf({ group, version, plural }: Pick<ServedKind, 'group' | 'version' | 'plural'>): string {
  return `${group}/${version}/${plural}`;
}

/**
 * The order in which Kubernetes prefers versions: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, foo1, foo10.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  for (const [index, part] of left.entries()) {
    const other = right[index] ?? 0;
    if (part !== other) return other - part;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function rankOf(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const [, major, stage, minor] = match;
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)];
}
