import { systemClock } from '../system/system-clock.ts';
import { checkKitOptions } from './kit-options.ts';
import { PROGRESS_CASES, type ProgressCaseSpec } from './progress-cases.ts';
import { ProgressSession, type ProgressSubject } from './progress-session.ts';

/** Options of {@link testProgressStore}. */
export interface ProgressSuiteOptions {
  /** A store without documents, called once for each case. */
  readonly open: () => Promise<ProgressSubject> | ProgressSubject;
  /** What `open` can do: cases that need more are left out. */
  readonly can?: {
    /** It has `loseAnswer`. @default false */
    readonly loseAnswer?: boolean;
    /** It has `createObject`: records are kept on objects, which have uids of their own, and are not listed. @default false */
    readonly createObject?: boolean;
  };
  /** After each case, passed or failed. @default nothing */
  readonly dispose?: (subject: ProgressSubject) => Promise<void> | void;
  /**
   * Resolves when what is on the way has had time to arrive: called up to 500 times for an answer. With a virtual clock: its
   * `settle` or `advance`. @default 10 ms of real time
   */
  readonly settle?: () => Promise<void>;
}

/** One test, for any test runner, and for `runBackendCases`. */
export interface ProgressCase {
  /** Unique. */
  readonly name: string;
  /** Id of the rule it checks, in `docs/spec/handlers.md`. */
  readonly rule: string;
  /** Rejects with a `ProgressAssertionError`, or with what `open` and `dispose` throw. */
  run(): Promise<void>;
}

const NAMES = ['open', 'can', 'dispose', 'settle'] as const;

/**
 * The conformance suite for progress stores: one case for each thing that a controller relies on (A40'). Like
 * `testBackend` it needs no test runner, and shows that promises are broken, never that they are kept.
 *
 * @throws TypeError for options that are missing or unknown
 * @example
 * ```ts
 * import { createMemoryProgress } from 'plimsoll';
 * import { runBackendCases, testProgressStore } from 'plimsoll/testing';
 *
 * const cases = testProgressStore({ open: () => ({ progress: createMemoryProgress() }) });
 * // With a test runner: for (const { name, rule, run } of cases) test(`${rule}: ${name}`, run);
 * const { passed, failed } = await runBackendCases(cases);
 * console.log(`${passed} passed, ${failed.length} failed`);
 * ```
 */
export function testProgressStore(options: ProgressSuiteOptions): readonly ProgressCase[] {
  const action = 'test a progress store';
  checkKitOptions(options, NAMES, action);
  if (typeof options.open !== 'function') throw new TypeError(`Cannot ${action}: open is not a function`);
  const { can = {} } = options;
  checkKitOptions(can, ['loseAnswer', 'createObject'], action);
  const has = { loseAnswer: can.loseAnswer === true, uids: can.createObject !== true };
  return PROGRESS_CASES.filter(({ needs }) => needs === undefined || has[needs]).map((spec) => ({
    name: spec.name,
    rule: spec.rule,
    run: () => runCase(spec, options),
  }));
}

async function runCase(spec: ProgressCaseSpec, options: ProgressSuiteOptions): Promise<void> {
  const subject = await options.open();
  const { can = {} } = options;
  for (const name of ['loseAnswer', 'createObject'] as const) {
    if ((subject[name] !== undefined) === (can[name] === true)) continue;
    throw new TypeError(`Cannot test a progress store: can.${name} is not what open has made`);
  }
  try {
    await spec.run(new ProgressSession(subject, spec.rule, options.settle ?? passTenMs));
  } finally {
    await options.dispose?.(subject);
  }
}

function passTenMs(): Promise<void> {
  return new Promise((resolve) => systemClock.after(10, resolve));
}
