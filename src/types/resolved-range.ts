import type { ByteRange } from './backend.ts';

/**
 * A {@link KeyRange} after it was checked and encoded: bytes for the core, text for the wake-up index.
 *
 * *Key text* is the key itself in a store of text keys, and one UTF-16 unit per byte in a store of byte keys, so that
 * a JS Map, `startsWith` and one compare function serve both.
 */
export type ResolvedRange =
  | { readonly kind: 'point'; readonly bytes: ByteRange; readonly text: string; readonly empty: false }
  | { readonly kind: 'prefix'; readonly bytes: ByteRange; readonly text: string; readonly empty: false }
  | {
      readonly kind: 'interval';
      readonly bytes: ByteRange;
      readonly text: string;
      /** Exclusive; `undefined` is "no upper bound". */
      readonly endText: string | undefined;
      /** `start >= end`: selects nothing, and a watch on it is refused (store:R36). */
      readonly empty: boolean;
    };
