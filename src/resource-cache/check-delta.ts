import type { InformerDelta } from '../kubernetes/informer-delta.ts';
import { shown } from '../types/shown.ts';
import type { Metadata } from './resource.ts';
import { localKey, type ResourceKey } from './resource-key.ts';

/**
 * What a delta says of its object, once all of it was read that is believed later. Nothing is made of a good one: this is called for
 * every event.
 *
 * @param known the key that is known under that of the delta
 * @throws TypeError, which names the key
 */
export function checkDelta<T>(delta: InformerDelta<T>, known: ResourceKey | undefined): Metadata {
  const { type } = delta;
  if (type === 'added' || type === 'updated') {
    const metadata = checkObject(delta.object, delta.key, known);
    // Without one every later state without one would be the same.
    if (!isText(metadata.resourceVersion)) throw wrong(delta.key, 'its object has no resourceVersion');
    return metadata;
  }
  if (type !== 'deleted') throw wrong((delta as { key?: unknown }).key, `its type is ${shown(type)}`);
  const { key, object, reason } = delta;
  if (object !== undefined && (typeof object !== 'object' || object === null))
    throw wrong(key, `its final object is ${shown(object)}`);
  if (reason !== 'deleted' && reason !== 'left-selector-or-deleted') throw wrong(key, `its reason is ${shown(reason)}`);
  return checkObject(delta.old, key, known);
}

function checkObject(object: unknown, key: string, known: ResourceKey | undefined): Metadata {
  const metadata = (object as { readonly metadata?: unknown } | null | undefined)?.metadata;
  if (typeof metadata !== 'object' || metadata === null) throw wrong(key, 'its object has no metadata');
  const { name, uid } = metadata as Partial<Metadata>;
  const namespace = (metadata as Partial<Metadata>).namespace ?? '';
  if (!isText(uid)) throw wrong(key, 'its object has no uid');
  if (known !== undefined && known.name === name && known.namespace === namespace) return metadata as Metadata;
  if (!isText(name) || typeof namespace !== 'string')
    throw wrong(key, 'its object has no name, or no namespace to read');
  const own = localKey(namespace, name);
  if (own !== key) throw wrong(key, `the key of its object is ${own}`);
  return metadata as Metadata;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function wrong(key: unknown, why: string): TypeError {
  return new TypeError(`Cannot apply a delta: of ${typeof key === 'string' ? key : shown(key)}, ${why}`);
}
