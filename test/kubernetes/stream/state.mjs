// @ts-check
// What a server has, by plain lists, and how it compares: with the stream, and with what a reader has made of it.
import { pathOf } from './kinds.mjs';
import { contentText, keyText, sortedText } from './objects.mjs';

/**
 * @typedef {import('./objects.mjs').KubernetesObject} KubernetesObject
 *
 * By `keyText`.
 * @typedef {ReadonlyMap<string, KubernetesObject>} State
 *
 * What a reader has told of itself.
 * @typedef {object} Report
 * @property {readonly (readonly [key: string, object: KubernetesObject])[]} state All resources of its cache.
 * @property {readonly (readonly [key: string, object: KubernetesObject])[]} told What the calls of its update handler add up to.
 * @property {readonly (readonly [value: string, keys: readonly string[]])[]} index Its index of labels.
 * @property {readonly (readonly [namespace: string, keys: readonly string[]])[]} views What it sees of each namespace.
 * @property {readonly string[]} broken Rules that a call has broken.
 * @property {number} calls
 * @property {readonly string[]} missing What it was to wait for, and has not seen in time.
 */

/** Differences that are told; the rest is counted. */
const TOLD_MAX = 8;

/**
 * Everything of these kinds.
 *
 * @param {import('./feed.mjs').Call} call
 * @param {Iterable<import('./kinds.mjs').StreamKind>} kinds
 * @returns {Promise<Map<string, KubernetesObject>>}
 */
export async function listAll(call, kinds) {
  /** @type {Map<string, KubernetesObject>} */
  const state = new Map();
  for (const kind of kinds) {
    const { status, body } = await call('GET', pathOf(kind, {}));
    if (status !== 200) throw new Error(`Cannot list ${kind.kind}: ${status} ${body.message}`);
    for (const item of body.items) state.set(keyText({ ...kind, ...item.metadata }), item);
  }
  return state;
}

/** The label that readers have an index of. @param {KubernetesObject} object */
export function labelOf({ metadata: { labels } }) {
  return labels?.['app.kubernetes.io/name'] ?? labels?.app ?? '';
}

/**
 * Where a reader is wrong about what a server has. Empty, if it is not: every key is there and none else (no ghost), each with
 * its uid, version and content; in its state, by its handler, by its index and by its views.
 *
 * @param {Report} report
 * @param {State} server
 * @returns {string[]}
 */
export function compareReport(report, server) {
  const exact = new Map([...server].map(([key, object]) => [key, textOf(object)]));
  const texts = (/** @type {Report['state']} */ entries) =>
    new Map(entries.map(([key, object]) => [key, textOf(object)]));
  const byLabel = groupKeys(server, (_, object) => labelOf(object));
  const byNamespace = groupKeys(server, (_, { metadata }) => metadata.namespace ?? '');
  return [
    ...compareMaps('the state', texts(report.state), exact),
    ...compareMaps('what the handler was told', texts(report.told), exact),
    ...compareMaps('the index', joined(report.index), byLabel),
    ...compareMaps('the views', joined(report.views), byNamespace),
    ...report.broken.slice(0, TOLD_MAX).map((one) => `the handler: ${one}`),
    ...(report.missing.length === 0 ? [] : [`not caught up in time: ${report.missing.slice(0, TOLD_MAX).join(', ')}`]),
  ];
}

/**
 * Where a server has something else than what was written to it.
 *
 * @param {State} server
 * @param {ReadonlyMap<string, string>} truth by `Feed.truth`
 */
export function compareTruth(server, truth) {
  const contents = new Map([...server].map(([key, object]) => [key, contentText(object)]));
  return compareMaps('the server', contents, truth);
}

/**
 * @param {string} what
 * @param {ReadonlyMap<string, string>} found
 * @param {ReadonlyMap<string, string>} wanted
 * @returns {string[]}
 */
function compareMaps(what, found, wanted) {
  const ghosts = [...found.keys()].filter((key) => !wanted.has(key));
  const lost = [...wanted.keys()].filter((key) => !found.has(key));
  const other = [...wanted].filter(([key, text]) => found.has(key) && found.get(key) !== text).map(([key]) => key);
  return [
    ...told(`${what} has ghosts`, ghosts),
    ...told(`${what} has lost`, lost),
    ...told(`${what} is wrong about`, other),
    ...other.slice(0, 1).map((key) => `  ${firstDifference(found.get(key) ?? '', wanted.get(key) ?? '')}`),
  ];
}

/**
 * @param {string} what
 * @param {readonly string[]} keys
 */
function told(what, keys) {
  if (keys.length === 0) return [];
  return [`${what} ${keys.length}: ${keys.slice(0, TOLD_MAX).join(', ')}${keys.length > TOLD_MAX ? ', ...' : ''}`];
}

/**
 * @param {string} found
 * @param {string} wanted
 */
function firstDifference(found, wanted) {
  let at = 0;
  while (at < found.length && found[at] === wanted[at]) at++;
  const from = Math.max(0, at - 60);
  return `found ...${found.slice(from, at + 60)}..., wanted ...${wanted.slice(from, at + 60)}...`;
}

/** Items of lists may have no kind of their own. @param {KubernetesObject} object */
function textOf({ apiVersion: _, kind: _kind, ...object }) {
  return sortedText(object);
}

/** @param {Report['index']} entries */
function joined(entries) {
  return new Map(
    entries.filter(([, keys]) => keys.length > 0).map(([value, keys]) => [value, [...keys].sort().join(' ')]),
  );
}

/**
 * @param {State} state
 * @param {(key: string, object: KubernetesObject) => string} groupOf
 */
function groupKeys(state, groupOf) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const [key, object] of state) {
    const group = groupOf(key, object);
    const keys = groups.get(group) ?? [];
    groups.set(group, keys);
    keys.push(key);
  }
  return joined([...groups]);
}
