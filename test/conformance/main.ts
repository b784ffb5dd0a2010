import { collector } from './collect.ts';
import { run } from './suite.ts';

/** Entry for runtimes that run a module and show what it prints. The runner looks for the lines with these marks. */
const collect = collector();
const result = await run((name) => {
  console.log(`PLIMSOLL-CASE ${JSON.stringify(name)}`);
  collect();
});
console.log(`PLIMSOLL-RESULT ${JSON.stringify(result)}`);
