import type { KubernetesObject } from '../../storage/types.ts';
import { refuse } from './api-status.ts';
import type { ServedKind } from './kinds.ts';

export type ObjectPredicate = (object: KubernetesObject) => boolean;

interface Term {
  readonly path: readonly string[];
  readonly isEqual: boolean;
  readonly value: string;
}

/**
 * A field selector as text: `metadata.name=web,status.phase!=Running`, of the fields that the kind allows. A field that is not
 * there is ''. `\` takes the meaning from `,`, `=` and itself, and stands before nothing else. `undefined` for a selector that selects everything.
 *
 * Throws `RequestRefused` for what is none, and for a field that cannot be selected by.
 */
export function parseFieldSelector(text: string, kind: ServedKind): ObjectPredicate | undefined {
  const terms = split(text)
    .filter((part) => part !== '')
    .map((part) => termOf(part, text, kind));
  if (terms.length === 0) return undefined;
  return (object) => terms.every(({ path, isEqual, value }) => (textAt(object, path) === value) === isEqual);
}

function termOf(part: string, text: string, kind: ServedKind): Term {
  const match = /^([^=!]+)(==|!=|=)(.*)$/s.exec(part);
  if (match === null) throw refuse(400, `invalid field selector "${text}": "${part}" is no condition`);
  const [, field = '', operator, raw = ''] = match;
  if (/(?<!\\)(?:\\\\)*=/.test(raw)) throw refuse(400, `invalid field selector "${text}": "${part}" has two values`);
  if (/^(?:\\[\\,=]|[^\\])*\\(?![\\,=])/s.test(raw))
    throw refuse(400, `invalid field selector "${text}": "${part}" has a \\ of no use`);
  const known = ['metadata.name', ...(kind.namespaced ? ['metadata.namespace'] : []), ...kind.fieldSelectors];
  if (!known.includes(field)) throw refuse(400, `field label not supported: ${field}`);
  return { path: field.split('.'), isEqual: operator !== '!=', value: raw.replace(/\\([\\,=])/g, '$1') };
}

/** At commas that no backslash is in front of. */
function split(text: string): readonly string[] {
  return text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];
}

function textAt(object: unknown, path: readonly string[]): string {
  let value: unknown = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return '';
    value = Reflect.get(value, name);
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
