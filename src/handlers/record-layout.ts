import { LimitExceededError, ValueError } from '../types/errors.ts';
import { deepFreeze } from './freeze.ts';
import type { ProgressDocument } from './record.ts';
import type { PlaceContent, RecordPlace } from './record-place.ts';
import { isRecord } from './record-place.ts';
import { digestOfView } from './view.ts';

/** What of a document is kept elsewhere: nothing, the views, or the records too. */
export type Overflow = 'nothing' | 'bases' | 'all';

/** A document as it lies in an object. */
export interface Layout {
  readonly texts: ReadonlyMap<string, string>;
  readonly overflow: Overflow;
}

/** What the text of a document says, before the parts elsewhere are read. */
export interface Stored {
  readonly document: ProgressDocument;
  readonly overflow: Overflow;
  /** Names the part elsewhere. */
  readonly part: string | undefined;
}

const MAIN = 'progress';

/**
 * Lays a document out as texts (A42').
 *
 * ```text
 *   progress        header, records with their digests; and, where a part is kept elsewhere, which one that is
 *   base.<hash>     [digest, view]: each view by itself, so that one which stays is not written again
 *
 *   fits as a whole?  --no-->  without the views?  --no-->  without the records, too?  --no-->  LimitExceededError
 * ```
 *
 * `partOf` names what is kept elsewhere; without it nothing is.
 *
 * Throws `LimitExceededError` with the bytes of everybody in the place.
 */
export function layOut(
  place: RecordPlace,
  content: PlaceContent,
  next: ProgressDocument,
  partOf: ((overflow: Overflow) => string) | undefined,
): Layout {
  let whole = 0;
  for (const overflow of partOf === undefined ? (['nothing'] as const) : (['nothing', 'bases', 'all'] as const)) {
    const texts = textsOf(next, overflow, partOf?.(overflow));
    let bytes = content.foreignBytes;
    for (const [name, text] of texts) bytes += place.bytesOf(name, text);
    if (bytes <= place.bytesMax) return { texts, overflow };
    whole = Math.max(whole, bytes);
  }
  const action = `keep the progress of ${JSON.stringify(next.name)} in its ${place.title}`;
  throw new LimitExceededError(action, { limit: 'progressBytes', max: place.bytesMax, actual: whole });
}

function textsOf(next: ProgressDocument, overflow: Overflow, part: string | undefined): ReadonlyMap<string, string> {
  const { uid, name, gen, writeId, tick, resourceVersion, records, bases } = next;
  const header = { uid, name, gen, writeId, tick, resourceVersion };
  const texts = new Map<string, string>();
  const main =
    overflow === 'nothing' ? { ...header, records } : { ...header, part, ...(overflow === 'bases' ? { records } : {}) };
  texts.set(MAIN, JSON.stringify(main));
  if (overflow !== 'nothing') return texts;
  for (const [digest, view] of Object.entries(bases)) texts.set(baseName(digest), JSON.stringify([digest, view]));
  return texts;
}

/** Digests may be of any length and have letters that a name may not have. */
function baseName(digest: string): string {
  return `base.${digestOfView(digest).slice(-32)}`;
}

/**
 * The document in an object, `undefined` if there is none of this uid: what was copied from another object is none (A15').
 *
 * Throws `ValueError` for a text that somebody has spoilt.
 */
export function readLayout(uid: string, name: string, { texts }: PlaceContent): Stored | undefined {
  const text = texts.get(MAIN);
  if (text === undefined) return undefined;
  const action = `read the progress of ${JSON.stringify(name)}`;
  const main = parsed(action, text);
  if (!isMain(main)) throw new ValueError(action, { path: '', reason: 'is no progress document' });
  if (main.uid !== uid) return undefined;
  const { part, records = {}, ...header } = main;
  const bases: [string, unknown][] = [];
  for (const [key, base] of texts) {
    if (!key.startsWith('base.')) continue;
    const entry = parsed(action, base);
    if (Array.isArray(entry) && typeof entry[0] === 'string' && baseName(entry[0]) === key)
      bases.push([entry[0], entry[1]]);
  }
  const overflow = part === undefined ? 'nothing' : main.records === undefined ? 'all' : 'bases';
  return { document: deepFreeze({ ...header, records, bases: Object.fromEntries(bases) }), overflow, part };
}

type Main = Omit<ProgressDocument, 'records' | 'bases'> & {
  readonly records?: ProgressDocument['records'];
  readonly part?: string;
};

function isMain(value: unknown): value is Main {
  if (!isRecord(value)) return false;
  const { uid, gen, records, part } = value;
  const isPart = part === undefined ? isRecord(records) : typeof part === 'string';
  return typeof uid === 'string' && Number.isSafeInteger(gen) && (records === undefined || isRecord(records)) && isPart;
}

function parsed(action: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ValueError(action, { path: '', reason: 'is not JSON' }, { cause });
  }
}
