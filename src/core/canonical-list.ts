/** An element of a list whose order does not count, in the making. */
export interface ListElement {
  /** Canonical. */
  readonly text: string;
  /** The canonical texts of its key members, in the order of the key's names; `''`, before all others, for what is not there. */
  readonly keys: readonly string[];
}

/**
 * Writes a list whose order does not count, so that there is one text for all orders.
 *
 * ```text
 *   set    ["b","a","b"]                                   ["a","b"]      sorted by text, equal elements once
 *   keyed  [{"name":"b"},{"name":"a","x":2},{"name":"a"}]  a x:2, a, b    sorted by key; equal keys stay as they stand
 * ```
 *
 * A keyed list in which keys are missing or not unique thus loses no element and equals no list that it should not: what it
 * has of order counts. Texts compare by UTF-16 units, as the names of RFC 8785 do.
 */
export function writeList(elements: ListElement[], isSet: boolean): string {
  if (isSet) return `[${[...new Set(elements.map(({ text }) => text))].sort().join(',')}]`;
  // Sorting is stable.
  return `[${elements
    .sort(byKeys)
    .map(({ text }) => text)
    .join(',')}]`;
}

function byKeys(a: ListElement, b: ListElement): number {
  for (const [index, key] of a.keys.entries()) {
    const other = b.keys[index] ?? '';
    if (key !== other) return key < other ? -1 : 1;
  }
  return 0;
}
