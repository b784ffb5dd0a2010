// @ts-check
// The cases as a worker: /INDEX/COUNT does so many operations of a case and answers "ok", or says what was wrong. Everything is
// opened in the request that uses it, because a worker may keep no work beyond one.
import * as plimsoll from 'plimsoll';
import { CASES } from './cases.mjs';

/**
 * @param {number} index
 * @param {number} count
 */
export async function runCase(index, count) {
  const one = CASES[index];
  if (one === undefined) throw new RangeError(`Cannot measure: there is no case ${index}`);
  const { run, check } = await one.open(plimsoll);
  await run(count);
  const problem = check();
  if (problem !== undefined) throw new Error(`Cannot measure ${one.name}: ${problem}`);
}

export default {
  /** @param {Request} request */
  async fetch(request) {
    const [, index, count] = new URL(request.url).pathname.split('/');
    try {
      await runCase(Number(index), Number(count));
      return new Response('ok');
    } catch (error) {
      return new Response(String(error instanceof Error ? error.stack : error), { status: 500 });
    }
  },
};
