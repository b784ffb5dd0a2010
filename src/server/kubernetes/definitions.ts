import { ObjectNotFoundError } from '../../storage/errors.ts';
import type { Storage } from '../../storage/types.ts';
import { invalid } from './api-status.ts';
import type { KindRegistry } from './kind-registry.ts';
import { type ApiKind, type ServedKind, servedKind } from './kinds.ts';
import { type ApiObject, isRecord, keyOf } from './stored-object.ts';

const RESOURCE = 'customresourcedefinitions.apiextensions.k8s.io';

/** Whether objects of this kind define kinds. */
export function isDefinition({ resource }: ServedKind): boolean {
  return resource === RESOURCE;
}

/**
 * Kinds that come and go with objects: each CustomResourceDefinition is served from its creation to its deletion, and what is
 * left of its objects then goes with it. There is no schema: every object is taken.
 */
export class Definitions {
  readonly #registry: KindRegistry;
  readonly #storage: Storage<ApiObject>;

  constructor(registry: KindRegistry, storage: Storage<ApiObject>) {
    this.#registry = registry;
    this.#storage = storage;
  }

  /** Serves what is defined in the store already. */
  async load(): Promise<void> {
    const { items } = await this.#storage.list(`/apiextensions.k8s.io/customresourcedefinitions`, { recursive: true });
    for (const definition of items) for (const kind of kindsOf(definition)) this.#registry.add(kind);
  }

  /** Before it is written. Throws `RequestRefused` (422) for what defines no kind, or one whose names are taken. */
  check(definitionKind: ServedKind, definition: ApiObject): void {
    const { name = '' } = definition.metadata ?? {};
    try {
      const kinds = kindsOf(definition).map(servedKind);
      for (const kind of kinds) {
        if (kind.resource !== name) throw new TypeError(`the name must be ${kind.resource}`);
        for (const { group, versions } of this.#registry.groups()) {
          const others = versions.flatMap((version) => version.kinds);
          const isTaken = others.some((other) => other.kind === kind.kind && other.plural !== kind.plural);
          if (group === kind.group && isTaken) throw new RangeError(`${kind.kind} is the kind of another resource`);
        }
      }
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      throw invalid(definitionKind, name, 'spec', `Invalid value: ${error.message}`);
    }
  }

  /** After it was written: serves its versions as they are now. Returns it as Kubernetes shows one that is served. */
  async apply(definitionKind: ServedKind, definition: ApiObject): Promise<ApiObject> {
    const wanted = kindsOf(definition);
    const [any] = wanted;
    if (any !== undefined) {
      const served = this.#registry.groups().find(({ group }) => group === any.group)?.versions ?? [];
      const names = wanted.map(({ version }) => version);
      for (const { version, kinds } of served) {
        if (!names.includes(version)) this.#registry.remove({ group: any.group ?? '', plural: any.plural, version });
        else if (kinds.some(({ plural }) => plural === any.plural)) names.splice(names.indexOf(version), 1);
      }
      for (const kind of wanted) if (names.includes(kind.version)) this.#registry.add(kind);
    }
    const { spec, metadata = {} } = definition as ApiObject & { readonly spec: { readonly names: object } };
    const conditions = ['NamesAccepted', 'Established'].map((type) => ({
      type,
      status: 'True',
      reason: type === 'Established' ? 'InitialNamesAccepted' : 'NoConflicts',
      lastTransitionTime: metadata.creationTimestamp,
    }));
    const status = { acceptedNames: spec.names, conditions, storedVersions: wanted.map(({ version }) => version) };
    const key = keyOf(definitionKind, '', metadata.name ?? '');
    return this.#storage.guaranteedUpdate(key, (current) => ({ ...current, status }));
  }

  /** After it was deleted. Its objects go first, whatever finalizers they have, so that who watches them hears of each. */
  async remove(definition: ApiObject): Promise<void> {
    const [kind] = kindsOf(definition).map(servedKind);
    if (kind === undefined) return;
    const { items } = await this.#storage.list(keyOf(kind, '', ''), { recursive: true });
    for (const { metadata = {} } of items) {
      const key = keyOf(kind, metadata.namespace ?? '', metadata.name ?? '');
      await this.#storage.delete(key).catch((error: unknown) => {
        if (!(error instanceof ObjectNotFoundError)) throw error;
      });
    }
    this.#registry.remove(kind.group === '' ? { plural: kind.plural } : { group: kind.group, plural: kind.plural });
  }
}

/** One for each version that is served. Throws TypeError for what is no definition. */
function kindsOf(definition: ApiObject): readonly ApiKind[] {
  const { spec } = definition as { readonly spec?: unknown };
  if (!isRecord(spec) || !isRecord(spec.names) || !Array.isArray(spec.versions)) {
    throw new TypeError('a definition has names and versions');
  }
  const { plural, singular, kind, listKind, shortNames, categories } = spec.names;
  const names = Object.entries({ singular, listKind, shortNames, categories }).filter(
    ([, value]) => value !== undefined,
  );
  const versions: readonly unknown[] = spec.versions;
  return versions
    .filter(isRecord)
    .filter(({ served }) => served !== false)
    .map(({ name, subresources, selectableFields }) => ({
      group: spec.group as string,
      version: name as string,
      kind: kind as string,
      plural: plural as string,
      ...Object.fromEntries(names),
      namespaced: spec.scope !== 'Cluster',
      status: isRecord(subresources) && isRecord(subresources.status),
      custom: true,
      fieldSelectors: Array.isArray(selectableFields)
        ? selectableFields.filter(isRecord).map(({ jsonPath }) => String(jsonPath).replace(/^\./, ''))
        : [],
    }));
}
