import { checkChoice, checkMembers } from '../../store/checks.ts';
import { shown } from '../../types/shown.ts';

/** A kind of objects that an API server serves. */
export interface ApiKind {
  /** `apps`, `example.com`; '' is the core group, below `/api`, and no other is named `core`. @default '' */
  readonly group?: string;
  /** `v1`. Kinds that differ in their version alone are one set of objects, shown with either. */
  readonly version: string;
  /** `Pod`. */
  readonly kind: string;
  /** The name in paths: `pods`. */
  readonly plural: string;
  /** @default the kind in lower case */
  readonly singular?: string;
  /** @default the kind with `List` */
  readonly listKind?: string;
  /** Whether its objects are in namespaces. @default true */
  readonly namespaced?: boolean;
  /** `po`, for people. @default none */
  readonly shortNames?: readonly string[];
  /** `all`. @default none */
  readonly categories?: readonly string[];
  /**
   * Whether `/status` is a subresource: then writes of the object keep the status, and writes of its status keep the rest.
   *
   * @default false
   */
  readonly status?: boolean;
  /**
   * Whether it behaves as a custom resource: items of a list have `kind` and `apiVersion`, an update needs a resource version,
   * and there is no strategic merge patch. @default true for a group with a dot that does not end in `.k8s.io`
   */
  readonly custom?: boolean;
  /**
   * What its objects may be called: `subdomain`, lower-case DNS names; `segment`, whatever is one segment of a path (`system:node`), as
   * Kubernetes has it for roles and their bindings.
   *
   * @default 'segment' for the group `rbac.authorization.k8s.io`, else 'subdomain'
   */
  readonly names?: 'subdomain' | 'segment';
  /** What a field selector may name besides `metadata.name` and `metadata.namespace`: `spec.nodeName`. @default none */
  readonly fieldSelectors?: readonly string[];
}

/** A kind with its defaults. */
export interface ServedKind extends Required<ApiKind> {
  /** As in objects: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** As in messages: `pods`, `deployments.apps`. The name of the set of objects, whatever their version. */
  readonly resource: string;
}

const NAMES: ReadonlySet<string> = new Set<keyof ApiKind>([
  'categories',
  'custom',
  'fieldSelectors',
  'group',
  'kind',
  'listKind',
  'names',
  'namespaced',
  'plural',
  'shortNames',
  'singular',
  'status',
  'version',
]);
const ACTION = 'serve a kind';
/** A DNS label, and several with dots. */
export const LABEL: RegExp = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
/** Kubernetes' rule: a DNS label in letters of either case. `postgresql` of acid.zalan.do is one. */
const KIND = /^[A-Za-z](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const GROUP = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?){0,19}$/;
/** Where the objects of the core group are kept. */
export const CORE = 'core' as const;

/** Throws TypeError for what is no kind. */
export function servedKind(given: ApiKind): ServedKind {
  checkMembers(given, NAMES, ACTION, 'the kind is not an object', 'member');
  const { group = '', version, kind, plural, namespaced = true, status = false } = given;
  const singular = given.singular ?? text('kind', kind).toLowerCase();
  const listKind = given.listKind ?? `${kind}List`;
  const custom = given.custom ?? (group.includes('.') && !group.endsWith('.k8s.io'));
  const names = given.names ?? (group === 'rbac.authorization.k8s.io' ? 'segment' : 'subdomain');
  checkChoice('names', names, ACTION, ['subdomain', 'segment']);
  for (const [name, value] of Object.entries({ group, version, kind, plural, singular, listKind })) text(name, value);
  for (const [name, value] of Object.entries({ namespaced, status, custom })) {
    if (typeof value !== 'boolean') throw new TypeError(`Cannot ${ACTION}: ${name} is ${shown(value)}, not a boolean`);
  }
  if (group === CORE || (group !== '' && !GROUP.test(group)))
    throw new TypeError(`Cannot ${ACTION}: ${shown(group)} is no group`);
  if (!LABEL.test(version)) throw new TypeError(`Cannot ${ACTION}: ${shown(version)} is no version`);
  if (!LABEL.test(plural)) throw new TypeError(`Cannot ${ACTION}: ${shown(plural)} is no plural`);
  if (!KIND.test(kind)) throw new TypeError(`Cannot ${ACTION}: ${shown(kind)} is no kind`);
  return Object.freeze({
    group,
    version,
    kind,
    plural,
    singular,
    listKind,
    namespaced,
    shortNames: texts('shortNames', given.shortNames),
    categories: texts('categories', given.categories),
    status,
    custom,
    names,
    fieldSelectors: texts('fieldSelectors', given.fieldSelectors),
    apiVersion: group === '' ? version : `${group}/${version}`,
    resource: qualifiedName(plural, group),
  });
}

/** `pods`, `deployments.apps`: a name, and the group that it is of. */
export function qualifiedName(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`;
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`Cannot ${ACTION}: ${name} is ${shown(value)}, not a text`);
}

function texts(name: string, value: readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new TypeError(`Cannot ${ACTION}: ${name} is ${shown(value)}, not a list`);
  return Object.freeze(value.map((item) => text(name, item)));
}
