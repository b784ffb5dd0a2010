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

export const suite = {
  async test(): Promise<void> {
    const { passed, failed, failures } = await run((name) => console.log(`PLIMSOLL-CASE ${JSON.stringify(name)}`));
    const result = { passed, failed: failed + lost.length, failures: [...failures, ...lost] };
    console.log(`PLIMSOLL-RESULT ${JSON.stringify(result)}`);
  },
};
