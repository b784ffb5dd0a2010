/** Two arrays of the same elements from `a` in the one and `b` in the other on, `length` of them. */
export interface Run {
  readonly a: number;
  readonly b: number;
  readonly length: number;
}

/** Cells of the table by which a small gap is aligned exactly. */
const CELLS_MAX = 4096;

/**
 * Which elements of two arrays are the same ones, given as numbers that are equal for equal elements; in order, and never
 * crossing.
 *
 * ```text
 *   a  1 2 3 4 5 6       beginnings and ends that are equal; between them, elements that are in both exactly once,
 *   b  1 9 3 4 6         as many as stand in one order; between those again beginnings and ends, and small gaps exactly
 *      1   3 4   6
 * ```
 *
 * Costs n log n whatever the arrays are. Not promised: the longest common part, which would cost up to n squared. Elements
 * that are there several times are aligned in small gaps and at the ends of gaps only.
 */
export function alignArrays(a: readonly number[], b: readonly number[]): readonly Run[] {
  const runs: Run[] = [];
  const whole = { aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length };
  withEnds(a, b, whole, runs, (gap) => {
    if (isSmall(gap)) {
      alignExactly(a, b, gap, runs);
      return;
    }
    const [before, after] = [a.slice(gap.aStart, gap.aEnd), b.slice(gap.bStart, gap.bEnd)];
    let { aStart, bStart } = gap;
    for (const [i, j] of uniqueInBoth(before, after)) {
      alignGap(a, b, { aStart, aEnd: gap.aStart + i, bStart, bEnd: gap.bStart + j }, runs);
      runs.push({ a: gap.aStart + i, b: gap.bStart + j, length: 1 });
      aStart = gap.aStart + i + 1;
      bStart = gap.bStart + j + 1;
    }
    alignGap(a, b, { ...gap, aStart, bStart }, runs);
  });
  return runs;
}

interface Gap {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/** Aligns what the two have in common at their ends, and has `inner` align what is between. */
function withEnds(a: readonly number[], b: readonly number[], gap: Gap, runs: Run[], inner: (gap: Gap) => void): void {
  let { aStart, aEnd, bStart, bEnd } = gap;
  while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
    aStart++;
    bStart++;
  }
  while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--;
    bEnd--;
  }
  if (aStart > gap.aStart) runs.push({ a: gap.aStart, b: gap.bStart, length: aStart - gap.aStart });
  if (aStart < aEnd && bStart < bEnd) inner({ aStart, aEnd, bStart, bEnd });
  if (aEnd < gap.aEnd) runs.push({ a: aEnd, b: bEnd, length: gap.aEnd - aEnd });
}

function alignGap(a: readonly number[], b: readonly number[], gap: Gap, runs: Run[]): void {
  withEnds(a, b, gap, runs, (rest) => {
    if (isSmall(rest)) alignExactly(a, b, rest, runs);
  });
}

function isSmall({ aStart, aEnd, bStart, bEnd }: Gap): boolean {
  return (aEnd - aStart) * (bEnd - bStart) <= CELLS_MAX;
}

/** The longest common subsequence, by the table of lengths from each place to the ends. */
function alignExactly(a: readonly number[], b: readonly number[], gap: Gap, runs: Run[]): void {
  const [rows, columns] = [gap.aEnd - gap.aStart, gap.bEnd - gap.bStart];
  const lengths = new Uint16Array((rows + 1) * (columns + 1));
  const at = (row: number, column: number): number => lengths[row * (columns + 1) + column] ?? 0;
  const isEqual = (row: number, column: number): boolean => a[gap.aStart + row] === b[gap.bStart + column];
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const longest = isEqual(row, column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
      lengths[row * (columns + 1) + column] = longest;
    }
  }
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    if (isEqual(row, column)) runs.push({ a: gap.aStart + row++, b: gap.bStart + column++, length: 1 });
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
}

/** Places of elements that are in each of the two once, as many as have one order in both. */
function uniqueInBoth(a: readonly number[], b: readonly number[]): readonly (readonly [number, number])[] {
  const places = placesOfUnique(b);
  const pairs: (readonly [number, number])[] = [];
  for (const [element, i] of placesOfUnique(a)) {
    const j = places.get(element);
    if (j !== undefined) pairs.push([i, j]);
  }
  return longestRising(pairs);
}

/** In the order of the places. */
function placesOfUnique(elements: readonly number[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  const repeated = new Set<number>();
  for (const [place, element] of elements.entries()) {
    if (places.has(element)) repeated.add(element);
    else places.set(element, place);
  }
  for (const element of repeated) places.delete(element);
  return places;
}

/** Of pairs that rise by their first number, the most that rise by the second too: by piles, as in patience sorting. */
function longestRising(pairs: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  /** For each length, the pair that ends a rise so long with the smallest second number; and the pair before each pair. */
  const ends: number[] = [];
  const before: number[] = [];
  for (const [index, [, second]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < second) low = middle + 1;
      else high = middle;
    }
    before.push(low === 0 ? -1 : (ends[low - 1] ?? -1));
    ends[low] = index;
  }
  const rising: (readonly [number, number])[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) rising.push(pair);
  }
  return rising.reverse();
}
