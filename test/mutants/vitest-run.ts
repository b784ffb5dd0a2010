import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onExit } from '../etcd/cleanup.ts';

/**
 * How a run of some tests ended: `broken` when it told nothing of the code (a file did not load, no test ran), so that a
 * fault with a typing mistake is not taken for one that was caught.
 */
export type RunOutcome =
  | { readonly type: 'passed'; readonly tests: number }
  | { readonly type: 'failed'; readonly by: string }
  | { readonly type: 'broken'; readonly reason: string };

interface VitestResult {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

export interface RunOptions {
  readonly folder: string;
  readonly tests: readonly string[];
  readonly seed: number;
  /**
   * A run that says nothing for longer hangs, which is one way to be caught: it says something after each file. So does one
   * that goes on for ten times as long, whatever it says.
   */
  readonly silenceMsMax: number;
  /** Told how long it was silent at most, in ms. */
  readonly onSilence?: (longestMs: number) => void;
}

/** Runs tests with vitest until the first one fails. */
export async function runTests({ folder, tests, seed, silenceMsMax, onSilence }: RunOptions): Promise<RunOutcome> {
  const outputFile = join(folder, 'result.json');
  rmSync(outputFile, { force: true });
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const options = [
    '--config=test/mutants/vitest.config.ts',
    '--bail=1',
    '--maxWorkers=1',
    '--reporter=json',
    '--reporter=default',
    `--outputFile.json=${outputFile}`,
  ];
  const env = { ...process.env, PLIMSOLL_TEST_SEED: String(seed), PLIMSOLL_TEST_SIZE: 'smoke' };
  const args = [vitest, 'run', ...options, ...tests];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  // A group of its own: the workers end with it.
  const end = onExit(() => endGroup(child.pid));
  let isLate = false;
  const giveUp = () => {
    isLate = true;
    end();
  };
  const timer = setTimeout(giveUp, silenceMsMax);
  const limit = setTimeout(giveUp, 10 * silenceMsMax);
  let said = '';
  let lastMs = performance.now();
  let longestMs = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2000);
      timer.refresh();
      const nowMs = performance.now();
      longestMs = Math.max(longestMs, nowMs - lastMs);
      lastMs = nowMs;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  clearTimeout(timer);
  clearTimeout(limit);
  end();
  onSilence?.(Math.max(longestMs, performance.now() - lastMs));
  if (isLate)
    return { type: 'failed', by: `a run that hangs: no end, or silent for ${Math.round(silenceMsMax / 1000)} s` };
  return judge(code, readResult(outputFile), said);
}

/** Vitest's workers too, if any is left. */
function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readResult(file: string): VitestResult | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VitestResult;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

function judge(code: number | null, result: VitestResult | undefined, said: string): RunOutcome {
  if (result === undefined) return { type: 'broken', reason: `vitest ended with ${code} and no result:\n${said}` };
  for (const { name, assertionResults } of result.testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed !== undefined) return { type: 'failed', by: `${short(name)}: ${failed.fullName}` };
  }
  const unloaded = result.testResults.find(({ status }) => status === 'failed');
  if (unloaded !== undefined) return { type: 'broken', reason: `${short(unloaded.name)}: ${unloaded.message}` };
  if (result.numTotalTests === 0) return { type: 'broken', reason: `no test ran:\n${said}` };
  if (code !== 0) return { type: 'failed', by: 'an error outside of any test' };
  return { type: 'passed', tests: result.numTotalTests };
}

function short(path: string): string {
  const start = path.lastIndexOf('/test/');
  return start < 0 ? path : path.slice(start + 1);
}
