import { type ObjectNamespace, runInObjects } from './sqlite-object.ts';
import { type Failure, run } from './suite.ts';

/**
 * Entry for workerd, where no module may do work while it loads: `workerd test` calls the `test` of what is exported.
 * It prints the lines of `main.ts`.
 *
 * Other runtimes end with an exit code when nobody catches a rejection; workerd goes on, so here it is a failure.
 */
const lost: Failure[] = [];
addEventListener('unhandledrejection', ({ reason }) => {
  lost.push({
    name: 'a rejection that nobody caught',
    message: String(reason instanceof Error ? reason.stack : reason),
  });
});

export { SqliteObject } from './sqlite-object.ts';

export const suite = {
  async test(_: unknown, { SqliteObject: objects }: { readonly SqliteObject: ObjectNamespace }): Promise<void> {
    const onStart = (name: string) => console.log(`PLIMSOLL-CASE ${JSON.stringify(name)}`);
    const { passed, failed, failures } = await run(onStart);
    const ofObjects = await runInObjects(objects, onStart);
    const result = {
      passed: passed + ofObjects.passed,
      failed: failed + ofObjects.failures.length + lost.length,
      failures: [...failures, ...ofObjects.failures, ...lost],
    };
    console.log(`PLIMSOLL-RESULT ${JSON.stringify(result)}`);
  },
};
