import { type Controller, createController } from '../../src/handlers/controller.ts';
import type { ProgressDocument } from '../../src/handlers/record.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import {
  createObjectSource,
  type MemoryObjectSource,
  type ObjectSourceFaults,
} from '../../src/testing/object-source.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Random } from '../../src/types/random.ts';
import type { SourceObject } from '../../src/types/source.ts';
import type { Thing } from '../unit/handlers/harness.ts';
import { Actors, type CallFacts } from './handlers-actors.ts';
import { checkHandler, checkPatch, DELETION } from './handlers-checks.ts';
import { Journal, textOf } from './handlers-journal.ts';
import { type Keep, type Kept, keepIn } from './handlers-keep.ts';
import { below, type HandlerPlan, type Program, type Step, type SubPlan } from './handlers-program.ts';
import { isLabelled, kubernetes, TIMEOUT_MS } from './handlers-views.ts';
import { type Fate, Process } from './handlers-world.ts';

const QUIET_LIMIT_MS = 600_000;

/** What a program came to. */
export interface Verdict {
  readonly violations: readonly string[];
  readonly calls: number;
  readonly writes: number;
  readonly crashes: number;
}

/** Runs a program to its end, lets everything come to rest, and says which invariants did not hold. */
export async function runProgram(program: Program, keep: Keep = 'memory'): Promise<Verdict> {
  const run = new ProgramRun(program, keep);
  for (const { step, gapMs } of program.steps) await run.take(step, gapMs);
  await run.quiet();
  await run.checkFinal();
  await run.checkRest();
  const { violations, calls, writes, crashes } = run.journal;
  return { violations, calls, writes, crashes };
}

/** What goes wrong in a run, and how its calls act, where chance is not to decide it. */
export interface Script {
  readonly fate: () => Fate;
  readonly chanceOf: (call: CallFacts) => Random;
}

/** Ids of all that may have subs. */
function parentsIn({ id, subs }: Pick<SubPlan, 'id' | 'subs'>): readonly string[] {
  if (subs === undefined) return [];
  return [id, ...subs.flat().flatMap((sub) => parentsIn({ ...sub, id: `${id}/${sub.id}` }))];
}

/** A program under way. */
export class ProgramRun {
  readonly journal: Journal;
  readonly #program: Program;
  readonly #random: Random;
  readonly #clock = createVirtualClock();
  readonly #source: MemoryObjectSource<Thing>;
  readonly #kept: Kept;
  readonly #order: HandlerPlan[];
  #process: Process;
  #controller: Controller<Thing>;
  #stop = new AbortController();
  #number = 0;
  readonly #actors: Actors;
  readonly #script: Script | undefined;
  readonly #dead: Process[] = [];
  #isQuiet = false;
  /** What wall time says while it stands still. */
  #frozenMs: number | undefined;

  constructor(program: Program, keep: Keep, script?: Script) {
    this.#program = program;
    this.#script = script;
    if (program.isFrozen) this.#frozenMs = this.#clock.wallTime();
    this.#random = createSeededRandom(program.seed ^ 0x5bd1e995);
    this.#source = createObjectSource({ clock: this.#clock, random: this.#random, faults: this.#faults() });
    // One of them may come with a later version.
    const isShort = script === undefined && program.handlers.length > 1 && this.#random() < 0.3;
    this.#order = program.handlers.slice(0, isShort ? -1 : undefined);
    this.journal = new Journal(new Set(program.handlers.flatMap(parentsIn)), program.parallel, () => this.#clock.now());
    for (const name of program.names)
      this.#source.put(name, { spec: { a: 0, kind: 0 }, status: { x: 0 }, metadata: { labels: { on: 1 } } });
    const living = (uid: string) => this.#source.objects.find((object) => object.uid === uid);
    const looks = {
      isHeld: (uid: string) => living(uid) === undefined || living(uid)?.finalizers?.length === 1,
      isDeleting: (uid: string) => living(uid)?.deleting !== false,
    };
    this.#actors = new Actors(this.journal, this.#random, this.#clock, looks, script?.chanceOf);
    this.#kept = keepIn(keep, this.#source, this.#clock);
    if (this.#kept.direct !== undefined) this.journal.watch(this.#kept.direct);
    ({ process: this.#process, controller: this.#controller } = this.#start());
  }

  async take(step: Step, gapMs: number): Promise<void> {
    switch (step.do) {
      case 'edit':
        this.#edit(step.name, step.path, step.value);
        break;
      case 'delete':
        this.#source.delete(step.name);
        break;
      case 'start deletion':
        this.#source.startDeletion(step.name);
        break;
      case 'recreate':
        this.#source.delete(step.name);
        this.#edit(step.name, 'a', 1);
        break;
      case 'crash':
        this.#process.crash();
        break;
      case 'restart':
        await this.#stopCleanly();
        break;
      case 'break watches':
        this.#source.breakWatches();
        break;
      case 'replay':
        this.#source.replay();
        break;
      case 'freeze':
        this.#frozenMs = this.#frozenMs === undefined ? this.#clock.wallTime() : undefined;
        break;
      case 'jump':
        this.#clock.jumpWallTime(step.deltaMs);
        break;
    }
    await this.#advance(gapMs);
  }

  /** Nothing goes wrong any more, and a new list brings what was lost. */
  async quiet(): Promise<void> {
    this.#isQuiet = true;
    this.#actors.isQuiet = true;
    this.#source.setFaults({});
    await this.#advance(1000);
    // The late write of a dead process reaches its successor only if that one writes or starts after it; until then the
    // document says that an attempt is open which nobody ever began. Harmless, but not rest (docs/spec/handlers.md).
    if (this.#dead.some(({ hasLateWrite }) => hasLateWrite)) this.#process.crash();
    await this.#advance(1000);
    this.#source.breakWatches();
    await this.#rest("I19'");
  }

  async checkFinal(): Promise<void> {
    for (const object of this.#source.objects) {
      if (object.deleting) {
        if (object.finalizers?.length !== 0) this.journal.violate("I12'", `${object.uid} is never released`);
        continue;
      }
      for (const handler of this.#order) checkHandler(this.journal, this.#controller, object, handler);
    }
    const kept = this.#kept.open();
    for (const { uid, name } of this.#source.objects) {
      const [is, was] = [await this.#answered(kept.get(uid, name)), this.journal.docs.get(uid)];
      if (textOf(is && copyOf(is)) !== textOf(was && copyOf(was))) {
        this.journal.violate("A40'", `${uid}: the store has ${textOf(is?.gen)}, written was ${textOf(was?.gen)}`);
      }
    }
    const left = (await this.#answered(kept.list())).filter(
      ({ uid }) => !this.#source.objects.some((o) => o.uid === uid),
    );
    if (left.length > 0) this.journal.violate("A40'd", `records of ${left.length} dead objects are left`);
    const uids = new Set(this.#source.objects.map(({ uid }) => uid));
    for (const uid of this.journal.docs.keys()) {
      if (!uids.has(uid) && !this.#kept.goesWithObjects)
        this.journal.violate("I12'", `${uid}: the document of a dead object is still there`);
    }
  }

  /** The objects as they are now. */
  get objects(): readonly SourceObject<Thing>[] {
    return this.#source.objects;
  }

  /** At rest: old news, an old list and a restart with another order cause no call and no write (I14', I17'). */
  async checkRest(): Promise<void> {
    const { calls, writes } = this.journal;
    const expectRest = (rule: string): void => {
      if (this.journal.calls !== calls) this.journal.violate(rule, `${this.journal.calls - calls} calls at rest`);
      if (this.journal.writes !== writes) this.journal.violate(rule, `${this.journal.writes - writes} writes at rest`);
    };
    this.#source.replay();
    await this.#rest("I14'");
    this.#source.setFaults({ staleListRate: 1 });
    this.#source.breakWatches();
    await this.#rest("I14'");
    expectRest("I14'");
    await this.#stopCleanly();
    this.#order.reverse();
    await this.#advance(0);
    await this.#rest("I17'");
    this.#source.setFaults({});
    this.#source.breakWatches();
    await this.#rest("I17'");
    expectRest("I17'");
  }

  #faults(): ObjectSourceFaults {
    const { hostility } = this.#program;
    return {
      dropRate: hostility,
      duplicateRate: hostility,
      delayMsMax: hostility * 200,
      staleListRate: hostility * 2,
      readErrorRate: hostility / 2,
      readDelayMsMax: hostility * 50,
      patchErrorRate: hostility,
      patchDelayMsMax: hostility * 100,
    };
  }

  #edit(name: string, path: 'a' | 'kind' | 'x' | 'label', value: number): void {
    const before = this.#source.objects.find((object) => object.name === name)?.object ?? {};
    const after = {
      spec: { a: 0, kind: 0, ...before.spec },
      status: { x: 0, ...before.status },
      metadata: before.metadata ?? {},
    };
    if (path === 'a' || path === 'kind') after.spec[path] = value;
    else if (path === 'x') after.status.x = value;
    else after.metadata = { ...after.metadata, labels: { on: value === 0 ? 0 : 1 } };
    this.#source.put(name, after);
  }

  #start(): { process: Process; controller: Controller<Thing> } {
    const process = new Process(++this.#number, this.#clock, () => this.#frozenMs ?? this.#clock.wallTime());
    if (this.#number > 1 && !this.#isQuiet && this.#script === undefined) this.#change();
    const handlers = [...this.#order];
    const controller = createController<Thing>({
      source: process.source(
        this.#source,
        () => this.#fate(),
        (change, result) =>
          checkPatch(this.journal, { process, handlers, deletion: this.#program.deletion }, change, result),
      ),
      progress:
        this.#kept.direct ??
        process.progress(this.journal.store(this.#kept.open(), this.#kept.hasLanded), () => this.#fate()),
      essence: kubernetes,
      clock: process.clock,
      random: this.#random,
      policy: this.#program.policy,
      persist: this.#program.persist,
      parallel: this.#program.parallel,
      backoff: { baseMs: 20, maxMs: 500 },
      drainMs: 1000,
    });
    for (const handler of handlers) {
      controller.on(
        handler.kind,
        {
          id: handler.id,
          retries: handler.retries,
          ...(handler.adopts ? { onAdded: 'adopt' } : {}),
          ...(handler.selfTrigger ? { selfTrigger: true } : {}),
          timeoutMs: TIMEOUT_MS,
          ...(handler.field === undefined ? {} : { field: handler.field }),
          ...(handler.onlyLabelled ? { when: isLabelled } : {}),
          ...(handler.subs !== undefined && handler.retires
            ? { retire: (ctx) => this.#actors.retire(process, handler, ctx) }
            : {}),
        },
        (context) => this.#actors.handle(process, handler, context),
      );
    }
    const { deletion } = this.#program;
    if (deletion !== undefined) {
      const options = { id: DELETION, retries: deletion.retries, timeoutMs: TIMEOUT_MS };
      controller.on('delete', { ...options, ...(deletion.onlyLabelled ? { when: isLabelled } : {}) }, (context) =>
        this.#actors.handleDeletion(process, deletion, handlers, context),
      );
    }
    this.#stop = new AbortController();
    controller.run({ signal: this.#stop.signal }).catch((error: unknown) => {
      this.journal.violate('run', String(error));
    });
    return { process, controller };
  }

  /** Another version of the program: handlers in another order, one of them gone, or one that was gone. */
  #change(): void {
    const random = this.#random;
    if (random() < 0.3) this.#order.sort(() => random() - 0.5);
    if (random() < 0.6) return;
    const missing = this.#program.handlers.filter((handler) => !this.#order.includes(handler));
    const [back] = missing;
    if (back !== undefined) this.#order.push(back);
    else if (this.#order.length > 1) this.#order.pop();
  }

  #fate(): Fate {
    if (this.#script !== undefined) return this.#script.fate();
    const delayMs = below(this.#random, this.#program.writeDelayMsMax + 1);
    if (this.#isQuiet) return { crash: undefined, applied: true, answered: true, delayMs };
    const chance = this.#random();
    const { hostility } = this.#program;
    if (chance < 0.02)
      return {
        crash: 'before',
        applied: this.#random() < 0.5,
        answered: true,
        delayMs: delayMs + below(this.#random, 300),
      };
    if (chance < 0.04) return { crash: 'after', applied: this.#random() < 0.5, answered: true, delayMs };
    if (chance < 0.04 + hostility / 4)
      return { crash: undefined, applied: this.#random() < 0.5, answered: false, delayMs };
    return { crash: undefined, applied: true, answered: true, delayMs };
  }

  async #stopCleanly(): Promise<void> {
    const process = this.#process;
    this.#stop.abort();
    await this.#clock.advance(TIMEOUT_MS);
    // What has not ended by now is lost as in a crash.
    await this.#clock.advance(1000);
    process.crash();
  }

  async #advance(delayMs: number): Promise<void> {
    await this.#clock.advance(delayMs);
    if (!this.#process.isDead) return;
    this.journal.crashed();
    this.#dead.push(this.#process);
    if (!this.#isQuiet) await this.#clock.advance(below(this.#random, 200));
    ({ process: this.#process, controller: this.#controller } = this.#start());
  }

  async #answered<R>(answer: Promise<R>): Promise<R> {
    let isDone = false;
    void answer.finally(() => {
      isDone = true;
    });
    while (!isDone && (await this.#clock.advanceToNext()));
    await this.#clock.settle();
    return answer;
  }

  /** Goes on until everything is settled and no timer is left (I19'). */
  async #rest(rule: string): Promise<void> {
    const end = this.#clock.now() + QUIET_LIMIT_MS;
    await this.#advance(0);
    while (this.#clock.pending > 0 && this.#clock.now() < end) {
      await this.#clock.advanceToNext();
      await this.#advance(0);
    }
    if (this.#clock.pending > 0) this.journal.violate(rule, 'there is no rest: a timer is left');
    const { behind } = this.#controller.stats();
    if (behind > 0) this.journal.violate(rule, `${behind} objects are behind`);
  }
}

function copyOf(document: ProgressDocument): unknown {
  return JSON.parse(JSON.stringify(document));
}
