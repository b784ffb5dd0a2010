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

/** Reads the identity of anything; never throws, whatever a getter of it does. */
export function identify(object: unknown): ObjectIdentity | MalformedObject {
  try {
    return read(object);
  } catch {
    return { key: undefined, reason: 'its metadata cannot be read' };
  }
}

function read(object: unknown): ObjectIdentity | MalformedObject {
  const metadata = member(object, 'metadata');
  const name = member(metadata, 'name');
  if (!isText(name)) return { key: undefined, reason: 'metadata.name is not a string with a character in it' };
  const namespace = member(metadata, 'namespace');
  if (namespace !== undefined && typeof namespace !== 'string') {
    return { key: undefined, reason: 'metadata.namespace is not a string' };
  }
  const key = namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
  const uid = member(metadata, 'uid');
  if (!isText(uid)) return { key, reason: 'metadata.uid is not a string with a character in it' };
  const resourceVersion = member(metadata, 'resourceVersion');
  if (!isText(resourceVersion))
    return { key, reason: 'metadata.resourceVersion is not a string with a character in it' };
  const deletionTimestamp = member(metadata, 'deletionTimestamp');
  return { key, uid, resourceVersion, isDeleting: deletionTimestamp !== undefined && deletionTimestamp !== null };
}

export function isMalformed(identity: ObjectIdentity | MalformedObject): identity is MalformedObject {
  return 'reason' in identity;
}

function member(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null) return undefined;
  const value: unknown = Reflect.get(object, name);
  return value === null ? undefined : value;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
