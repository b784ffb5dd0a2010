// @ts-check
// One process of a benchmark run, started by bench/run.mjs: the job is the argument, the result is standard output.
import { runProcess } from './harness/process.mjs';
import { SUITES } from './suites.mjs';

/** @type {import('./harness/process.mjs').Job} */
const job = JSON.parse(process.argv[2] ?? '{}');
const suite = SUITES.find(({ name }) => name === job.suite);
if (suite === undefined) throw new Error(`Cannot run the suite "${job.suite}": there is none of that name`);
const result = await runProcess(suite, job, (line) => console.error(`  ${line}`));
process.stdout.write(JSON.stringify(result));
