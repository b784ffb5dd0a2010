import { describe, expect, it } from 'vitest';
import type { Controller } from '../../src/handlers/controller.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { PermanentError } from '../../src/types/errors.ts';
import type { Random } from '../../src/types/random.ts';
import type { ObjectSource } from '../../src/types/source.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { createWorld, type Life, sleep, type Thing, type World } from '../unit/handlers/harness.ts';

const NAMES = ['a', 'b', 'c'];
const CANCELLATION_MS = 400;

const isInScope = (object: Thing): boolean => Number(object.spec?.n) % 3 !== 0;

/** What happens in one program, and what of it must not. */
class Journal {
  readonly violations: string[] = [];
  readonly buried = new Set<string>();
  /** Daemons that run, those that obey their signal alone. */
  readonly daemons = new Map<string, number>();
  readonly done = new Set<string>();
  readonly busy = new Set<string>();
  calls = 0;

  begin(kind: string, uid: string): void {
    this.calls++;
    if (this.buried.has(uid)) this.violations.push(`I22': a ${kind} of ${uid} begins after its end`);
  }
}

class SpawnProgram {
  readonly journal = new Journal();
  readonly #random: Random;
  readonly #world: World;
  readonly #source: ObjectSource<Thing>;
  readonly #holds: boolean;
  #life!: Life;

  constructor(seed: number) {
    this.#random = createSeededRandom(seed ^ 0x2545f491);
    this.#world = createWorld(seed);
    this.#holds = this.#random() < 0.5;
    this.#source = this.#watched();
  }

  async run(): Promise<readonly string[]> {
    const { source, clock } = this.#world;
    const random = this.#random;
    for (const name of NAMES) source.put(name, { spec: { n: 1 } });
    await this.#start();
    const hostility = random() < 0.5 ? 0 : random() * 0.15;
    source.setFaults({
      duplicateRate: hostility,
      delayMsMax: hostility * 300,
      staleListRate: hostility * 2,
      readErrorRate: hostility,
      patchErrorRate: hostility,
      patchDelayMsMax: hostility * 100,
    });
    for (let step = 0; step < 25; step++) {
      const name = NAMES[Math.floor(random() * NAMES.length)] ?? 'a';
      const chance = random();
      if (chance < 0.12) this.#delete(name);
      else if (chance < 0.2) source.delete(name);
      else if (chance < 0.25) source.breakWatches();
      else if (chance < 0.3) await this.#restart();
      else this.#put(name);
      await clock.advance(random() < 0.4 ? 0 : random() * 250);
    }
    source.setFaults({});
    source.breakWatches();
    await clock.advance(120_000);
    this.#checkRest();
    await this.#life.stop();
    return this.journal.violations;
  }

  /** A new state; not into an object that is on its way out, which nobody would wait for. */
  #put(name: string): void {
    const living = this.#world.source.objects.find((object) => object.name === name);
    if (living?.deleting === true) return;
    this.#world.source.put(name, { ...living?.object, spec: { n: Math.floor(this.#random() * 6) } });
  }

  /** As a server does it: whom nobody holds is gone at once. */
  #delete(name: string): void {
    const { source } = this.#world;
    const isHeld = source.objects.some((object) => object.name === name && (object.finalizers?.length ?? 0) > 0);
    if (isHeld) source.startDeletion(name);
    else source.delete(name);
  }

  /** Hears what the controller hears, before it does. */
  #watched(): ObjectSource<Thing> {
    const { source } = this.#world;
    const { journal } = this;
    const { buried } = journal;
    return {
      hasFinalizers: this.#holds,
      list: (options) => source.list(options),
      get: (name, options) => source.get(name, options),
      patch: (patch, options) => {
        const isRunning = (journal.daemons.get(patch.uid) ?? 0) > 0;
        if (patch.removeFinalizer !== undefined && isRunning) {
          journal.violations.push(`I23': ${patch.uid} is released while its daemon runs`);
        }
        return source.patch(patch, options);
      },
      compare: (a, b) => source.compare(a, b),
      async *watch(options) {
        for await (const item of source.watch(options)) {
          yield item;
          // Told: by the next item the controller has taken it in.
          if (item.type === 'deleted' && item.uid !== undefined) buried.add(item.uid);
          if (item.type === 'modified' && item.object.deleting) buried.add(item.object.uid);
        }
      },
    };
  }

  async #start(): Promise<void> {
    this.journal.done.clear();
    this.#life = await this.#world.start((controller) => this.#register(controller), { source: this.#source });
  }

  async #restart(): Promise<void> {
    this.#life.abort();
    await this.#world.clock.advance(5000);
    await this.#life.done;
    this.journal.daemons.clear();
    await this.#start();
  }

  #register(controller: Controller<Thing>): void {
    const { clock } = this.#world;
    const random = this.#random;
    const { journal } = this;
    const serially = async (kind: string, name: string, uid: string): Promise<void> => {
      journal.begin(kind, uid);
      if (journal.busy.has(name)) journal.violations.push(`I22': a ${kind} of ${name} overlaps another call`);
      journal.busy.add(name);
      if (random() < 0.5) await sleep(clock, random() * 80);
      journal.busy.delete(name);
    };
    controller.on(
      'timer',
      { id: 't', intervalMs: 150, ...(random() < 0.5 ? { idleMs: 100 } : {}), when: isInScope, retries: 3 },
      async (ctx) => {
        await serially('timer', ctx.name, ctx.uid);
        if (random() < 0.3) ctx.patch({ status: { t: clock.now() } });
        if (random() < 0.2) throw random() < 0.1 ? new PermanentError('no') : new Error('not now');
      },
    );
    controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => serially('change', ctx.name, ctx.uid));
    controller.on(
      'daemon',
      { id: 'd', when: isInScope, cancellationTimeoutMs: CANCELLATION_MS, backoff: { baseMs: 20, maxMs: 100 } },
      async (ctx) => {
        const { uid, signal } = ctx;
        journal.begin('daemon', uid);
        const running = (journal.daemons.get(uid) ?? 0) + 1;
        journal.daemons.set(uid, running);
        if (running > 1) journal.violations.push(`I23': two daemons of ${uid}`);
        const endMs = random() < 0.3 ? random() * 500 : Number.POSITIVE_INFINITY;
        await Promise.race([sleep(clock, endMs), new Promise((resolve) => signal.addEventListener('abort', resolve))]);
        if (signal.aborted && random() < 0.5) await sleep(clock, random() * CANCELLATION_MS * 0.9);
        journal.daemons.set(uid, 0);
        if (signal.aborted) return;
        if (random() < 0.3) await ctx.patch({ status: { d: clock.now() } });
        if (random() < 0.7) throw new Error('again');
        if (!signal.aborted) journal.done.add(uid);
      },
    );
  }

  #checkRest(): void {
    const { journal } = this;
    const living = new Set<string>();
    for (const { name, uid, object, deleting } of this.#world.source.objects) {
      living.add(uid);
      if (deleting) journal.violations.push(`I23': ${name} is never released`);
      const expected = isInScope(object) && !journal.done.has(uid);
      const runs = journal.daemons.get(uid) === 1;
      // One that ends by itself in the end is between two calls, or done: it is not looked at.
      if (runs && !isInScope(object)) journal.violations.push(`I23': a daemon of ${name} runs out of scope`);
      if (expected && !runs) journal.violations.push(`I23': no daemon of ${name} runs`);
    }
    for (const [uid, running] of journal.daemons) {
      if (running > 0 && !living.has(uid)) journal.violations.push(`I23': a daemon of ${uid} outlives it`);
    }
    const { daemons, behind } = this.#life.stats();
    const running = [...journal.daemons.values()].filter((count) => count > 0).length;
    if (daemons !== running) journal.violations.push(`I23': ${daemons} daemons are counted, ${running} run`);
    if (behind > 1) journal.violations.push(`I19': ${behind} objects are behind`);
  }
}

describe('timers and daemons: random programs', () => {
  it("I22', I23': none for a dead uid, no overlaps, and at rest a daemon runs for each object in scope", async () => {
    const failed: string[] = [];
    let calls = 0;
    const programs = sized({ smoke: 250, full: 5000 });
    for (let index = 0; index < programs && failed.length < 5; index++) {
      const seed = (testSeed() + index) >>> 0;
      const program = new SpawnProgram(seed);
      const violations = await program.run();
      calls += program.journal.calls;
      if (violations.length > 0) failed.push(`program ${seed}: ${violations.slice(0, 3).join('; ')}`);
    }
    expect(failed, reproduce('property')).toEqual([]);
    expect(calls / programs).toBeGreaterThan(20);
  });
});
