import { configureGlobal } from 'fast-check';
import { testSeed } from './size.ts';

/**
 * Every fast-check property of a run starts from the run's seed; a test may still set its own `numRuns`. Where nobody reads
 * the smallest failing program (a run of mutants) none is looked for: that can take minutes without a turn of the event loop.
 */
configureGlobal({ seed: testSeed(), endOnFailure: process.env.PLIMSOLL_MUTANT_TESTS !== undefined });
