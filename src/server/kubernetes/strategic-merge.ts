import { plainEqual } from '../../system/plain-equal.ts';
import { refuse } from './api-status.ts';
import { isRecord } from './stored-object.ts';

/**
 * By which member the elements of a list are told apart. Kubernetes has this in the types of its kinds; here it is by the name
 * of the list, wherever it is, which agrees for these. Of two keys the first one that the elements of the patch have.
 */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  addresses: ['type'],
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ownerReferences: ['uid'],
  podIPs: ['ip'],
  ports: ['containerPort', 'port'],
  secrets: ['name'],
  taints: ['key'],
  topologySpreadConstraints: ['topologyKey'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
};
/** Lists of texts that are united. */
const UNITED: ReadonlySet<string> = new Set(['finalizers']);
const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';

/**
 * The object after a strategic merge patch: a merge patch whose lists with a merge key are merged element by element, with the
 * directives `$patch`, `$retainKeys`, `$setElementOrder/` and `$deleteFromPrimitiveList/`. Lists without a known key are
 * replaced. Neither is changed.
 *
 * Throws `RequestRefused`: 400 for an unknown directive, 422 for an element without the key of its list.
 */
export function strategicMerge(target: unknown, patch: Record<string, unknown>): Record<string, unknown> {
  const { $patch: directive, $retainKeys: retained, ...members } = patch;
  if (directive === 'replace') return members;
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw unknownDirective('$patch', directive);
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  if (Array.isArray(retained)) {
    for (const name of Object.keys(merged)) if (!retained.includes(name)) delete merged[name];
  }
  const names = Object.keys(members);
  for (const name of names.filter((one) => !one.startsWith('$'))) {
    const part = members[name];
    if (part === null) delete merged[name];
    else if (isRecord(part)) {
      if (part.$patch === 'delete') delete merged[name];
      else setOwn(merged, name, strategicMerge(own(merged, name), part));
    } else setOwn(merged, name, Array.isArray(part) ? mergeList(name, own(merged, name), part) : part);
  }
  for (const name of names.filter((one) => one.startsWith('$'))) applyDirective(merged, name, members[name]);
  return merged;
}

function mergeList(name: string, target: unknown, patch: readonly unknown[]): readonly unknown[] {
  const old = Array.isArray(target) ? target : [];
  if (UNITED.has(name)) return [...old, ...patch.filter((item) => !old.includes(item))];
  const keys = Object.hasOwn(MERGE_KEYS, name) ? MERGE_KEYS[name] : undefined;
  if (keys === undefined) return patch;
  const elements = patch.filter(isRecord);
  const key = keys.find((one) => elements.every((item) => Object.hasOwn(item, one) || item.$patch === 'replace'));
  if (key === undefined || elements.length < patch.length) {
    throw refuse(422, `an element of ${name} does not contain its merge key: ${keys.join(' or ')}`);
  }
  const isReplaced = elements.some((item) => item.$patch === 'replace' && !Object.hasOwn(item, key));
  const merged: unknown[] = isReplaced ? [] : [...old];
  for (const element of elements) {
    if (!Object.hasOwn(element, key)) continue;
    const at = merged.findIndex((item) => isRecord(item) && plainEqual(item[key], element[key]));
    if (element.$patch === 'delete') {
      if (at >= 0) merged.splice(at, 1);
    } else merged.splice(at < 0 ? merged.length : at, at < 0 ? 0 : 1, strategicMerge(merged[at], element));
  }
  return merged;
}

function applyDirective(merged: Record<string, unknown>, name: string, value: unknown): void {
  if (name.startsWith(DELETE_FROM)) {
    const field = name.slice(DELETE_FROM.length);
    const list = own(merged, field);
    if (Array.isArray(list) && Array.isArray(value)) merged[field] = list.filter((item) => !value.includes(item));
  } else if (name.startsWith(ORDER)) {
    const field = name.slice(ORDER.length);
    const list = own(merged, field);
    if (Array.isArray(list) && Array.isArray(value)) merged[field] = ordered(field, list, value);
  } else throw unknownDirective(name, value);
}

/** What the order names comes in that order; the rest stays behind what it was behind of, at the end. */
function ordered(field: string, list: readonly unknown[], order: readonly unknown[]): readonly unknown[] {
  const keys = Object.hasOwn(MERGE_KEYS, field) ? MERGE_KEYS[field] : undefined;
  const key = keys?.find((one) => order.every((item) => isRecord(item) && Object.hasOwn(item, one)));
  const placeOf = (item: unknown) =>
    order.findIndex((one) =>
      key === undefined || !isRecord(one) || !isRecord(item) ? plainEqual(one, item) : plainEqual(one[key], item[key]),
    );
  const named = list.filter((item) => placeOf(item) >= 0).sort((a, b) => placeOf(a) - placeOf(b));
  return [...named, ...list.filter((item) => placeOf(item) < 0)];
}

function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A member of any name, `__proto__` too. */
function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function unknownDirective(name: string, value: unknown) {
  return refuse(400, `unknown directive ${name}: ${JSON.stringify(value)}`);
}
