/** One deliberate fault: a place in the sources, what stands there, and what is put there instead. */
export interface Fault {
  /** Short, unique, of words with hyphens. */
  readonly id: string;
  /** From the root of the project. */
  readonly file: string;
  /** Must occur exactly once in the file: after a refactoring the list is brought up to date, not the search made loose. */
  readonly find: string;
  readonly replace: string;
  /** The rule that it breaks, or the first reading that turned out to be wrong. */
  readonly why: string;
  /** Tests that must catch it, as paths for vitest. @default those of the folder, see `TESTS_OF` */
  readonly tests?: readonly string[];
}

const CASES = 'test/mutants/cases.test.ts';
const PROGRAMS = 'test/property/store';

/** What is run for a fault that names no tests, by the folder of its file; quickest first. */
export const TESTS_OF: Readonly<Record<string, readonly string[]>> = {
  'src/store/': ['test/unit/store/', CASES, PROGRAMS],
  'src/watch/': ['test/unit/watch/', CASES, 'test/property/watch', PROGRAMS],
  'src/lease/': ['test/unit/lease/', CASES, PROGRAMS],
  'src/backends/': ['test/unit/store/', 'test/unit/watch/', CASES, PROGRAMS],
  'src/cache/': ['test/unit/cache/', 'test/unit/faults/', 'test/property/replica'],
};

export function testsOf(fault: Fault): readonly string[] {
  const tests = fault.tests ?? Object.entries(TESTS_OF).find(([folder]) => fault.file.startsWith(folder))?.[1];
  if (tests === undefined) throw new Error(`Cannot check the fault ${fault.id}: no tests are known for ${fault.file}`);
  return tests;
}

/** The text with the fault in it. Throws if the place is not there, or not the only one. */
export function applyFault(fault: Fault, text: string): string {
  const places = text.split(fault.find).length - 1;
  if (places !== 1) throw new Error(`Cannot make the fault ${fault.id}: its text is ${places} times in ${fault.file}`);
  if (fault.find === fault.replace) throw new Error(`Cannot make the fault ${fault.id}: it changes nothing`);
  return text.replace(fault.find, () => fault.replace);
}
