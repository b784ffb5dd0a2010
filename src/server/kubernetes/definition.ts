import { plainEqual } from '../../system/plain-equal.ts';
import { type ApiKind, type ServedKind, servedKind } from './kinds.ts';
import { type ApiObject, isRecord } from './stored-object.ts';

/** What a CustomResourceDefinition says. */
export interface DefinedKinds {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  /** One for each version that is served, maybe none. */
  readonly kinds: readonly ServedKind[];
}

/** What a definition defines, or why it is none. */
export function definedKinds(definition: ApiObject): DefinedKinds | string {
  const { spec } = definition as { readonly spec?: unknown };
  if (!isRecord(spec) || !isRecord(spec.names) || !Array.isArray(spec.versions)) {
    return 'a definition has names and versions';
  }
  if (spec.group === '') return 'the group is required';
  const versions = (spec.versions as readonly unknown[]).filter(isRecord);
  try {
    // Those that are not served have to be right, too: they may be later.
    const all = versions.map((version) => servedKind(kindOf(spec, spec.names as Record<string, unknown>, version)));
    const [any] = all;
    if (any === undefined) return 'a definition has versions';
    if (any.resource !== definition.metadata?.name) return `the name must be ${any.resource}`;
    const kinds = all.filter((_, index) => versions[index]?.served !== false);
    return { group: any.group, plural: any.plural, kind: any.kind, kinds };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return error.message;
  }
}

function kindOf(
  spec: Record<string, unknown>,
  { plural, kind, singular, listKind, shortNames, categories }: Record<string, unknown>,
  { name, subresources, selectableFields }: Record<string, unknown>,
): ApiKind {
  const given = Object.entries({ singular, listKind, shortNames, categories });
  const fields = Array.isArray(selectableFields) ? selectableFields.filter(isRecord) : [];
  return {
    group: spec.group as string,
    version: name as string,
    kind: kind as string,
    plural: plural as string,
    ...Object.fromEntries(given.filter(([, value]) => (value ?? '') !== '')),
    namespaced: spec.scope !== 'Cluster',
    status: isRecord(subresources) && isRecord(subresources.status),
    custom: true,
    fieldSelectors: fields.map(({ jsonPath }) => (typeof jsonPath === 'string' ? jsonPath : '').replace(/^\./, '')),
  };
}

/** The status of a definition as Kubernetes has it; what others have written there stays. */
export function definitionStatus(definition: ApiObject, kinds: DefinedKinds | string): object {
  const { spec, status, metadata = {} } = definition as ApiObject & { readonly spec?: unknown };
  const old = isRecord(status) ? status : {};
  const conditions = Array.isArray(old.conditions) ? (old.conditions as readonly unknown[]) : [];
  const said = conditionsOf(kinds).map((condition) => {
    const before = conditions.find((one) => isRecord(one) && one.type === condition.type);
    // The time is that of the change: one that says the same goes on saying it.
    if (isRecord(before) && plainEqual({ ...before, ...condition }, before)) return before;
    return { ...condition, lastTransitionTime: metadata.creationTimestamp };
  });
  const others = conditions.filter((one) => !said.some(({ type }) => isRecord(one) && one.type === type));
  const all = { ...old, conditions: [...said, ...others] };
  if (typeof kinds === 'string' || !isRecord(spec)) return all;
  const versions = (spec.versions as readonly unknown[]).filter(isRecord);
  const stored = versions.filter(({ storage }) => storage === true).map(({ name }) => name);
  const before = Array.isArray(old.storedVersions) ? (old.storedVersions as readonly unknown[]) : [];
  return { ...all, acceptedNames: spec.names, storedVersions: [...new Set([...before, ...stored])] };
}

function conditionsOf(kinds: DefinedKinds | string): readonly (Record<string, unknown> & { readonly type: string })[] {
  if (typeof kinds === 'string') {
    return [
      { type: 'NamesAccepted', status: 'False', reason: 'NamesConflict', message: kinds },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ];
  }
  return [
    { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ];
}
