import { checkChoice } from '../store/checks.ts';
import type { Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import { BadRequestError } from './errors.ts';
import type { ResourceVersionMatch } from './types.ts';

/**
 * Which state a read wants (K01-K06).
 *
 * ```text
 *   resourceVersion   no match           NotOlderThan   Exact
 *   '' or none        consistent         consistent     consistent        "match without a version" is refused a layer up
 *   '0'               any                any            refused
 *   'N'               not older          not older      exact
 *   'N' with limit    exact (legacy)     not older      exact
 * ```
 */
export type WantedState =
  | { readonly kind: 'consistent' }
  | { readonly kind: 'any' }
  | { readonly kind: 'notOlder' | 'exact'; readonly revision: Revision; readonly resourceVersion: string };

const MATCHES: readonly ResourceVersionMatch[] = ['NotOlderThan', 'Exact'];

export function wantedState(
  resourceVersion: string | undefined,
  match: ResourceVersionMatch | undefined,
  isLimited: boolean,
  action: string,
): WantedState {
  const revision = parseResourceVersion(resourceVersion, action);
  checkMatch(match, action);
  if (resourceVersion === undefined || revision === undefined) return { kind: 'consistent' };
  if (revision === 0) {
    if (match === 'Exact')
      throw new BadRequestError(action, 'resourceVersionMatch Exact needs a resourceVersion above 0');
    return { kind: 'any' };
  }
  const isExact = match === 'Exact' || (match === undefined && isLimited);
  return { kind: isExact ? 'exact' : 'notOlder', revision, resourceVersion };
}

/** Throws `BadRequestError` for a word that is none, TypeError for what is no word. */
export function checkMatch(match: unknown, action: string): void {
  if (match === undefined || match === '') return;
  if (typeof match === 'string' && !MATCHES.includes(match as ResourceVersionMatch)) {
    throw new BadRequestError(action, `unknown resourceVersionMatch ${shown(match)}`);
  }
  checkChoice('resourceVersionMatch', match, action, MATCHES);
}

/**
 * The number, `undefined` for '' and nothing. What an API server takes is 64 bits; a revision of a store is a safe integer
 * (D8), so what is above is in the future whatever it is, and stays so.
 */
export function parseResourceVersion(text: unknown, action: string): Revision | undefined {
  if (text === undefined || text === '') return undefined;
  if (typeof text !== 'string')
    throw new TypeError(`Cannot ${action}: resourceVersion is ${shown(text)}, not a string`);
  if (!/^\d{1,32}$/.test(text) || BigInt(text) > UINT64_MAX) {
    throw new BadRequestError(action, `invalid resource version ${shown(text)}`);
  }
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

const UINT64_MAX = 2n ** 64n - 1n;
