import { systemClock } from '../system/system-clock.ts';
import type { Backend, BackendCapabilities } from '../types/backend.ts';
import type { Revision } from '../types/revision.ts';
import { BackendAssertionError } from './backend-assertion.ts';
import { COMPARE_CASES } from './backend-compare-cases.ts';
import { HISTORY_CASES } from './backend-history-cases.ts';
import { LEASE_CASES } from './backend-lease-cases.ts';
import { POSITION_CASES } from './backend-position-cases.ts';
import { RANGE_CASES } from './backend-range-cases.ts';
import { type BackendCaseSpec, type BackendChange, type BackendNeed, BackendSession } from './backend-session.ts';
import { STREAM_CASES } from './backend-stream-cases.ts';
import { TXN_CASES } from './backend-txn-cases.ts';
import { BackendWait, type Outcome } from './backend-wait.ts';
import { WATCH_CASES } from './backend-watch-cases.ts';
import { checkKitOptions } from './kit-options.ts';

export interface BackendSuiteOptions {
  /** A backend over a fresh, empty data set that nobody else writes to; called once for each case. */
  readonly open: () => Promise<Backend> | Backend;
  /** What the backends of `open` say that they can. Cases of what they cannot are left out. */
  readonly capabilities: BackendCapabilities;
  /** After each case, passed or failed. @default disposes the backend */
  readonly dispose?: (backend: Backend) => Promise<void> | void;
  /**
   * Resolves when what is on the way has had time to arrive. Called up to 500 times for what should come, a few times for what
   * should not: it is the measure of all waiting, so it has to resolve. With a virtual clock: its `settle`.
   * @default 10 ms of real time
   */
  readonly settle?: () => Promise<void>;
  /**
   * Lets so many milliseconds pass for the backend. It may take as long in real time, up to a minute, before the 500 calls of
   * `settle` begin. Without it the cases about the expiry of leases are left out.
   */
  readonly advance?: (delayMs: number) => Promise<void>;
  /** Does away with the data behind a backend. Without it the case about the end of streams then (B7) is left out. */
  readonly destroyData?: (backend: Backend) => Promise<void>;
  /** Writes keys, and deletes those without a value, as one commit. Needed by a backend that is not writable itself. */
  readonly commit?: (backend: Backend, changes: readonly BackendChange[]) => Promise<Revision>;
  /** Rules and names of cases that are left out: promises known not to be kept. A name that is none is a TypeError. */
  readonly skip?: readonly string[];
}

/** One test, for any test runner. */
export interface BackendCase {
  /** Unique. */
  readonly name: string;
  /** Id of the rule it checks: those of `docs/backends.md`. */
  readonly rule: string;
  /**
   * Opens a backend and runs. Rejects with a `BackendAssertionError`, or with what `open` and `dispose` throw; ends in any
   * case, as long as `settle` does.
   */
  run(): Promise<void>;
}

export interface BackendSuiteResult {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly rule: string; readonly error: unknown }[];
}

const SPECS: readonly BackendCaseSpec[] = [
  ...POSITION_CASES,
  ...RANGE_CASES,
  ...TXN_CASES,
  ...COMPARE_CASES,
  ...STREAM_CASES,
  ...WATCH_CASES,
  ...HISTORY_CASES,
  ...LEASE_CASES,
];
const NAMES = ['open', 'capabilities', 'dispose', 'settle', 'advance', 'destroyData', 'commit', 'skip'] as const;

/**
 * The conformance suite for backends: one case for each thing that a replica relies on (`docs/backends.md`). It needs no test
 * runner and knows none, so give the cases to yours, or to {@link runBackendCases}. Cases are independent of each other
 * and may run at the same time.
 *
 * It shows that promises are broken, never that they are kept: faults of a network, and data that are replaced under a
 * name of their own, are for `createFaultyBackend` and for tests of the backend itself.
 *
 * @throws TypeError for options that are missing, unknown or contradict each other
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 * import { createMemoryBackend, createVirtualClock, runBackendCases, testBackend } from 'plimsoll/testing';
 *
 * const clock = createVirtualClock();
 * const cases = testBackend({
 *   capabilities: { progress: true, writable: true, leases: true },
 *   open: async () => createMemoryBackend(await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock })),
 *   settle: () => clock.settle(),
 *   advance: (delayMs) => clock.advance(delayMs),
 * });
 * // With a test runner: for (const { name, rule, run } of cases) test(`${rule}: ${name}`, run);
 * const { passed, failed } = await runBackendCases(cases);
 * for (const { name, error } of failed) console.error(name, error);
 * console.log(`${passed} passed, ${failed.length} failed`);
 * ```
 */
export function testBackend(options: BackendSuiteOptions): readonly BackendCase[] {
  checkOptions(options);
  const { capabilities, skip = [] } = options;
  const has: Readonly<Record<BackendNeed, boolean>> = {
    writable: capabilities.writable,
    progress: capabilities.progress,
    leases: capabilities.writable && capabilities.leases === true,
    advance: options.advance !== undefined,
    destroyData: options.destroyData !== undefined,
  };
  return SPECS.filter(
    ({ name, rule, needs = [] }) => needs.every((need) => has[need]) && !skip.includes(name) && !skip.includes(rule),
  ).map((spec) => ({ name: spec.name, rule: spec.rule, run: () => runCase(spec, options) }));
}

/**
 * Runs cases one after the other. What a case throws is its failure. `onStart` is told each case before it runs; what it
 * throws ends the run, and is all that this rejects with.
 */
export async function runBackendCases(
  cases: readonly BackendCase[],
  onStart: (one: BackendCase) => void = () => {},
): Promise<BackendSuiteResult> {
  const failed: { name: string; rule: string; error: unknown }[] = [];
  for (const one of cases) {
    onStart(one);
    try {
      await one.run();
    } catch (error) {
      failed.push({ name: one.name, rule: one.rule, error });
    }
  }
  return { passed: cases.length - failed.length, failed };
}

async function runCase(spec: BackendCaseSpec, options: BackendSuiteOptions): Promise<void> {
  const { advance, destroyData, commit, dispose = (one: Backend) => one[Symbol.asyncDispose]() } = options;
  const wait = new BackendWait(spec.rule, options.settle ?? passTenMs);
  const end = async (backend: Backend) => dispose(backend);
  const failures: unknown[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      failures.push(error);
    }
  };
  await attempt(async () => {
    const backend = await openInTime(wait, options, end);
    const session = new BackendSession(backend, {
      rule: spec.rule,
      wait,
      advance: async (delayMs) => advance?.(delayMs),
      destroyData: async () => destroyData?.(backend),
      commit: commit === undefined ? undefined : (changes) => commit(backend, changes),
    });
    await attempt(() => runSpec(spec, session, options.capabilities));
    await attempt(() => session.close());
    answerOf(await wait.outcome('dispose', end(backend)));
  });
  await attempt(() => wait.rest());
  // What broke first says more than what broke in its wake.
  if (failures.length > 0) throw failures[0];
}

/** What `open` throws comes as it is. A backend that comes too late is disposed then; how that ends, nobody waits for. */
async function openInTime(
  wait: BackendWait,
  { open }: BackendSuiteOptions,
  end: (backend: Backend) => Promise<void>,
): Promise<Backend> {
  const opening = (async () => open())();
  try {
    return answerOf(await wait.outcome('open', opening));
  } catch (error) {
    void Promise.allSettled([opening.then(end)]);
    throw error;
  }
}

function answerOf<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

async function runSpec(spec: BackendCaseSpec, session: BackendSession, told: BackendCapabilities): Promise<void> {
  try {
    checkCapabilities(session.backend, told, spec.rule);
    await spec.run(session);
  } catch (error) {
    throw error instanceof BackendAssertionError ? error : thrown(spec.rule, error);
  }
}

/** Whatever came through: a call that threw at once, an answer of the wrong kind. */
function thrown(rule: string, cause: unknown): BackendAssertionError {
  return new BackendAssertionError({ rule, what: 'a call', expected: 'an answer', actual: cause }, { cause });
}

/** A backend that says another thing than the suite was told would be tested for the wrong promises. */
function checkCapabilities(backend: Backend, told: BackendCapabilities, rule: string): void {
  const { progress, writable, leases = false } = backend.capabilities;
  const actual = { progress, writable, leases, hasLeases: backend.leases !== undefined };
  const expected = {
    progress: told.progress,
    writable: told.writable,
    leases: told.leases ?? false,
    hasLeases: told.leases ?? false,
  };
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new BackendAssertionError({ rule, what: 'the capabilities of the backend', expected, actual });
}

function checkOptions(options: BackendSuiteOptions): void {
  const action = 'test a backend';
  checkKitOptions(options, NAMES, action);
  if (typeof options.open !== 'function') throw new TypeError(`Cannot ${action}: open is not a function`);
  const { capabilities, skip = [], commit } = options;
  if (typeof capabilities !== 'object' || capabilities === null) {
    throw new TypeError(`Cannot ${action}: capabilities is not an object`);
  }
  if (!capabilities.writable && commit === undefined) {
    throw new TypeError(`Cannot ${action}: one that is not writable needs the option commit`);
  }
  const known = new Set(SPECS.flatMap(({ name, rule }) => [name, rule]));
  for (const one of skip) {
    if (!known.has(one)) throw new TypeError(`Cannot ${action}: skip names ${one}, which is no rule and no case`);
  }
}

function passTenMs(): Promise<void> {
  return new Promise((resolve) => systemClock.after(10, resolve));
}
