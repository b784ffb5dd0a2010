// A block comment would end at the first of these patterns.
//
// Patterns of `apiVersion/kind`, and which of them match an object:
//
//   apps/v1 Deployment    apps/v1/Deployment   apps/v1/*   apps/*/Deployment   */Deployment   apps/*/*   */*
//   v1 Secret             v1/Secret            v1/*                            */Secret                  */*
//
// So an object has at most six, and finding its patterns costs as many look-ups, however many there are.

export type KindPattern = string;

/** Sets of patterns whose rules are kept compiled; of more, those used last. */
export const KIND_SETS_MAX = 32;

/** Throws `TypeError` for what is no pattern. */
export function parseKindPattern(pattern: string): KindPattern {
  const segments = pattern.split('/');
  const [first] = segments;
  const isWhole = segments.every((segment) => segment === ANY || (segment !== '' && !segment.includes(ANY)));
  if (!isWhole || segments.length < 2 || segments.length > 3 || (segments.length === 3 && first === ANY)) {
    throw new TypeError(
      `Cannot create the essence hasher: the kind ${JSON.stringify(pattern)} is not apiVersion/kind, as "apps/v1/Deployment", "v1/Secret" or "*/Deployment"`,
    );
  }
  return pattern;
}

/** The kind of an object, as far as it tells: nothing is matched by what is no object, and by names no API server takes. */
export function kindOf(value: unknown): { readonly apiVersion: string; readonly kind: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const apiVersion: unknown = Object.hasOwn(value, 'apiVersion') ? Reflect.get(value, 'apiVersion') : undefined;
  const kind: unknown = Object.hasOwn(value, 'kind') ? Reflect.get(value, 'kind') : undefined;
  return typeof apiVersion === 'string' && typeof kind === 'string' ? { apiVersion, kind } : undefined;
}

/** Whether the pattern is one of the object's. */
export function isOfKind(value: unknown, pattern: KindPattern): boolean {
  return candidates(value).includes(pattern);
}

/** What was made for each pattern, and for each set of patterns that some object matches. */
export class KindTable<Rules, Made> {
  readonly #rules: ReadonlyMap<KindPattern, Rules>;
  readonly #make: (rules: readonly Rules[]) => Made;
  /** By the patterns, in the order of their use. */
  readonly #made = new Map<string, Made>();

  constructor(rules: Iterable<readonly [KindPattern, Rules]>, make: (rules: readonly Rules[]) => Made) {
    this.#rules = new Map(rules);
    this.#make = make;
  }

  /** `undefined`: no pattern matches. The most telling pattern's rules come first. */
  find(value: unknown): Made | undefined {
    const matching = candidates(value).filter((pattern) => this.#rules.has(pattern));
    if (matching.length === 0) return undefined;
    const key = matching.join(' ');
    const made = this.#made.get(key) ?? this.#make(matching.map((pattern) => this.#rules.get(pattern) as Rules));
    this.#made.delete(key);
    this.#made.set(key, made);
    if (this.#made.size > KIND_SETS_MAX)
      for (const oldest of [...this.#made.keys()].slice(0, 1)) this.#made.delete(oldest);
    return made;
  }
}

const ANY = '*';

function candidates(value: unknown): readonly KindPattern[] {
  const { apiVersion = '', kind = '' } = kindOf(value) ?? {};
  const [group = '', version, ...rest] = apiVersion.split('/');
  const isName = [group, version ?? 'v', kind].every((name) => name !== '' && name !== ANY);
  if (!isName || rest.length > 0 || kind.includes('/')) return [];
  const wide = [`${ANY}/${kind}`, `${ANY}/${ANY}`];
  if (version === undefined) return [`${apiVersion}/${kind}`, `${apiVersion}/${ANY}`, ...wide];
  return [
    `${apiVersion}/${kind}`,
    `${apiVersion}/${ANY}`,
    `${group}/${ANY}/${kind}`,
    `${ANY}/${kind}`,
    `${group}/${ANY}/${ANY}`,
    `${ANY}/${ANY}`,
  ];
}
