import type { Batch } from './subject.ts';

/**
 * What the embedded store and an etcd may answer differently: nothing but this. Each id is a heading of
 * docs/etcd-differences.md, where the public report and the reason stand; `checkPage` holds the two together.
 */
export const DIFFERENCES = {
  /** A delete without an end beside a put of a key in its range: etcd takes the branch, it is a duplicate key here. */
  E1: 'a delete without end beside a put in its range is taken',
  /** A delete at exactly the compact revision: older etcds forget it. */
  E2: 'a watch from the compact revision misses a delete at it',
  /** A range in a transaction at a revision below 0: the newest here as everywhere, compacted on etcd. */
  E3: 'a range in a transaction at a revision below 0 is refused',
} as const;

export type DifferenceId = keyof typeof DIFFERENCES;

/** E2: the batches without the deletes at the compact revision that the watch started from. */
export function withoutTombstonesAt(revision: number, batches: readonly Batch[]): readonly Batch[] {
  return batches
    .map((batch) => {
      if (batch.revision !== revision || batch.initial) return batch;
      return { ...batch, events: batch.events.filter(({ type }) => type !== 'delete') };
    })
    .filter(({ initial, events }) => initial || events.length > 0);
}

/** Why the page does not fit this list: ids that only one of the two has, and entries without a public report. */
export function checkPage(page: string): readonly string[] {
  const entries = [...page.matchAll(/^## (E\d+)\b[^\n]*\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)];
  const listed = entries.map(([, id]) => String(id));
  const known = Object.keys(DIFFERENCES);
  return [
    ...known.filter((id) => !listed.includes(id)).map((id) => `${id} is not in the page`),
    ...listed.filter((id) => !known.includes(id)).map((id) => `${id} is in the page only`),
    ...entries
      .filter(([, , text = '']) => !/^Reports?: .*https:\/\//m.test(text) || !/^Reason: ./m.test(text))
      .map(([, id]) => `${id} has no line "Report: https://..." or no line "Reason: ..."`),
  ];
}
