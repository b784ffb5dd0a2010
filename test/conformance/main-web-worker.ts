import { run } from './suite.ts';

/** Entry for a web worker: the lines of `main.ts` as messages to its page, which prints them. */
const result = await run((name) => postMessage(`PLIMSOLL-CASE ${JSON.stringify(name)}`));
postMessage(`PLIMSOLL-RESULT ${JSON.stringify(result)}`);
