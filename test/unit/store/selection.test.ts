import { describe, expect, it } from 'vitest';
import { prepareSelection } from '../../../src/store/selection.ts';
import type { RangeSelection } from '../../../src/types/requests.ts';

/** What a selection comes to. The rows and their order are in `reads.test.ts` and the cases of the specification. */
describe('a selection', () => {
  it.each<[string, RangeSelection, boolean]>([
    ['nothing said', {}, true],
    ['what is the default, said', { sortTarget: 'key', sortOrder: 'ascend', minModRevision: 0 }, true],
    ['a limit', { limit: 3 }, true],
    ['another order', { sortOrder: 'descend' }, false],
    ['another target', { sortTarget: 'mod' }, false],
    ['at least this mod revision', { minModRevision: 1 }, false],
    ['at most this mod revision', { maxModRevision: 1 }, false],
    ['at least this create revision', { minCreateRevision: 1 }, false],
    ['at most this create revision', { maxCreateRevision: 1 }, false],
  ])('R10, of %s: whether the limit may cut while the index is walked', (_, selection, isPlain) => {
    expect(prepareSelection(selection, 'test').isPlain).toBe(isPlain);
  });

  it.each([
    [undefined, 0],
    [-1, 0],
    [0, 0],
    [1, 1],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, 2 ** 31 - 1],
    [Number.MAX_SAFE_INTEGER, 2 ** 31 - 1],
    [Number.MIN_SAFE_INTEGER, 0],
  ])('C07: a limit of %s is one of %i rows, 0 is none; the index counts in 32 bits', (limit, rows) => {
    expect(prepareSelection(limit === undefined ? {} : { limit }, 'test').limit).toBe(rows);
  });
});
