import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onExit } from '../etcd/cleanup.ts';
import { LEFT_OUT, type Mutator, type NodePath, OWN_MUTATORS } from './mutators.ts';

/** One mutant, as Stryker tells it. Lines and columns count from 1, and the end is not included. */
export interface Mutant {
  readonly fileName: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** The same after its run. */
export interface MutantResult extends Mutant {
  readonly status: string;
  readonly statusReason?: string;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface StrykerOptions {
  readonly root: URL;
  /** Patterns of the files that get mutants, from the root. */
  readonly files: readonly string[];
  /** Patterns of the tests. */
  readonly tests: readonly string[];
  readonly seed: number;
  /** Only about so many mutants in a hundred, chosen by the seed. */
  readonly percent: number;
  /** Mutants that survive without a run. */
  readonly isLeftOut: (mutant: Mutant) => boolean;
}

interface StrykerModule {
  readonly Stryker: new (options: object) => { runMutationTest(): Promise<readonly MutantResult[]> };
}

/**
 * Makes all mutants of the files in one instrumented copy of the tree, and runs for each the tests that reach it. Stryker
 * sees to coverage, time limits and workers; a mutant is behind a switch, so nothing is built again for it.
 */
export async function runStryker(options: StrykerOptions): Promise<readonly MutantResult[]> {
  const folder = new URL('test/mutants/stryker/', options.root);
  install(folder);
  const modules = new URL('node_modules/@stryker-mutator/', folder);
  await addMutators(modules, options);
  const { Stryker } = (await import(new URL('core/dist/src/index.js', modules).href)) as StrykerModule;
  const tempDirName = mkdtempSync(join(tmpdir(), 'plimsoll-stryker-'));
  const remove = onExit(() => rmSync(tempDirName, { recursive: true, force: true }));
  process.chdir(fileURLToPath(options.root));
  process.env.PLIMSOLL_TEST_SEED = String(options.seed);
  process.env.PLIMSOLL_TEST_SIZE = 'smoke';
  process.env.PLIMSOLL_MUTANT_TESTS = options.tests.join(',');
  try {
    const { plans } = (await import(new URL('reporter.mjs', folder).href)) as { plans: { isLeftOut: unknown } };
    plans.isLeftOut = options.isLeftOut;
    const results = await new Stryker({
      plugins: [new URL('mocha-runner/dist/src/index.js', modules), new URL('reporter.mjs', folder)].map((url) =>
        fileURLToPath(url),
      ),
      // Loaded once, the tests run in one process against mutant after mutant; vitest would load them for each.
      testRunner: 'mocha',
      mochaOptions: { spec: ['test/mutants/bundle/tests.mjs'] },
      // Split at its spaces, of which a path may have some.
      buildCommand: `node ${fileURLToPath(new URL('mocha/build.mjs', new URL('../', folder))).replaceAll(' ', '\\ ')}`,
      reporters: ['plimsoll'],
      mutate: options.files,
      ignorePatterns: [
        '/*',
        '!/src',
        '!/test',
        '!/tools',
        '!/docs',
        '!/package.json',
        '!/tsconfig*.json',
        '!/bench',
        '!/sim',
      ],
      coverageAnalysis: 'perTest',
      concurrency: 2,
      // What a mutant leaves behind (stores that are never closed, each with an address space of its core) slows those after it.
      maxTestRunnerReuse: 25,
      // On a machine that others use too, a slow run must not count as one that hangs.
      // Endless loops are ended by the tests themselves (`mocha/vitest.ts`); what is cut off here is counted as killed.
      timeoutMS: 30_000,
      timeoutFactor: 6,
      dryRunTimeoutMinutes: 30,
      tempDirName,
      cleanTempDir: 'always',
      symlinkNodeModules: true,
      logLevel: 'error',
      allowConsoleColors: false,
    }).runMutationTest();
    // It does what it is told by a plan that its reporter has changed: a version that does not fails here.
    const missed = results.find((one) => options.isLeftOut(one) && one.statusReason !== 'left out');
    if (missed !== undefined) throw new Error(`Stryker has run a mutant of ${missed.fileName} that was left out`);
    return results;
  } finally {
    remove();
  }
}

/** `npm ci` beside the manifest, unless that very version is there. What npm says goes to stderr. */
function install(folder: URL): void {
  const wanted = versionIn(
    new URL('package.json', folder),
    ({ dependencies }) => dependencies?.['@stryker-mutator/core'],
  );
  const found = versionIn(new URL('node_modules/@stryker-mutator/core/package.json', folder), ({ version }) => version);
  if (found === wanted) return;
  console.error('Installing Stryker (test/mutants/stryker)');
  const cwd = fileURLToPath(folder);
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`Cannot install Stryker: npm ended with ${status}`);
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function versionIn(file: URL, read: (manifest: Manifest) => string | undefined): string | undefined {
  return existsSync(file) ? read(JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined;
}

/**
 * Stryker takes no mutators from outside, but its list is an array of a module that is loaded once: the version is
 * pinned, and a version without this array fails here.
 */
async function addMutators(modules: URL, { seed, percent }: StrykerOptions): Promise<void> {
  const place = new URL('instrumenter/dist/src/mutators/mutate.js', modules);
  const { allMutators } = (await import(place.href)) as { allMutators: Mutator[] };
  const kept = [...allMutators, ...OWN_MUTATORS].filter(({ name }) => !LEFT_OUT.has(name));
  let state = seed >>> 0;
  const isChosen = () => {
    // A linear congruence is chance enough to choose by; the same seed chooses the same mutants of the same sources.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 0x1_0000_0000) * 100 < percent;
  };
  const sampled = kept.map((mutator) => ({
    name: mutator.name,
    *mutate(path: NodePath) {
      for (const replacement of mutator.mutate(path)) if (isChosen()) yield replacement;
    },
  }));
  allMutators.splice(0, allMutators.length, ...sampled);
}
