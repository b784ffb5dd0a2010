import { configureGlobal } from 'fast-check';
import { testSeed } from './size.ts';

/** Every fast-check property of a run starts from the run's seed; a test may still set its own `numRuns`. */
configureGlobal({ seed: testSeed() });
