import type { KubernetesObject, ObjectMeta } from '../../storage/types.ts';
import { invalid, refuse } from './api-status.ts';
import { CORE, type ServedKind } from './kinds.ts';

/** An object as an API server keeps it. What else it has (`spec`, `data`) is carried along. */
export interface ApiObject extends KubernetesObject {
  readonly metadata?: ApiObjectMeta;
  readonly status?: unknown;
}

export interface ApiObjectMeta extends ObjectMeta {
  readonly generateName?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly finalizers?: readonly string[];
}

/** What the server does not keep of what a client sends: it has none of it, or says itself what it is. */
export const UNKEPT: ReadonlySet<string> = new Set([
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'managedFields',
  'namespace',
  'selfLink',
]);
const TEXTS = ['name', 'namespace', 'generateName', 'uid', 'resourceVersion'];
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * An object that a client sent: of the right kind, its metadata of the right types and without `null`, which is nothing. Without a
 * kind it is taken for one of the path's.
 *
 * Throws `RequestRefused`.
 */
export function checkedObject(body: unknown, kind: ServedKind): ApiObject {
  if (!isRecord(body)) throw refuse(400, 'the body of the request is no object');
  const { metadata, ...rest } = body;
  const [name, apiVersion] = [textOf(body, 'kind') || kind.kind, textOf(body, 'apiVersion') || kind.apiVersion];
  if (name !== kind.kind || apiVersion !== kind.apiVersion) {
    throw refuse(
      400,
      `the object provided is ${apiVersion}, Kind=${name}, expected ${kind.apiVersion}, Kind=${kind.kind}`,
    );
  }
  if (metadata === undefined || metadata === null) return rest;
  if (!isRecord(metadata)) throw wrongType('metadata', 'an object');
  const given = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
  checkMetadata(given);
  return { ...rest, metadata: given };
}

/** '' for what is not there. */
function textOf(body: Record<string, unknown>, name: string): string {
  const value = body[name] ?? '';
  if (typeof value !== 'string') throw wrongType(name, 'a text');
  return value;
}

function checkMetadata(metadata: Record<string, unknown>): void {
  for (const name of TEXTS) {
    const value = metadata[name];
    if (value !== undefined && typeof value !== 'string') throw wrongType(`metadata.${name}`, 'a text');
  }
  for (const name of ['labels', 'annotations']) {
    const value = metadata[name];
    if (value === undefined) continue;
    if (!isRecord(value) || Object.values(value).some((text) => typeof text !== 'string')) {
      throw wrongType(`metadata.${name}`, 'an object of texts');
    }
  }
  const { finalizers, ownerReferences } = metadata;
  if (!isListOf(finalizers, (item) => typeof item === 'string'))
    throw wrongType('metadata.finalizers', 'a list of texts');
  if (!isListOf(ownerReferences, isRecord)) throw wrongType('metadata.ownerReferences', 'a list of objects');
}

/** Throws `RequestRefused` (422) for what is no name of an object. */
export function checkName(kind: ServedKind, name: string): void {
  if (name === '')
    throw invalid(kind, '', 'metadata.name', 'Required value: name or generateName is required', 'FieldValueRequired');
  if (kind.names === 'subdomain' && !NAME.test(name))
    throw invalid(kind, name, 'metadata.name', `Invalid value: "${name}": is no lower-case DNS name`);
  if (name === '.' || name === '..' || /[/%]/.test(name))
    throw invalid(kind, name, 'metadata.name', `Invalid value: "${name}": is no segment of a path`);
}

/** Where an object is, below the root of the storage. The version is no part of it. */
export function keyOf(
  { group, plural, namespaced }: Pick<ServedKind, 'group' | 'plural' | 'namespaced'>,
  namespace: string,
  name: string,
): string {
  const place = namespaced && namespace !== '' ? `/${namespace}` : '';
  return `/${group === '' ? CORE : group}/${plural}${place}${name === '' ? '' : `/${name}`}`;
}

/** An object as it is shown: with the kind and the version it was asked for by. */
export function shownObject(kind: ServedKind, object: object, hasType = true): object {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object as ApiObject;
  return hasType ? { kind: kind.kind, apiVersion: kind.apiVersion, ...rest } : rest;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isItem));
}

function wrongType(field: string, expected: string) {
  return refuse(400, `the object provided cannot be decoded: ${field} is not ${expected}`);
}
