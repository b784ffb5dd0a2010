import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applyFault, type Fault } from '../mutants/fault.ts';
import { FAULTS } from '../mutants/list/mod.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

describe('the deliberate faults of test/mutants', () => {
  it.each(FAULTS.map((fault): [string, Fault] => [fault.id, fault]))(
    '%s still has its place in the sources',
    (_, fault) => {
      const text = read(fault.file);
      expect(applyFault(fault, text)).not.toBe(text);
    },
  );

  it('are noticed when their text is gone, or there twice', () => {
    const [fault] = FAULTS as readonly [Fault];
    for (const text of ['', read(fault.file).repeat(2)]) expect(() => applyFault(fault, text)).toThrow(fault.id);
  });
});
