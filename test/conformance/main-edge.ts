import { run } from './suite.ts';

/**
 * Entry for the edge machine, which runs scripts and no modules: what this script has made is told by a global. It prints
 * the lines of `main.ts`.
 */
Object.assign(globalThis, {
  plimsollSuite: run((name) => console.log(`PLIMSOLL-CASE ${JSON.stringify(name)}`)).then((result) =>
    console.log(`PLIMSOLL-RESULT ${JSON.stringify(result)}`),
  ),
});
