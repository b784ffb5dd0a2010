import type { InformerEvent } from '../../src/kubernetes/informer-core.ts';
import type { GroupKind, ResourceKey } from '../../src/resource-cache/resource-key.ts';
import type { Random } from '../../src/types/random.ts';

export interface WorldObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly ownerReferences: readonly { apiVersion: string; kind: string; name: string; uid?: string }[];
  };
  readonly tiers: readonly string[];
}

export const KINDS: readonly (GroupKind & { readonly isNamespaced: boolean })[] = [
  { group: '', kind: 'Node', isNamespaced: false },
  { group: 'apps', kind: 'Set', isNamespaced: true },
  { group: '', kind: 'Pod', isNamespaced: true },
];
const NAMESPACES = ['a', 'b'] as const;
const NAMES = ['x', 'y', 'z'] as const;
export const TIERS = ['front', 'back'] as const;

export function worldKey({ group, kind }: GroupKind, { metadata: { namespace = '', name } }: WorldObject): ResourceKey {
  return { group, kind, namespace, name };
}

/** One kind at a server: every state it had, and what a watch of it hears. */
export class KindWorld {
  readonly groupKind: (typeof KINDS)[number];
  readonly states: { readonly version: number; readonly objects: ReadonlyMap<string, WorldObject> }[] = [
    { version: 1, objects: new Map() },
  ];
  readonly sent: { readonly version: number; readonly event: InformerEvent & { readonly object: WorldObject } }[] = [];

  constructor(groupKind: (typeof KINDS)[number]) {
    this.groupKind = groupKind;
  }

  get objects(): ReadonlyMap<string, WorldObject> {
    return this.at(Number.POSITIVE_INFINITY);
  }

  at(version: number): ReadonlyMap<string, WorldObject> {
    return (this.states.findLast((state) => state.version <= version) ?? this.states[0])?.objects ?? new Map();
  }

  set(
    version: number,
    key: string,
    object: WorldObject | undefined,
    type: InformerEvent['type'],
    sent: WorldObject,
  ): void {
    const objects = new Map(this.objects);
    if (object === undefined) objects.delete(key);
    else objects.set(key, object);
    this.states.push({ version, objects });
    this.sent.push({ version, event: { type, object: sent } });
  }
}

/** An API server of a few kinds: objects come, change, change owners and tiers, go, and come again under their name. Owners form rings. */
export class ResourceWorld {
  readonly kinds: readonly KindWorld[] = KINDS.map((kind) => new KindWorld(kind));
  readonly #random: Random;
  #version = 1;
  #uids = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get version(): number {
    return this.#version;
  }

  change(): void {
    const world = this.#pick(this.kinds);
    const namespace = world.groupKind.isNamespaced ? this.#pick(NAMESPACES) : undefined;
    const name = this.#pick(NAMES);
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const before = world.objects.get(key);
    const version = ++this.#version;
    const place = namespace === undefined ? { name } : { name, namespace };
    const made = (uid: string): WorldObject => ({
      metadata: { ...place, uid, resourceVersion: String(version), ownerReferences: this.#owners(before) },
      tiers: TIERS.filter(() => this.#random() < 0.4),
    });
    const luck = this.#random();
    if (before === undefined) {
      const object = made(`u${++this.#uids}`);
      world.set(version, key, object, 'ADDED', object);
    } else if (luck < 0.35) {
      world.set(version, key, undefined, 'DELETED', {
        ...before,
        metadata: { ...before.metadata, resourceVersion: String(version) },
      });
    } else {
      const object = made(before.metadata.uid);
      world.set(version, key, object, 'MODIFIED', object);
    }
  }

  #owners(before: WorldObject | undefined): WorldObject['metadata']['ownerReferences'] {
    if (before !== undefined && this.#random() < 0.5) return before.metadata.ownerReferences;
    const all = this.kinds.flatMap(({ groupKind, objects }) =>
      [...objects.values()].map((object) => ({ groupKind, object })),
    );
    return [...all]
      .filter(() => this.#random() < 2 / (all.length + 1))
      .map(({ groupKind: { group, kind }, object: { metadata } }) => {
        const reference = { apiVersion: group === '' ? 'v1' : `${group}/v1`, kind, name: metadata.name };
        return this.#random() < 0.8 ? { ...reference, uid: metadata.uid } : reference;
      });
  }

  #pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)] as T;
  }
}

/** Whom a walk has to visit, the slow way: RH1, RH2, RH6. */
export function reachable(
  objects: ReadonlyMap<string, { readonly key: ResourceKey; readonly object: WorldObject }>,
  starts: readonly string[],
): ReadonlySet<string> {
  const visited = new Set<string>();
  const open = starts.filter((text) => objects.has(text));
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    if (visited.has(text)) continue;
    visited.add(text);
    const parent = objects.get(text);
    if (parent === undefined) continue;
    for (const [childText, child] of objects) if (owns(parent, child)) open.push(childText);
  }
  return visited;
}

type Located = { readonly key: ResourceKey; readonly object: WorldObject };

function owns(parent: Located, child: Located): boolean {
  if (parent.key.namespace !== '' && parent.key.namespace !== child.key.namespace) return false;
  return child.object.metadata.ownerReferences.some(({ apiVersion, kind, name, uid }) => {
    if (uid !== undefined) return uid === parent.object.metadata.uid;
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    const { key } = parent;
    return key.group === group && key.kind === kind && key.name === name && key.namespace === child.key.namespace;
  });
}
