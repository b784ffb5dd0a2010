import type { CoreExports } from '../../src/core/abi.ts';
import { coreModule } from '../../src/core/module.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { Dice } from '../etcd/dice.ts';
import { CoreProgram, type ProgramShape } from '../property/core-program.ts';
import { compileTinyCore } from '../support/tiny-core.ts';
import { ByteChecker, bytesOf } from './byte-program.ts';
import { runEssenceProgram } from './essence-program.ts';
import { makeExportProgram } from './export-program.ts';
import { runExportProgram } from './export-runner.ts';
import { makeKeysProgram, runKeysProgram } from './keys-program.ts';
import { runLimitProgram } from './limit-program.ts';
import { errorOf, messageOf, shrink } from './shrink.ts';
import { makeValue, ValueChecker } from './value-program.ts';

/** A kind of random program: of a hundred programs `share` are of it. */
export interface Kind {
  readonly name: string;
  readonly share: number;
  /** Runs the program of this seed; what is wrong, cut down, or `undefined`. */
  run(seed: number): string | undefined;
}

/** Every kind, ready to run: on the core as it is released, and on one with pages of eight entries. */
export async function prepareKinds(): Promise<readonly Kind[]> {
  const tiny = await compileTinyCore();
  return [
    ...(await releasedKinds()),
    { name: 'exports-tiny', share: 10, run: (seed) => runExports(tiny, seed) },
    { name: 'keys-tiny', share: 4, run: (seed) => runKeys(tiny, seed) },
    { name: 'index-tiny', share: 10, run: (seed) => runIndex(tiny, seed) },
  ];
}

/** Those that need nothing compiled. */
export async function releasedKinds(): Promise<readonly Kind[]> {
  const released = coreModule();
  const checker = await ByteChecker.create(released);
  const values = new ValueChecker(released);
  return [
    { name: 'exports', share: 25, run: (seed) => runExports(released, seed) },
    { name: 'keys', share: 6, run: (seed) => runKeys(released, seed) },
    { name: 'index', share: 4, run: (seed) => runIndex(released, seed) },
    { name: 'essence', share: 15, run: (seed) => told(errorOf(() => runEssenceProgram(released, seed))) },
    { name: 'bytes', share: 30, run: (seed) => runBytes(checker, seed) },
    { name: 'values', share: 10, run: (seed) => told(errorOf(() => values.check(makeValue(diceOf(seed))))) },
    { name: 'limits', share: 6, run: (seed) => told(errorOf(() => runLimitProgram(released, diceOf(seed)))) },
  ];
}

/** The exports of a new core, as they are. */
export function createCore(module: WebAssembly.Module): CoreExports {
  return new WebAssembly.Instance(module, {}).exports as unknown as CoreExports;
}

export function diceOf(seed: number): Dice {
  return new Dice(createSeededRandom(seed));
}

function told(error: unknown): string | undefined {
  return error === undefined ? undefined : messageOf(error);
}

function runExports(module: WebAssembly.Module, seed: number): string | undefined {
  return runSteps(makeExportProgram(diceOf(seed)), (program) => runExportProgram(createCore(module), program));
}

function runKeys(module: WebAssembly.Module, seed: number): string | undefined {
  return runSteps(makeKeysProgram(diceOf(seed)), (program) => runKeysProgram(createCore(module), program));
}

/** Runs a program of steps on some keys; one that fails is cut down to the steps that it takes. */
function runSteps<T>(
  program: { readonly keys: readonly string[]; readonly steps: readonly T[] },
  runProgram: (program: { readonly keys: readonly string[]; readonly steps: readonly T[] }) => void,
): string | undefined {
  const run = (steps: readonly T[]): unknown => errorOf(() => runProgram({ keys: program.keys, steps }));
  if (run(program.steps) === undefined) return undefined;
  const steps = shrink(program.steps, (candidate) => run(candidate) !== undefined);
  const keys = JSON.stringify(program.keys.map((key) => (key.length > 80 ? `${key.slice(0, 80)}...` : key)));
  const lines = steps.map((step, index) => `  ${index + 1}. ${JSON.stringify(step)}`);
  return `${messageOf(run(steps))}\n  keys ${keys.slice(0, 2000)}\n${lines.join('\n')}`;
}

/** Programs of `Core`, of growing size; a failing one is run again with fewer steps and keys. */
function runIndex(module: WebAssembly.Module, seed: number): string | undefined {
  const shape = { seed, steps: 20 + (seed % 12) * 15, keySpace: 2 + (seed % 9) ** 2 * 3 };
  const run = (candidate: ProgramShape): unknown => errorOf(() => new CoreProgram(module, candidate).run());
  const failure = run(shape);
  if (failure === undefined) return undefined;
  for (let steps = 1; steps < shape.steps; steps++) {
    const smaller = { ...shape, steps };
    const again = run(smaller);
    if (again !== undefined) return `${messageOf(again)}\n  new CoreProgram(module, ${JSON.stringify(smaller)}).run()`;
  }
  return `${messageOf(failure)}\n  new CoreProgram(module, ${JSON.stringify(shape)}).run()`;
}

function runBytes(checker: ByteChecker, seed: number): string | undefined {
  const bytes = bytesOf(seed);
  const run = (candidate: readonly number[]): unknown => errorOf(() => checker.check(Uint8Array.from(candidate)));
  if (run([...bytes]) === undefined) return undefined;
  const least = shrink([...bytes], (candidate) => run(candidate) !== undefined);
  const text = Buffer.from(least);
  const shown = JSON.stringify(text.toString('latin1')).slice(0, 500);
  return `${messageOf(run(least))}\n  ${text.length} bytes: ${shown}, in base64 ${text.toString('base64').slice(0, 2000)}`;
}

/** The seed of a program: of the run's seed, its kind and its number; neighbours have nothing in common. */
export function seedOf(seed: number, kind: number, index: number): number {
  const random = createSeededRandom(seed ^ Math.imul(kind + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  return Math.floor(random() * 0x7fffffff);
}
