import { ValueError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import type { KubernetesObject, ObjectMeta } from './types.ts';

/** An object as it is read: the stored value with its resource version. A copy of its two outer levels, frozen (store:R38). */
export function objectOf<O extends KubernetesObject>(value: O, revision: Revision, key: string): O {
  if (!isRecord(value)) throw unreadable(key, '', 'is no object');
  const { metadata = {} } = value;
  if (!isRecord(metadata)) throw unreadable(key, '/metadata', 'is no object');
  return Object.freeze({ ...value, metadata: Object.freeze({ ...metadata, resourceVersion: String(revision) }) });
}

/** An object as it is stored: without its resource version, which is that of the key. */
export function storedOf<O extends KubernetesObject>(object: O, action: string): O {
  if (!isRecord(object)) throw new TypeError(`Cannot ${action}: what is to be stored is no object`);
  const { metadata } = object;
  if (metadata === undefined) return object;
  if (!isRecord(metadata)) throw new TypeError(`Cannot ${action}: metadata is no object`);
  const { resourceVersion: _, ...rest } = metadata as ObjectMeta;
  return { ...object, metadata: rest };
}

/** The resource version that an object claims; '' without one. Throws TypeError for what is no text. */
export function claimedVersion(object: KubernetesObject, action: string): string {
  if (!isRecord(object)) throw new TypeError(`Cannot ${action}: the object is ${shown(object)}, not a record`);
  const { resourceVersion = '' } = (object.metadata ?? {}) as ObjectMeta;
  if (typeof resourceVersion !== 'string') throw new TypeError(`Cannot ${action}: resourceVersion is not a string`);
  return resourceVersion;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

function unreadable(key: string, path: string, reason: string): ValueError {
  return new ValueError('read an object', { path, reason, key });
}
