// @ts-check
// The kinds of a stream, as an API server serves them.
import { groupVersionKind } from './objects.mjs';

/**
 * @typedef {object} StreamKind
 * @property {string} group
 * @property {readonly string[]} versions
 * @property {string} kind
 * @property {string} plural
 * @property {boolean} status Whether its status is a subresource.
 * @property {boolean} namespaced
 */

/**
 * One for each group and kind. A kind whose objects have a status has it as a subresource, as Kubernetes' own kinds do and those of others
 * should; all of them are in namespaces, since all objects of the streams are.
 *
 * @param {readonly import('./objects.mjs').StreamEvent[]} events
 * @returns {Map<string, StreamKind>} by `kindText`
 */
export function kindsOf(events) {
  /** @type {Map<string, { group: string, kind: string, versions: Set<string>, status: boolean }>} */
  const found = new Map();
  for (const { type, object } of events) {
    if (type === 'BOOKMARK') continue;
    const { group, version, kind } = groupVersionKind(object);
    const entry = found.get(kindText({ group, kind })) ?? { group, kind, versions: new Set(), status: false };
    found.set(kindText(entry), entry);
    entry.versions.add(version);
    if (object.status !== undefined) entry.status = true;
  }
  return new Map(
    [...found].map(([text, { group, kind, versions, status }]) => {
      return [text, { group, kind, versions: [...versions], plural: pluralOf(kind), status, namespaced: true }];
    }),
  );
}

/** @param {{ group: string, kind: string }} kind */
export function kindText({ group, kind }) {
  return `${group}/${kind}`;
}

/**
 * The path of a collection, or of an object in it.
 *
 * @param {StreamKind} kind
 * @param {{ version?: string, namespace?: string | undefined, name?: string, sub?: string }} place
 */
export function pathOf({ group, versions, plural, namespaced }, { version = versions[0], namespace, name, sub }) {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const within = namespaced && namespace !== undefined ? `/namespaces/${namespace}` : '';
  const one = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${root}${within}/${plural}${one}${sub === undefined ? '' : `/${sub}`}`;
}

/**
 * As English has it: what a real server calls it is asked of its discovery.
 *
 * @param {string} kind
 */
function pluralOf(kind) {
  const name = kind.toLowerCase();
  if (/(?:endpoints|[^aeiou]s)$/.test(name) && !/ss$/.test(name)) return name;
  if (/(?:s|x|z|ch|sh)$/.test(name)) return `${name}es`;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}
