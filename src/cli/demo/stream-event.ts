import type { EssenceHasher } from '../../core/essence-hasher.ts';
import { KEY_BYTES_MAX } from '../../store/keyspace.ts';
import type { Revision } from '../../types/revision.ts';
import { DataError, type Place } from '../errors.ts';
import type { JsonText } from '../json-splitter.ts';
import { parseJsonText } from '../json-text.ts';

/** One event of a watch stream, checked. */
export type StreamEvent = ObjectEvent | BookmarkEvent;

export interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly place: Place;
  /** `apiVersion/kind/namespace/name`; an object without a namespace has an empty segment there. */
  readonly key: string;
  readonly uid: string;
  /** `metadata.resourceVersion` as a number. */
  readonly revision: Revision;
  readonly object: Readonly<Record<string, unknown>>;
}

export interface BookmarkEvent {
  readonly type: 'BOOKMARK';
  readonly place: Place;
  readonly revision: Revision;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads one event. Everything is checked before anything is returned, so that a faulty one changes nothing: the text,
 * then the types of every field that is used, and the size of the key.
 *
 * Throws `DataError` with the place: of the fault for a text that is no JSON, else of the event's first byte.
 */
export function parseStreamEvent(text: JsonText, action: string, scanner: EssenceHasher): StreamEvent {
  const place = { line: text.line, offset: text.offset };
  const fault = (reason: string): DataError => new DataError(action, reason, { place });
  // The splitter has seen its brackets: it is an object.
  const event = parseJsonText(text, action, scanner) as Fields;
  const type = event.type;
  if (type === undefined) {
    throw fault('the object has no "type": a watch event is {"type", "object"} (kubectl --output-watch-events)');
  }
  const object = fieldsOf(event, 'object', 'object', fault);
  if (type === 'ERROR') throw fault(`the stream reports an error: ${JSON.stringify(object.message ?? object)}`);
  const metadata = fieldsOf(object, 'metadata', 'object.metadata', fault);
  const revision = revisionOf(metadata, fault);
  if (type === 'BOOKMARK') return { type, place, revision };
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
    throw fault(`the type of the event is ${JSON.stringify(type)}, not ADDED, MODIFIED, DELETED or BOOKMARK`);
  }
  return { type, place, key: keyOf(object, metadata, fault), uid: uidOf(metadata, fault), revision, object };
}

type Fault = (reason: string) => DataError;

function keyOf(object: Fields, metadata: Fields, fault: Fault): string {
  const apiVersion = segment(object, 'apiVersion', 'object.apiVersion', fault);
  // A group and a version; the other parts of a key have no slash, so that no two objects share a key.
  if (apiVersion.split('/').length > 2) throw fault('object.apiVersion has more than one slash');
  const kind = name(object, 'kind', 'object.kind', fault);
  const namespace =
    (metadata.namespace ?? '') === '' ? '' : name(metadata, 'namespace', 'object.metadata.namespace', fault);
  const key = `${apiVersion}/${kind}/${namespace}/${name(metadata, 'name', 'object.metadata.name', fault)}`;
  const size = Buffer.byteLength(key);
  // Told here, where the place is known: the replica could only give up the stream as a whole.
  if (size > KEY_BYTES_MAX) throw fault(`the key of the object is ${size} bytes long, at most ${KEY_BYTES_MAX} fit`);
  return key;
}

function name(fields: Fields, field: string, path: string, fault: Fault): string {
  const value = segment(fields, field, path, fault);
  if (value.includes('/')) throw fault(`${path} has a slash: ${JSON.stringify(value)}`);
  return value;
}

function segment(fields: Fields, field: string, path: string, fault: Fault): string {
  const value = fields[field];
  if (value === undefined) throw fault(`${path} is missing`);
  if (typeof value !== 'string' || value === '') {
    throw fault(`${path} is ${describe(value)}, not a string with content`);
  }
  return value;
}

/** Some aggregated APIs serve objects without a uid. */
function uidOf(metadata: Fields, fault: Fault): string {
  const uid = metadata.uid ?? '';
  if (typeof uid !== 'string') throw fault(`object.metadata.uid is ${describe(uid)}, not a string`);
  return uid;
}

/** Versions are opaque to clients of one kind; as revisions of one store they have to be numbers. */
function revisionOf(metadata: Fields, fault: Fault): Revision {
  const value = metadata.resourceVersion;
  if (value === undefined) throw fault('object.metadata.resourceVersion is missing');
  const isDecimal = typeof value === 'string' && /^[1-9][0-9]*$/.test(value);
  if (!isDecimal || !Number.isSafeInteger(Number(value))) {
    const allowed = `a decimal string from 1 to ${Number.MAX_SAFE_INTEGER}`;
    throw fault(`object.metadata.resourceVersion is ${describe(value)}, not ${allowed}`);
  }
  return Number(value);
}

function fieldsOf(parent: Fields, field: string, path: string, fault: Fault): Fields {
  const value = parent[field];
  if (value === undefined) throw fault(`${path} is missing`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw fault(`${path} is ${describe(value)}, not an object`);
  }
  return value as Fields;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value);
}
