import type { ProgressDocument } from './record.ts';

/** Who makes the tables of a document, when somebody reads them. */
export interface Tables {
  readonly plainRecords: ProgressDocument['records'];
  readonly plainBases: ProgressDocument['bases'];
}

/** Hands back what it is given, so that a class below it adds its private field to that: plain data stays plain data. */
class Given {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is what the class is for
    return value;
  }
}

class Tabled extends Given {
  readonly #tables: Tables;

  constructor(document: object, tables: Tables) {
    super(document);
    this.#tables = tables;
  }

  static tablesOf(document: object): Tables | undefined {
    return #tables in document ? document.#tables : undefined;
  }
}

/** The same functions for all documents, which so are of one shape: with functions of its own, each would be a dictionary. */
const RECORDS = {
  enumerable: true,
  get(this: object): ProgressDocument['records'] | undefined {
    return Tabled.tablesOf(this)?.plainRecords;
  },
};

const BASES = {
  enumerable: true,
  get(this: object): ProgressDocument['bases'] | undefined {
    return Tabled.tablesOf(this)?.plainBases;
  },
};

/** Plain data, frozen: own members that are read like any others, the two tables made when they are asked for. */
export function storedDocument(
  { uid, name, gen, writeId, tick, resourceVersion }: Omit<ProgressDocument, 'records' | 'bases'>,
  tables: Tables,
): ProgressDocument {
  const document = { uid, name, gen, writeId, tick, resourceVersion };
  new Tabled(document, tables);
  Object.defineProperty(document, 'records', RECORDS);
  Object.defineProperty(document, 'bases', BASES);
  // The two were just defined.
  return Object.freeze(document) as ProgressDocument;
}
