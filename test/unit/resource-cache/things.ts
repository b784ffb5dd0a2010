import type { InformerDelta } from '../../../src/kubernetes/informer-delta.ts';
import { createResourceStore } from '../../../src/resource-cache/create-resource-store.ts';
import type { ResourceKey } from '../../../src/resource-cache/resource-key.ts';
import type { ResourceStore, ResourceStoreOptions } from '../../../src/resource-cache/resource-store.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';

export interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly [member: string]: unknown;
}

export const POD = { group: '', kind: 'Pod' };
export const SET = { group: 'apps', kind: 'ReplicaSet' };
export const NODE = { group: '', kind: 'Node' };

type Metadata = Partial<Thing['metadata']>;

/** `a/web` is in the namespace a, `web` in none; its uid is that text unless it is given. */
export function thing(text: string, version = '1', metadata: Metadata = {}, rest: object = {}): Thing {
  const [first = '', second] = text.split('/');
  const place = second === undefined ? { name: first } : { namespace: first, name: second };
  return { metadata: { ...place, uid: `uid of ${text}`, resourceVersion: version, ...metadata }, ...rest };
}

export function ownedBy(...uids: readonly string[]): Metadata {
  return { ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Owner', name: uid, uid })) };
}

export function keyOf(groupKind: { group: string; kind: string }, text: string): ResourceKey {
  const { namespace = '', name } = thing(text).metadata;
  return { ...groupKind, namespace, name };
}

function localOf({ metadata: { namespace, name } }: Thing): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function added(object: Thing): InformerDelta<Thing> {
  return { type: 'added', key: localOf(object), object };
}

export function updated(object: Thing, old: Thing): InformerDelta<Thing> {
  return { type: 'updated', key: localOf(object), object, old };
}

export function deleted(old: Thing, object: Thing | undefined = undefined): InformerDelta<Thing> {
  return { type: 'deleted', key: localOf(old), object, old, reason: 'deleted' };
}

export interface Rig {
  readonly clock: VirtualClock;
  readonly store: ResourceStore<Thing>;
  readonly logged: { message: string; fields: Readonly<Record<string, unknown>> }[];
}

export function rig(options: ResourceStoreOptions<Thing> = {}): Rig {
  const clock = createVirtualClock();
  const logged: Rig['logged'] = [];
  const log = (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    void logged.push({ message, fields });
  const logger = { debug: log, info: log, warn: log, error: log };
  return { clock, logged, store: createResourceStore<Thing>({ clock, logger, ...options }) };
}
