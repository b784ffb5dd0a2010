/** Which life of which object, and which state of it. */
export interface ObjectIdentity {
  /** `namespace/name`, or the name alone of what is in no namespace: client-go's key. */
  readonly key: string;
  /** Of one life: an object that is made again under its name has another one. */
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isDeleting: boolean;
}

/** What cannot be taken in, and why. `key` is there if at least the name can be read. */
export interface MalformedObject {
  readonly key: string | undefined;
  readonly reason: string;
}

interface Named {
  readonly metadata?: unknown;
}

interface Metadata {
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly uid?: unknown;
  readonly resourceVersion?: unknown;
  readonly deletionTimestamp?: unknown;
}

const NO_NAME = 'metadata.name is not a string with a character in it';

/** Reads the identity of anything; never throws, whatever a getter of it does. */
export function identify(object: unknown): ObjectIdentity | MalformedObject {
  try {
    return read(object);
  } catch {
    return { key: undefined, reason: 'its metadata cannot be read' };
  }
}

/** Each member by its name and nothing in between: this is read for every event. */
function read(object: unknown): ObjectIdentity | MalformedObject {
  const metadata = isObject(object) ? (object as Named).metadata : undefined;
  if (!isObject(metadata)) return { key: undefined, reason: NO_NAME };
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata as Metadata;
  if (!isText(name)) return { key: undefined, reason: NO_NAME };
  const isInNone = namespace === undefined || namespace === null || namespace === '';
  if (!isInNone && typeof namespace !== 'string') {
    return { key: undefined, reason: 'metadata.namespace is not a string' };
  }
  const key = isInNone ? name : `${namespace}/${name}`;
  if (!isText(uid)) return { key, reason: 'metadata.uid is not a string with a character in it' };
  if (!isText(resourceVersion))
    return { key, reason: 'metadata.resourceVersion is not a string with a character in it' };
  return { key, uid, resourceVersion, isDeleting: deletionTimestamp !== undefined && deletionTimestamp !== null };
}

export function isMalformed(identity: ObjectIdentity | MalformedObject): identity is MalformedObject {
  return 'reason' in identity;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
