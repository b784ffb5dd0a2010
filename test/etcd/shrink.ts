import type { Program } from './program.ts';

/** Runs of a failing program that cutting down may take; each is some ten milliseconds, or seconds if etcd is waited for. */
const RUNS_MAX = 400;
const SHRINK_MS_MAX = 40_000;
/** A program with expiry takes seconds. */
const SHRINK_EXPIRY_MS_MAX = 150_000;

/**
 * Cuts steps out of a failing program as long as it still fails: halves first, then smaller pieces, down to one step.
 *
 * @param fails runs a program and resolves with how it failed, `undefined` if it did not
 */
export async function shrink(
  program: Program,
  failure: Error,
  fails: (program: Program) => Promise<Error | undefined>,
): Promise<{ readonly program: Program; readonly failure: Error }> {
  let best = { program, failure };
  const until = performance.now() + (program.settings.expiry ? SHRINK_EXPIRY_MS_MAX : SHRINK_MS_MAX);
  let runs = 0;
  for (let size = Math.ceil(program.steps.length / 2); size >= 1; ) {
    let isCut = false;
    for (let start = 0; start < best.program.steps.length; ) {
      if (++runs > RUNS_MAX || performance.now() > until) return best;
      const { settings, steps } = best.program;
      const candidate = { settings, steps: [...steps.slice(0, start), ...steps.slice(start + size)] };
      const again = await fails(candidate);
      if (again === undefined) {
        start += size;
      } else {
        best = { program: candidate, failure: again };
        isCut = true;
      }
    }
    // Single steps are tried until none can go: a later cut may free an earlier step.
    if (size > 1) size = Math.floor(size / 2);
    else if (!isCut) break;
  }
  return best;
}
