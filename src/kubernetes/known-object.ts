/** Instead of a list: it is there no more. */
const GONE = -1;

/** One object that is there. */
export interface Known<T> {
  /** The same text for as long as it is there: who has a table of its own finds it there without reading the text again. */
  readonly key: string;
  readonly uid: string;
  resourceVersion: string;
  object: T;
  /** The newest list that has it, and the list during which its newest event came; 0 for none. */
  listedIn: number;
  changedIn: number;
  /** What stood behind it in a list: most likely that is so again. Only a guess. */
  next: Known<T> | undefined;
}

/**
 * It has gone. What stood before it in a list still points at it, until a list comes: nobody may find it by that guess, nor what is behind
 * it, and neither may its object stay for that.
 */
export function letGo<T>(known: Known<T>): void {
  const gone: Known<T | undefined> = known;
  gone.listedIn = GONE;
  gone.next = undefined;
  gone.object = undefined;
}

/** Whether an item is the very state that is known, by everything that a look-up of it would read. */
export function isUnchanged<T>(known: Known<T>, item: unknown): boolean {
  const metadata = (item as Partial<Named> | null | undefined)?.metadata;
  if (known.listedIn === GONE || metadata?.resourceVersion !== known.resourceVersion) return false;
  const own = (known.object as Named).metadata;
  return metadata.uid === known.uid && metadata.name === own.name && metadata.namespace === own.namespace;
}

interface Named {
  readonly metadata: {
    readonly name: string;
    namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}
