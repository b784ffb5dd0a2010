/**
 * How a resource version stands to another one of the same kind. `unknown`: they differ, and nobody can say which is newer.
 */
export type VersionOrder = 'older' | 'same' | 'newer' | 'unknown';

/** How `a` stands to `b`. */
export type CompareVersions = (a: string, b: string) => VersionOrder;

/** 128 bits have 39 digits. */
const INTEGER = /^[1-9]\d{0,38}$/;

/**
 * The order of Kubernetes' own kinds, and of custom resources, from 1.35 on: resource versions are integers of up to 128 bits
 * (KEP-5504), so they are compared as digits and never become a `number`. What is no such integer, as of an aggregated API
 * server with versions of its own, is equal or `unknown` (IN4).
 *
 * @example
 * ```ts
 * import { compareVersions } from 'plimsoll/kubernetes';
 *
 * console.log(compareVersions('9', '10')); // older
 * console.log(compareVersions('a1', 'a2')); // unknown
 * ```
 */
export function compareVersions(a: string, b: string): VersionOrder {
  if (a === b) return 'same';
  if (!INTEGER.test(a) || !INTEGER.test(b)) return 'unknown';
  if (a.length !== b.length) return a.length < b.length ? 'older' : 'newer';
  return a < b ? 'older' : 'newer';
}
