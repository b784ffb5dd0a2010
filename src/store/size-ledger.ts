import { StoreFullError } from '../types/errors.ts';

export interface SizeLedgerOptions {
  /** Bytes of values that a put may bring the store to. */
  readonly max: number;
  /** Bytes of a value as it is kept. Runs no user code. */
  readonly size: (cell: unknown) => number;
}

/** Changes of one commit; a delete has no cell. */
type SizedChanges = readonly { readonly type: 'put' | 'delete'; readonly cell: unknown }[];

/**
 * What the retained values of a store take, slot by slot; only there when that is bounded. A version counts until
 * physical compaction has dropped it, and each counts by itself, also one that kept the value of the version before.
 */
export class SizeLedger {
  readonly #options: SizeLedgerOptions;
  #bytesBySlot: number[] = [];
  #total = 0;
  /** Of the commit that room was found for, in its order. */
  #coming: number[] = [];

  constructor(options: SizeLedgerOptions) {
    this.#options = options;
  }

  /** Bytes of all that is kept now. */
  get bytes(): number {
    return this.#total;
  }

  /** Throws `StoreFullError` for a commit whose puts do not fit, with nothing changed. Deletes bring nothing and always fit. */
  reserve(changes: SizedChanges, action: string): void {
    const { max, size } = this.#options;
    const coming: number[] = [];
    let bytes = 0;
    for (const { type, cell } of changes) {
      const own = type === 'put' ? size(cell) : 0;
      bytes += own;
      coming.push(own);
    }
    if (this.#total + bytes > max) throw new StoreFullError(action, max, { limit: 'storeBytes' });
    // The slots come one by one, from the end of this.
    this.#coming = coming.reverse();
  }

  /** The next change of the commit has its slot. */
  add(slot: number): void {
    const bytes = this.#coming.pop() as number;
    this.#bytesBySlot[slot] = bytes;
    this.#total += bytes;
  }

  /** A slot that has been added; it is free until it is added again. */
  free(slot: number): void {
    this.#total -= this.#bytesBySlot[slot] as number;
  }
}
