import { createEssenceHasherWith } from '../../src/core/essence-hasher.ts';
import { coreModule } from '../../src/core/module.ts';
import { JsonSyntaxError } from '../../src/types/errors.ts';
import { HOSTILE_TEXTS, HOSTILE_WRITES } from './hostile-inputs.ts';
import { createCountedCore, createCountedEssence } from './instrumented.ts';
import type { Part, WorkerOptions } from './part.ts';
import { errorOf } from './shrink.ts';

/** Twice the input may cost so many times the steps: n log n is 2.1, n squared 4. */
const GROWTH_MAX = 2.5;
/** Steps a byte of text, loops over blocks of 16 and single bytes alike. Sorting a million members is what needs most. */
const STEPS_A_BYTE_MAX = 40;
const MEGABYTE = 2 ** 20;

/**
 * Hostile inputs end in bounded work. Work is counted in the core, not timed: so many steps for an input of a size, and
 * at most 2.5 times as many for one of twice that. How long 10 MB of each take on this machine is told, and decides
 * nothing.
 */
export async function runWork(part: Part, { smoke }: WorkerOptions): Promise<void> {
  const size = smoke ? 60_000 : 400_000;
  for (const [name, make] of Object.entries(HOSTILE_TEXTS)) {
    part.check(`work for a text: ${name}`, () => {
      const [once, twice] = [scanSteps(make(size)), scanSteps(make(2 * size))];
      bounded(once, twice, `${name}: ${perByte(twice, 2 * size)} steps a byte`, part);
      if (twice > 2 * size * STEPS_A_BYTE_MAX) throw new Error(`${twice} steps for ${2 * size} bytes`);
    });
  }
  const writes = smoke ? 800 : 8000;
  for (const [name, write] of Object.entries(HOSTILE_WRITES)) {
    part.check(`work for writes: ${name}`, () => {
      const [once, twice] = [writes, 2 * writes].map((count) => {
        const core = createCountedCore();
        return write(core.exports, count, core.steps);
      }) as [number, number];
      bounded(once, twice, `${name}: ${Math.round(twice / (2 * writes))} steps each`, part);
    });
  }
  tellTimes(part, smoke ? MEGABYTE : 10 * MEGABYTE);
}

function bounded(once: number, twice: number, what: string, part: Part): void {
  const growth = twice / Math.max(once, 1);
  part.notes.push(`${what}, ${growth.toFixed(2)} times as many for twice as much`);
  // A text that is refused at once costs the same few steps at any size.
  if (growth > GROWTH_MAX && twice > 2000) throw new Error(`${once} steps, and ${twice} for twice as much`);
}

/** Steps of a scan with the default rules and, where there is a canonical text, of its digest. */
function scanSteps(text: Uint8Array): number {
  const { core, steps } = createCountedEssence();
  const before = steps();
  const refusal = errorOf(() => core.digest(text, false, 'count steps'));
  if (refusal !== undefined && !(refusal instanceof JsonSyntaxError)) throw refusal;
  return steps() - before;
}

function perByte(steps: number, bytes: number): string {
  return (steps / bytes).toPrecision(2);
}

function tellTimes(part: Part, bytes: number): void {
  const hasher = createEssenceHasherWith(coreModule());
  for (const [name, make] of Object.entries(HOSTILE_TEXTS)) {
    const text = make(bytes);
    const started = performance.now();
    let outcome = 'a digest';
    try {
      hasher.digest(text);
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) outcome = String(error);
      else outcome = `refused at byte ${error.offset}`;
    }
    const ms = Math.round(performance.now() - started);
    part.notes.push(`${(text.length / MEGABYTE).toFixed(1)} MB of ${name}: ${ms} ms, ${outcome}`);
    part.progress(() => `work: ${name}`);
  }
}
