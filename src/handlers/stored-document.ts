import type { ProgressDocument } from './record.ts';

/** Who makes the tables of a document, when somebody reads them. */
export interface Tables {
  readonly plainRecords: ProgressDocument['records'];
  readonly plainBases: ProgressDocument['bases'];
}

/** Where a document has them: no member, so neither copies nor texts of it do. */
const TABLES = Symbol('tables');

interface Tabled {
  readonly [TABLES]?: Tables;
}

/** The same functions for all documents, which so are of one shape: with functions of its own, each would be a dictionary. */
const RECORDS = {
  enumerable: true,
  get(this: Tabled): ProgressDocument['records'] | undefined {
    return this[TABLES]?.plainRecords;
  },
};

const BASES = {
  enumerable: true,
  get(this: Tabled): ProgressDocument['bases'] | undefined {
    return this[TABLES]?.plainBases;
  },
};

/** Plain data, frozen: own members that are read like any others, the two tables made when they are asked for. */
export function storedDocument(
  { uid, name, gen, writeId, resourceVersion }: Omit<ProgressDocument, 'tick' | 'records' | 'bases'>,
  tick: number,
  tables: Tables,
): ProgressDocument {
  const document = { uid, name, gen, writeId, tick, resourceVersion };
  Object.defineProperty(document, TABLES, { value: tables });
  Object.defineProperty(document, 'records', RECORDS);
  Object.defineProperty(document, 'bases', BASES);
  // The two were just defined.
  return Object.freeze(document) as ProgressDocument;
}
