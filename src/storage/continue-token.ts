import type { Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import { BadRequestError } from './errors.ts';
import type { KeyInterval } from './keys.ts';

/** Where a list goes on. */
export interface ContinuePosition {
  /** The first key that may be in the rest, in the store's keys. */
  readonly start: string;
  /** The state of the pages before; `undefined` for "the newest" (K10). */
  readonly revision: Revision | undefined;
  /** Names the data that the revision is one of; '' where nobody knows. */
  readonly identity: string;
}

const VERSION = 'meta.k8s.io/v1';

/**
 * Kubernetes' own token, base64url of `{ v, rv, start }` with a start that is relative to the list's key, and the name of
 * the data beside it: a revision means something in its own data only (D22). -1 is the newest state.
 */
export function formatContinue(position: ContinuePosition, { start }: KeyInterval): string {
  const { revision = -1, identity } = position;
  const token = {
    v: VERSION,
    rv: revision,
    start: position.start.slice(start.length),
    ...(identity === '' || revision < 0 ? {} : { id: identity }),
  };
  let text = '';
  for (const byte of new TextEncoder().encode(JSON.stringify(token))) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Throws `BadRequestError` for what is no token, TypeError for what is no text (K07). */
export function parseContinue(token: unknown, { start }: KeyInterval, action: string): ContinuePosition {
  if (typeof token !== 'string') throw new TypeError(`Cannot ${action}: continue is ${shown(token)}, not a string`);
  const read = readToken(token, action);
  const { v, rv, start: rest, id = '' } = read;
  if (v !== VERSION) throw invalid(action, 'its version is unknown');
  if (!Number.isSafeInteger(rv) || rv === 0) throw invalid(action, 'it has no resource version');
  if (typeof rest !== 'string' || rest === '' || !rest.isWellFormed()) throw invalid(action, 'it has no start key');
  if (typeof id !== 'string') throw invalid(action, 'its data have no name');
  const revision = rv as number;
  return { start: start + rest, revision: revision < 0 ? undefined : revision, identity: id };
}

function readToken(token: string, action: string): Readonly<Record<string, unknown>> {
  try {
    const text = atob(token.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
    const read: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof read === 'object' && read !== null) return read as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw invalid(action, 'it cannot be read', error);
  }
  throw invalid(action, 'it cannot be read');
}

function invalid(action: string, why: string, cause?: unknown): BadRequestError {
  return new BadRequestError(action, `invalid continue token: ${why}`, cause);
}
