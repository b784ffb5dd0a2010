import { describe, expect, it } from 'vitest';
import { BREAKABLE, IDS, lookUp } from '../../faults/rows/run.mjs';
import { REFERENCES, ROWS } from '../../faults/rows/table.mjs';

describe('F1 to F40 by processes (npm run test:faults)', () => {
  it('has each of F1 to F40 once: a program, or the test that is referred to', () => {
    const ids = [...ROWS, ...REFERENCES].map(({ id }) => id);
    expect(ids.toSorted()).toEqual(IDS.toSorted());
  });

  it.each(REFERENCES.map(({ id }) => id))('%s: the test that is referred to is there', async (id) => {
    await expect(lookUp(id)).resolves.toBeUndefined();
  });

  it('a row that is missing is none', async () => {
    await expect(lookUp('F41')).rejects.toThrow('F41 has neither a program nor a test');
  });

  it('a third of the programs at least is run with its fault, too', () => {
    expect(BREAKABLE.length * 3).toBeGreaterThanOrEqual(ROWS.length);
  });
});
