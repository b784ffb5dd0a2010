/**
 * What the tests import from vitest, on mocha: loaded once, the same tests run thousands of times in one process, each
 * time against another mutant. Vitest would load them anew for each.
 *
 * Only what the tests use is here. Assertions are vitest's own.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { format } from 'node:util';
import { ASYMMETRIC_MATCHERS_OBJECT, chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import { fn, restoreAllMocks, spyOn } from '@vitest/spy';

type Body = (...row: never[]) => unknown;
/** A time limit or an object with options may stand on either side of the body; this file has limits of its own. */
type Define = (title: string, first: Body | object, second?: Body | object | number) => void;

/** Mocha's, which it puts there before it loads the tests. */
interface MochaGlobals {
  describe(title: string, body: () => void): void;
  it(title: string, body: () => Promise<void>): void;
  before(body: Body): void;
  after(body: Body): void;
}

/** The number of the mutant in this run, -1 for none, and how often each was reached: variables of the bundle, see `build.mjs`. */
declare let strykerMutant: number;
declare const strykerHits: Uint32Array;
/** How many more places a test may reach. */
declare let strykerSteps: number;

type Hits = Record<string, number>;

/** What Stryker shares with the tests. */
interface Stryker {
  readonly activeMutant?: string;
  readonly currentTestId?: string;
  mutantCoverage?: { readonly static: Hits; readonly perTest: Record<string, Hits> };
}

const shared = globalThis as { __stryker__?: Stryker };
shared.__stryker__ ??= {};
const stryker: Stryker = shared.__stryker__;

const mocha = globalThis as unknown as MochaGlobals;

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
const matchers = (globalThis as Record<symbol, object>)[ASYMMETRIC_MATCHERS_OBJECT];
export const expect = Object.assign(
  (value: unknown, message?: string) => chai.expect(value, message),
  chai.expect,
  matchers,
);

export const vi = { fn, spyOn };

/** Types are checked by the compiler; at run time every question is answered with itself. */
export const expectTypeOf: unknown = new Proxy(() => expectTypeOf, { get: () => expectTypeOf });

export const beforeAll = (body: Body): void => mocha.before(active(body));
export const afterAll = (body: Body): void => mocha.after(active(body));
export const describe = withEach((_title, body) => mocha.describe('-', () => void body()));
export const it = withEach((title, body) => {
  const known = titleOf(title);
  mocha.it(known, bounded(known, body));
});
export const test = it;

/** What a test took when all was well. */
interface Usual {
  readonly ms: number;
  readonly steps: number;
}

/**
 * Written by the process of the run without a mutant, a line a test. The others are begun after it, some of them in the place
 * of one that was killed, and have no such run of their own.
 */
const USUAL_FILE = new URL('usual.jsonl', import.meta.url);

const usual = new Map<string, Usual>(
  existsSync(USUAL_FILE)
    ? readFileSync(USUAL_FILE, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as [string, Usual])
    : [],
);

let file = '';
let isLoaded = false;
let tests = 0;

/** The tests that follow are of this file. */
export function enterFile(path: string): void {
  file = path;
}

/**
 * A test is known by a number, with the name of its file and the beginning of its title for a person: Stryker makes one
 * regular expression of the titles of all tests that reach a mutant, and whole ones are too much for it.
 */
function titleOf(title: string): string {
  return `${(tests++).toString(36)} ${file.split('/').at(-1)?.replace('.test.ts', '').slice(0, 16)}: ${title.slice(0, 12)}`;
}

/**
 * A test that hangs fails soon: it gets a few times what it took when all was well. Waiting for the process to be killed
 * would take minutes for each such mutant.
 */
function bounded(title: string, body: Body): () => Promise<void> {
  return async () => {
    const start = performance.now();
    activate();
    if (!isLoaded) report('loading');
    isLoaded = true;
    const { ms, steps } = usual.get(title) ?? { ms: 12_000, steps: Number.POSITIVE_INFINITY };
    strykerSteps = steps * 20 + 100_000;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isLate = new Promise<never>((_, reject) => {
      const limitMs = 2000 + ms * 10;
      timer = setTimeout(() => reject(new Error(`no end after ${limitMs} ms`)), limitMs);
    });
    try {
      await Promise.race([body(), isLate]);
      if (strykerMutant < 0) remember(title, performance.now() - start);
    } finally {
      // A test that failed half-way has not put back what it replaced.
      restoreAllMocks();
      clearTimeout(timer);
      strykerSteps = Number.POSITIVE_INFINITY;
      report();
    }
  };
}

function remember(title: string, ms: number): void {
  const taken: Usual = { ms, steps: strykerHits.reduce((sum, hits) => sum + hits, 0) };
  usual.set(title, taken);
  appendFileSync(USUAL_FILE, `${JSON.stringify([title, taken])}\n`);
}

/**
 * Hands on what was reached since the last time, and begins to count again: by loading the bundle, or by the test that ends
 * now, with what was done for it before it began.
 */
function report(by: 'loading' | 'test' = 'test'): void {
  if (strykerMutant >= 0) return;
  stryker.mutantCoverage ??= { static: {}, perTest: {} };
  const { static: ofLoading, perTest } = stryker.mutantCoverage;
  const test = stryker.currentTestId ?? '';
  if (by === 'test') perTest[test] ??= {};
  const hits = by === 'test' ? (perTest[test] as Hits) : ofLoading;
  strykerHits.forEach((count, mutant) => {
    if (count > 0) hits[mutant] = (hits[mutant] ?? 0) + count;
  });
  strykerHits.fill(0);
}

function active(body: Body): Body {
  return () => {
    activate();
    return body();
  };
}

/** Stryker names the mutant after the bundle was loaded, anew for each run. */
function activate(): void {
  strykerMutant = Number(stryker.activeMutant ?? -1);
}

function withEach(add: (title: string, body: Body) => void): Define & { each: (rows: readonly unknown[]) => Define } {
  const one: Define = (title, first, second) => add(title, bodyOf(first, second));
  const each =
    (rows: readonly unknown[]): Define =>
    (title, first, second) => {
      const body = bodyOf(first, second);
      for (const row of rows) {
        const values = (Array.isArray(row) ? row : [row]) as never[];
        add(
          format(title, ...values)
            .split('\n')
            .join(' '),
          () => body(...values),
        );
      }
    };
  return Object.assign(one, { each });
}

function bodyOf(first: Body | object, second: Body | object | number | undefined): Body {
  return (typeof first === 'function' ? first : second) as Body;
}
