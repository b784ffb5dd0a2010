import { ObjectNotFoundError } from '../../storage/errors.ts';
import type { Storage } from '../../storage/types.ts';
import { plainEqual } from '../../system/plain-equal.ts';
import { invalid } from './api-status.ts';
import { type DefinedKinds, definedKinds, definitionStatus } from './definition.ts';
import type { KindRegistry } from './kind-registry.ts';
import type { ServedKind } from './kinds.ts';
import { type ApiObject, keyOf } from './stored-object.ts';

const PLACE = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions', namespaced: false } as const;

/** Whether objects of this kind define kinds. */
export function isDefinition({ group, plural }: ServedKind): boolean {
  return group === PLACE.group && plural === PLACE.plural;
}

/**
 * Kinds that come and go with objects: each CustomResourceDefinition is served from its creation to its deletion, and what is
 * left of its objects then goes with it. There is no schema: every object is taken.
 *
 * What is served follows from what is stored, whatever happened on the way: a write that failed half-way, a client that did not
 * wait, another server on the same store. After each write of definitions, one pass at a time:
 *
 * ```text
 *   served by this, and no longer stored   its objects go, then the kind, then what was created meanwhile
 *   stored                                 served as it says now; status.conditions, acceptedNames, storedVersions say so
 *   stored, but its names are taken        as it was served before, NamesAccepted is False; tried again in the next pass
 * ```
 */
export class Definitions {
  readonly #registry: KindRegistry;
  readonly #storage: Storage<ApiObject>;
  /** What is served by definitions, by their names. */
  readonly #served = new Map<string, readonly ServedKind[]>();
  /** All kinds that definitions have ever served, for requests that are still about them. */
  readonly #defined = new WeakSet<ServedKind>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(registry: KindRegistry, storage: Storage<ApiObject>) {
    this.#registry = registry;
    this.#storage = storage;
  }

  /** Whether a definition has this kind served, or had. */
  has(kind: ServedKind): boolean {
    return this.#defined.has(kind);
  }

  /** Before it is written. Throws `RequestRefused` (422) for what defines no kind, or one whose names are taken. */
  check(definitionKind: ServedKind, definition: ApiObject): void {
    const why = this.#obstacle(definition);
    if (typeof why !== 'string') return;
    throw invalid(definitionKind, definition.metadata?.name ?? '', 'spec', `Invalid value: ${why}`);
  }

  /**
   * Makes what is served follow from what is stored. To be called after each write of definitions, also of one that failed; and with
   * the name of a definition after a write of one of its objects, if it went meanwhile.
   */
  reconcile(left?: string): Promise<void> {
    const pass = this.#last.then(() => this.#pass(left));
    this.#last = Promise.allSettled([pass]);
    return pass;
  }

  async #pass(left: string | undefined): Promise<void> {
    const { items } = await this.#storage.list(keyOf(PLACE, '', ''), { recursive: true });
    const stored = new Map(items.map((definition) => [definition.metadata?.name ?? '', definition]));
    for (const name of new Set([...this.#served.keys(), ...(left === undefined ? [] : [left])])) {
      if (!stored.has(name)) await this.#remove(name);
    }
    // Who was there first keeps its names.
    const isNew = ([name]: readonly [string, ApiObject]) => Number(!this.#served.has(name));
    for (const [name, definition] of [...stored].sort((a, b) => isNew(a) - isNew(b))) {
      const kinds = this.#obstacle(definition);
      if (typeof kinds !== 'string') this.#serve(name, kinds);
      await this.#say(name, kinds);
    }
  }

  #serve(name: string, { kinds }: DefinedKinds): void {
    const now = kinds.map((kind) => this.#registry.set(kind));
    for (const kind of now) this.#defined.add(kind);
    for (const { group, plural, version } of this.#served.get(name) ?? []) {
      if (!now.some((kind) => kind.version === version)) this.#registry.remove({ group, plural, version });
    }
    this.#served.set(name, now);
  }

  /** What it is served as, for its readers. */
  async #say(name: string, kinds: DefinedKinds | string): Promise<void> {
    const say = (current: ApiObject | undefined): ApiObject => {
      const status = definitionStatus(current ?? {}, kinds);
      return plainEqual(status, current?.status) ? { ...current } : { ...current, status };
    };
    await this.#storage.guaranteedUpdate(keyOf(PLACE, '', name), say).catch(unlessGone);
  }

  /** Its objects go first, whatever finalizers they have, so that who watches them hears of each. */
  async #remove(name: string): Promise<void> {
    const [plural = '', ...rest] = name.split('.');
    const group = rest.join('.');
    await this.#empty(group, plural);
    for (const { version } of this.#served.get(name) ?? []) this.#registry.remove({ group, plural, version });
    this.#served.delete(name);
    await this.#empty(group, plural);
  }

  async #empty(group: string, plural: string): Promise<void> {
    const { items } = await this.#storage.list(keyOf({ group, plural, namespaced: false }, '', ''), {
      recursive: true,
    });
    for (const { metadata = {} } of items) {
      const { namespace = '', name = '' } = metadata;
      await this.#storage.delete(keyOf({ group, plural, namespaced: true }, namespace, name)).catch(unlessGone);
    }
  }

  /** The kinds of a definition, or why it cannot be served. */
  #obstacle(definition: ApiObject): DefinedKinds | string {
    const defined = definedKinds(definition);
    if (typeof defined === 'string') return defined;
    const { group, plural, kind } = defined;
    const versions = this.#registry.groups().find((one) => one.group === group)?.versions ?? [];
    for (const other of versions.flatMap(({ kinds }) => kinds)) {
      if (other.kind === kind && other.plural !== plural) return `${kind} is the kind of another resource`;
      // One that a test has registered by itself: the definition takes it over, if it is the same.
      if (other.plural === plural && other.kind !== kind && !this.#defined.has(other)) {
        return `${plural} is the plural of another kind`;
      }
    }
    return defined;
  }
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof ObjectNotFoundError)) throw error;
}
