import type { InformerDelta } from '../kubernetes/informer-delta.ts';
import { shown } from '../types/shown.ts';
import type { Metadata } from './resource.ts';
import { localKey } from './resource-key.ts';

const SLASH = 0x2f;

/**
 * What a delta says of its object, once all of it was read that is believed later. Nothing is made of a good one, and nothing else is looked
 * at, the key that is known neither: this is called for every event, and each look at what has lain for long costs as much as all of it.
 *
 * @throws TypeError, which names the key
 */
export function checkDelta<T>(delta: InformerDelta<T>): Metadata {
  const { type } = delta;
  if (type === 'added' || type === 'updated') {
    const metadata = checkObject(delta.object, delta.key);
    // Without one every later state without one would be the same.
    if (!isText(metadata.resourceVersion)) throw wrong(delta.key, 'its object has no resourceVersion');
    return metadata;
  }
  if (type !== 'deleted') throw wrong((delta as { key?: unknown }).key, `its type is ${shown(type)}`);
  const { key, object, reason } = delta;
  if (object !== undefined && (typeof object !== 'object' || object === null))
    throw wrong(key, `its final object is ${shown(object)}`);
  if (reason !== 'deleted' && reason !== 'left-selector-or-deleted') throw wrong(key, `its reason is ${shown(reason)}`);
  return checkObject(delta.old, key);
}

function checkObject(object: unknown, key: string): Metadata {
  const metadata = (object as { readonly metadata?: unknown } | null | undefined)?.metadata;
  if (typeof metadata !== 'object' || metadata === null) throw wrong(key, 'its object has no metadata');
  const { name, namespace, uid } = metadata as Partial<Metadata>;
  if (!isText(uid)) throw wrong(key, 'its object has no uid');
  if (!isText(name)) throw wrong(key, 'its object has no name');
  if (typeof key !== 'string') throw wrong(key, 'that is no key');
  if (namespace === undefined || namespace === null || namespace === '') {
    if (key !== name) throw wrong(key, `the key of its object is ${name}`);
  } else if (typeof namespace !== 'string') throw wrong(key, 'the namespace of its object is not a string');
  else if (!isKeyOf(key, namespace, name)) throw wrong(key, `the key of its object is ${localKey(namespace, name)}`);
  return metadata as Metadata;
}

/** `key === localKey(namespace, name)`, without making that text. */
function isKeyOf(key: string, namespace: string, name: string): boolean {
  const slash = namespace.length;
  if (key.length !== slash + 1 + name.length || key.charCodeAt(slash) !== SLASH) return false;
  return key.startsWith(namespace) && key.endsWith(name);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function wrong(key: unknown, why: string): TypeError {
  return new TypeError(`Cannot apply a delta: of ${typeof key === 'string' ? key : shown(key)}, ${why}`);
}
