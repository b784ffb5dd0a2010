import { collector } from './collect.ts';
import { run } from './suite.ts';

/** Entry for a web worker: the lines of `main.ts` as messages to its page, which prints them. */
const collect = collector();
const result = await run((name) => {
  postMessage(`PLIMSOLL-CASE ${JSON.stringify(name)}`);
  collect();
});
postMessage(`PLIMSOLL-RESULT ${JSON.stringify(result)}`);
