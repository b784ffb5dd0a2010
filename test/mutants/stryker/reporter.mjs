// @ts-check
// Progress on stderr, a line now and then: stdout belongs to the result.

const EVERY = 50;
/** Errors that are told. As a rule all have the same cause: a test that does not run outside of vitest. */
const ERRORS_TOLD = 3;

/**
 * @typedef {{ line: number, column: number }} Position
 * @typedef {{ status?: string, statusReason?: string, location: { start: Position, end: Position } }} PlannedMutant
 */

/**
 * Which mutants are not run, and survive.
 *
 * @type {{ isLeftOut: (mutant: object) => boolean }}
 */
export const plans = { isLeftOut: () => false };

class ProgressReporter {
  #total = 0;
  #done = 0;
  #survived = 0;
  #errors = 0;

  /** @param {{ mutantPlans: readonly { plan: string, mutant: PlannedMutant }[] }} event */
  onMutationTestingPlanReady({ mutantPlans }) {
    this.#total = mutantPlans.length;
    const leftOut = mutantPlans.filter(({ mutant }) => plans.isLeftOut(fromOne(mutant)));
    for (const one of leftOut) {
      one.plan = 'EarlyResult';
      Object.assign(one.mutant, { status: 'Survived', statusReason: 'left out' });
    }
    console.error(`${this.#total} mutants, of which ${leftOut.length} are listed and not run`);
  }

  /**
   * @param {{ status: string, statusReason?: string, fileName: string, replacement: string,
   *   location: { start: { line: number, column: number } } }} mutant
   */
  onMutantTested({ status, statusReason, fileName, replacement, location: { start } }) {
    this.#done++;
    const place = `${fileName}:${start.line}:${start.column} ${replacement.replaceAll(/\s+/g, ' ').slice(0, 60)}`;
    if (status === 'Survived' || status === 'NoCoverage') {
      this.#survived++;
      if (statusReason !== 'left out') console.error(`  ${status.toLowerCase()}: ${place}`);
    }
    if (status === 'RuntimeError' && ++this.#errors <= ERRORS_TOLD) console.error(`  error: ${place}: ${statusReason}`);
    // Worth a look when the machine was busy: one that ran into no limit of its own may only have been slow.
    if (status === 'Timeout' && statusReason === undefined) console.error(`  killed late: ${place}`);
    if (this.#done % EVERY !== 0) return;
    console.error(`${this.#done} of ${this.#total} run, ${this.#survived} survived`);
  }
}

/**
 * A mutant as it will be in the result: in a plan, lines and columns count from 0.
 *
 * @param {PlannedMutant} mutant
 */
function fromOne(mutant) {
  const { start, end } = mutant.location;
  const next = (/** @type {Position} */ { line, column }) => ({ line: line + 1, column: column + 1 });
  return { ...mutant, location: { start: next(start), end: next(end) } };
}

export const strykerPlugins = [{ kind: 'Reporter', name: 'plimsoll', injectableClass: ProgressReporter }];
