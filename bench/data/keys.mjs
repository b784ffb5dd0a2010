// @ts-check
// Keys as a Kubernetes-like registry has them: `/registry/<kind>/ns-<n>/<app>-<rand>`, about 47 bytes, one kind with 40 %
// of them, namespaces of unequal size, in random order.
import { createRandom, pick, token } from './random.mjs';

const SEED = 471_100;
const NAMESPACES = 100;

/** @type {readonly string[]} */
const KINDS = [
  ...['configmaps', 'secrets', 'services', 'deployments', 'replicasets', 'endpointslices'],
  ...['events', 'serviceaccounts', 'ingresses', 'jobs'],
];
const APPS = ['frontend', 'billing-api', 'search', 'ledger', 'gateway', 'mailer', 'report-writer', 'auth', 'catalog'];
const POD_SHARE = 0.4;

/**
 * The first keys of one endless list without repeats, so that smaller counts are beginnings of larger ones.
 *
 * @param {number} count
 * @returns {string[]}
 */
export function generateKeys(count) {
  const random = createRandom(SEED);
  /** @type {Set<string>} */
  const keys = new Set();
  // 4 of any 10 are pods, so that 40 % are at every count.
  for (let index = 0; keys.size < count; index++) {
    const kind = index % 10 < POD_SHARE * 10 ? 'pods' : pick(random, KINDS);
    const namespace = Math.floor(NAMESPACES * random() ** 2);
    keys.add(`/registry/${kind}/ns-${namespace}/${pick(random, APPS)}-${token(random, 9)}-${token(random, 5)}`);
  }
  return [...keys];
}

/**
 * @typedef {{ start: string, end: string, limit: number }} Query All keys >= start and < end, at most limit (0: all).
 */

/**
 * Prefixes with at least `limit` keys: those of one namespace where there are some, those of one kind otherwise.
 *
 * @param {readonly string[]} keys
 * @param {number} limit
 * @returns {Query[]}
 */
export function listQueries(keys, limit) {
  const byNamespace = prefixesWith(keys, limit, 4);
  const prefixes = byNamespace.length > 0 ? byNamespace : prefixesWith(keys, limit, 3);
  return prefixes.slice(0, 64).map((prefix) => prefixQuery(prefix, limit));
}

/**
 * @param {string} prefix ends with a slash
 * @param {number} limit
 * @returns {Query}
 */
export function prefixQuery(prefix, limit) {
  // The character after '/' is '0': the first text that sorts after everything with the prefix.
  return { start: prefix, end: `${prefix.slice(0, -1)}0`, limit };
}

/**
 * @param {readonly string[]} keys
 * @param {number} least
 * @param {number} slashes the prefix ends with this one
 */
function prefixesWith(keys, least, slashes) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const key of keys) {
    const prefix = `${key.split('/', slashes).join('/')}/`;
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count >= least).map(([prefix]) => prefix);
}
