import { formatMicroTime } from '../../lock/lease-record-time.ts';
import { plainEqual } from '../../system/plain-equal.ts';
import type { Clock } from '../../types/clock.ts';
import type { Random } from '../../types/random.ts';
import { conflict, invalid, preconditionFailed, refuse } from './api-status.ts';
import { LABEL, type ServedKind } from './kinds.ts';
import { randomUid } from './random-names.ts';
import { type ApiObject, type ApiObjectMeta, UNKEPT } from './stored-object.ts';

/** What a client sent, and where. */
export interface Target {
  readonly kind: ServedKind;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Who decides what of an object:
 *
 * ```text
 *                                     create        update            update of /status   deletion
 *   name, namespace (c)               the path      must be the same  the same
 *   uid, creationTimestamp            the server    kept              kept                kept
 *   labels, annotations, owners       the client    the client        kept                kept
 *   finalizers                        the client    the client (a)    kept                by propagationPolicy
 *   deletionTimestamp                 none          kept              kept                the server
 *   generation                        1             +1 (b)            kept                +1
 *   status, as a subresource          none          kept              the client          kept
 *   all else                          the client    the client        kept                kept
 *
 *   (a) none is added to an object that is being deleted      (b) if "all else" differs
 *   (c) an object of the cluster has none, whatever the client says
 * ```
 */
export function createdObject(
  target: Target,
  body: ApiObject,
  clock: Pick<Clock, 'wallTime'>,
  random: Random,
): ApiObject {
  const { kind, namespace, name } = target;
  const metadata = kept(body.metadata);
  const object = {
    ...body,
    kind: kind.kind,
    apiVersion: kind.apiVersion,
    metadata: {
      ...metadata,
      name,
      ...(kind.namespaced ? { namespace } : {}),
      uid: randomUid(random),
      creationTimestamp: timestamp(clock),
      generation: 1,
    },
  };
  return kind.status ? withStatus(object, undefined) : object;
}

/** Throws `RequestRefused` for what an update must not change. */
export function updatedObject(target: Target, current: ApiObject, wanted: ApiObject): ApiObject {
  const { kind, name } = target;
  const old = current.metadata ?? {};
  const given = kept(wanted.metadata);
  if (given.uid !== undefined && given.uid !== '' && given.uid !== old.uid) {
    throw preconditionFailed(kind, name, { precondition: 'uid', expected: given.uid, actual: old.uid ?? '' });
  }
  if (given.resourceVersion !== undefined && given.resourceVersion !== '') {
    if (given.resourceVersion !== old.resourceVersion) {
      const again = 'please apply your changes to the latest version and try again';
      throw conflict(kind, name, `the object has been modified; ${again}`);
    }
  }
  checkFinalizers(target, old, given);
  const next: ApiObject = {
    ...wanted,
    kind: kind.kind,
    apiVersion: kind.apiVersion,
    metadata: { ...given, ...fixedOf(old, target) },
  };
  const object = kind.status ? withStatus(next, current.status) : next;
  if (plainEqual(contentOf(kind, object), contentOf(kind, current))) return object;
  return { ...object, metadata: { ...object.metadata, generation: (old.generation ?? 0) + 1 } };
}

/** Of its status alone; the checks of an update hold. */
export function updatedStatus(target: Target, current: ApiObject, wanted: ApiObject): ApiObject {
  updatedObject(target, current, { ...wanted, metadata: { ...current.metadata, ...versionsOf(wanted) } });
  return withStatus(current, wanted.status);
}

/** An object that begins to be deleted; one that has begun stays as it is. */
export function deletingObject(
  current: ApiObject,
  finalizers: readonly string[],
  clock: Pick<Clock, 'wallTime'>,
): ApiObject {
  const { metadata = {} } = current;
  const isNew = metadata.deletionTimestamp === undefined;
  return {
    ...current,
    metadata: {
      ...metadata,
      finalizers,
      ...(isNew
        ? {
            deletionTimestamp: timestamp(clock),
            deletionGracePeriodSeconds: 0,
            generation: (metadata.generation ?? 0) + 1,
          }
        : {}),
    },
  };
}

/** Throws `RequestRefused` (422) for a namespace in the path that none can have. */
export function checkNamespace({ kind, namespace }: Omit<Target, 'name'>): void {
  if (!kind.namespaced || LABEL.test(namespace)) return;
  throw invalid(kind, '', 'metadata.namespace', `Invalid value: "${namespace}": is no DNS label`);
}

/** Throws `RequestRefused` if the object names another place than the path does. */
export function checkPlace({ kind, namespace, name }: Target, metadata: ApiObjectMeta = {}): void {
  if (kind.namespaced && (metadata.namespace ?? '') !== '' && metadata.namespace !== namespace) {
    throw refuse(400, 'the namespace of the provided object does not match the namespace sent on the request');
  }
  if ((metadata.name ?? '') !== '' && metadata.name !== name) {
    throw refuse(400, `the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}

function checkFinalizers({ kind, name }: Target, old: ApiObjectMeta, given: ApiObjectMeta): void {
  if (old.deletionTimestamp === undefined) return;
  const added = (given.finalizers ?? []).filter((finalizer) => !(old.finalizers ?? []).includes(finalizer));
  if (added.length === 0) return;
  const why = `Forbidden: no new finalizers can be added if the object is being deleted, found ${added.join(', ')}`;
  throw invalid(kind, name, 'metadata.finalizers', why, 'FieldValueForbidden');
}

/** What the server alone decides. */
function fixedOf(old: ApiObjectMeta, { kind, namespace, name }: Target): ApiObjectMeta {
  const { uid, creationTimestamp, generation, deletionTimestamp, deletionGracePeriodSeconds } = old;
  return {
    name,
    ...(kind.namespaced ? { namespace } : {}),
    ...(uid === undefined ? {} : { uid }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(generation === undefined ? {} : { generation }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  };
}

function versionsOf({ metadata = {} }: ApiObject): ApiObjectMeta {
  const { uid, resourceVersion } = metadata;
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? { resourceVersion: '' } : { resourceVersion }),
  };
}

/** What the generation counts. */
function contentOf({ status: isSubresource }: ServedKind, object: ApiObject): object {
  const { metadata: _, kind: _kind, apiVersion: _version, ...content } = object;
  return isSubresource ? withStatus(content, undefined) : content;
}

function withStatus<T extends ApiObject>(object: T, status: unknown): T {
  const { status: _, ...rest } = object;
  return (status === undefined ? rest : { ...rest, status }) as T;
}

/** Of the metadata that a client sends, what it has a say in. */
function kept(metadata: ApiObjectMeta | undefined): ApiObjectMeta {
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([name]) => !UNKEPT.has(name)));
}

/** As Kubernetes writes times: whole seconds. */
function timestamp(clock: Pick<Clock, 'wallTime'>): string {
  return `${formatMicroTime(clock.wallTime()).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
}
