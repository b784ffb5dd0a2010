import { run } from './suite.ts';

/** Entry for runtimes that run a module and show what it prints. The runner looks for the line with this mark. */
const result = await run();
console.log(`PLIMSOLL-RESULT ${JSON.stringify(result)}`);
