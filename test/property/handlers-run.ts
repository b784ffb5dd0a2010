import type { CallContext, HandlerContext, RetireContext, SubContext } from '../../src/handlers/context.ts';
import { type Controller, createController } from '../../src/handlers/controller.ts';
import { createMemoryProgress } from '../../src/handlers/progress.ts';
import { digestOfSub, digestOfView } from '../../src/handlers/view.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import {
  createObjectSource,
  type MemoryObjectSource,
  type ObjectSourceFaults,
} from '../../src/testing/object-source.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { PermanentError, TemporaryError } from '../../src/types/errors.ts';
import type { Random } from '../../src/types/random.ts';
import { sleep, type Thing } from '../unit/handlers/harness.ts';
import { checkHandler, checkPatch, DELETION } from './handlers-checks.ts';
import { type CallEntry, type Ending, Journal, textOf } from './handlers-journal.ts';
import {
  below,
  type DeletionPlan,
  type HandlerPlan,
  type Program,
  type Step,
  type SubPlan,
} from './handlers-program.ts';
import {
  entryOf,
  inputOf,
  isLabelled,
  isRevocable,
  kubernetes,
  numberOf,
  seenBy,
  subInput,
  subOptions,
  subsOf,
  subView,
  TIMEOUT_MS,
  type Writer,
  writeBy,
} from './handlers-views.ts';
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
export async function runProgram(program: Program): Promise<Verdict> {
  const run = new ProgramRun(program);
  for (const { step, gapMs } of program.steps) await run.take(step, gapMs);
  await run.quiet();
  run.checkFinal();
  await run.checkRest();
  const { violations, calls, writes, crashes } = run.journal;
  return { violations, calls, writes, crashes };
}

class ProgramRun {
  readonly journal: Journal;
  readonly #program: Program;
  readonly #random: Random;
  readonly #clock = createVirtualClock();
  readonly #source: MemoryObjectSource<Thing>;
  readonly #progress = createMemoryProgress();
  readonly #order: HandlerPlan[];
  #process: Process;
  #controller: Controller<Thing>;
  #stop = new AbortController();
  #number = 0;
  readonly #dead: Process[] = [];
  #isQuiet = false;

  constructor(program: Program) {
    this.#program = program;
    this.#random = createSeededRandom(program.seed ^ 0x5bd1e995);
    this.#source = createObjectSource({ clock: this.#clock, random: this.#random, faults: this.#faults() });
    // One of them may come with a later version.
    this.#order = program.handlers.slice(0, program.handlers.length > 1 && this.#random() < 0.3 ? -1 : undefined);
    this.journal = new Journal(new Set(program.handlers.filter(({ subs }) => subs !== undefined).map(({ id }) => id)));
    for (const name of program.names)
      this.#source.put(name, { spec: { a: 0, kind: 0 }, status: { x: 0 }, metadata: { labels: { on: 1 } } });
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
      case 'jump':
        this.#clock.jumpWallTime(step.deltaMs);
        break;
    }
    await this.#advance(gapMs);
  }

  /** Nothing goes wrong any more, and a new list brings what was lost. */
  async quiet(): Promise<void> {
    this.#isQuiet = true;
    this.#source.setFaults({});
    await this.#advance(1000);
    // The late write of a dead process reaches its successor only if that one writes or starts after it; until then the
    // document says that an attempt is open which nobody ever began. Harmless, but not rest (docs/spec/handlers.md).
    if (this.#dead.some(({ hasLateWrite }) => hasLateWrite)) this.#process.crash();
    await this.#advance(1000);
    this.#source.breakWatches();
    await this.#rest("I19'");
  }

  checkFinal(): void {
    for (const object of this.#source.objects) {
      if (object.deleting) {
        if (object.finalizers?.length !== 0) this.journal.violate("I12'", `${object.uid} is never released`);
        continue;
      }
      for (const handler of this.#order) checkHandler(this.journal, this.#controller, object, handler);
    }
    const uids = new Set(this.#source.objects.map(({ uid }) => uid));
    for (const uid of this.journal.docs.keys()) {
      if (!uids.has(uid)) this.journal.violate("I12'", `${uid}: the document of a dead object is still there`);
    }
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
    else after.metadata = { labels: { on: value === 0 ? 0 : 1 } };
    this.#source.put(name, after);
  }

  #start(): { process: Process; controller: Controller<Thing> } {
    const process = new Process(++this.#number, this.#clock);
    if (this.#number > 1 && !this.#isQuiet) this.#change();
    const handlers = [...this.#order];
    const controller = createController<Thing>({
      source: process.source(
        this.#source,
        () => this.#fate(),
        (change, result) =>
          checkPatch(this.journal, { process, handlers, deletion: this.#program.deletion }, change, result),
      ),
      progress: process.progress(this.journal.store(this.#progress), () => this.#fate()),
      essence: kubernetes,
      clock: process.clock,
      random: this.#random,
      policy: this.#program.policy,
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
          timeoutMs: TIMEOUT_MS,
          ...(handler.field === undefined ? {} : { field: handler.field }),
          ...(handler.onlyLabelled ? { when: isLabelled } : {}),
          ...(handler.subs !== undefined && handler.retires
            ? { retire: (ctx) => this.#retire(process, handler, ctx) }
            : {}),
        },
        (context) => this.#handle(process, handler, context),
      );
    }
    const { deletion } = this.#program;
    if (deletion !== undefined) {
      const options = { id: DELETION, retries: deletion.retries, timeoutMs: TIMEOUT_MS };
      controller.on('delete', { ...options, ...(deletion.onlyLabelled ? { when: isLabelled } : {}) }, (context) =>
        this.#handleDeletion(process, deletion, context),
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

  #handle(process: Process, plan: HandlerPlan, context: HandlerContext<Thing>): Promise<void> {
    const view = seenBy(plan, context.object);
    const writer: Writer = {
      id: plan.id,
      writes: plan.writes,
      value: numberOf(view),
      look: (object) => seenBy(plan, object),
    };
    const entry = entryOf(process, context, {
      id: plan.id,
      digest: digestOfView(view),
      input: inputOf(plan.id, view),
      retries: plan.retries,
      isRebuild: context.rebuild,
      isRevocable: isRevocable(plan),
      kind: plan.kind,
    });
    this.#checkAlive(process, entry);
    for (const sub of subsOf(plan, view)) {
      context.sub(sub.id, subOptions(plan, sub), (subContext) => this.#handleSub(process, plan, sub, subContext));
    }
    return this.#work(process, plan, entry, context, writer);
  }

  #handleSub(process: Process, plan: HandlerPlan, sub: SubPlan, context: SubContext<Thing>): Promise<void> {
    const id = `${plan.id}/${sub.id}`;
    const { digest, input } = subInput(plan, sub, context.object);
    if (textOf(context.args) !== textOf(sub.args)) this.journal.violate("A9'b", `${id}: args ${textOf(context.args)}`);
    const facts = {
      id,
      digest,
      input,
      retries: sub.retries,
      isRebuild: false,
      isRevocable: isRevocable(sub),
      args: sub.args,
    };
    const entry = entryOf(process, context, facts);
    this.#checkAlive(process, entry);
    const { object } = context;
    const writer: Writer = {
      id: `${plan.id}-${sub.id}`,
      writes: sub.writes,
      value: 1,
      // A selection stays as it is for as long as the plan.
      look: (after) => subView(plan, sub, sub.selects ? object : after),
      digestOn: (seen) => digestOfSub(seen, sub.args),
    };
    return this.#work(process, plan, entry, context, writer);
  }

  #handleDeletion(process: Process, plan: DeletionPlan, context: HandlerContext<Thing>): Promise<void> {
    const facts = { id: DELETION, digest: 'deletion', input: 'deletion', retries: plan.retries, isRebuild: false };
    const entry = entryOf(process, context, { ...facts, isRevocable: false });
    const writer: Writer = { id: DELETION, writes: undefined, value: 0, look: () => undefined };
    return this.#work(process, { ...plan, obeysSignal: false }, entry, context, writer);
  }

  async #retire(process: Process, plan: HandlerPlan, context: RetireContext<Thing>): Promise<void> {
    if (process.isDead) return new Promise(() => {});
    const { uid, idempotencyKey: key, tried, resourceVersion } = context;
    const version = Number(resourceVersion);
    const entry = { process: process.number, uid, id: `${plan.id}/${context.id}`, key, version, tried };
    const random = this.#random;
    this.journal.beginRetirement(entry);
    const durationMs = below(random, plan.callMsMax + 1);
    if (!this.#isQuiet && random() < 0.03) {
      process.crash();
      return new Promise(() => {});
    }
    if (durationMs > 0) await process.alive(sleep(this.#clock, durationMs));
    const isOk = random() < 0.75;
    this.journal.endRetirement(entry, isOk);
    if (!isOk) throw random() < 0.5 ? new PermanentError('not yet') : new Error('broken');
  }

  #checkAlive(process: Process, { uid, id }: CallEntry): void {
    if (process.buried.has(uid)) this.journal.violate("I12'", `${uid} ${id}: called after its deletion was seen`);
  }

  /** The body of every handler: takes its time, does its effect, and ends as chance has it. */
  async #work(
    process: Process,
    plan: Pick<HandlerPlan, 'callMsMax' | 'obeysSignal'>,
    call: CallEntry,
    context: CallContext<Thing>,
    writer: Writer,
  ): Promise<void> {
    if (process.isDead) return new Promise(() => {});
    const { signal } = context;
    const random = this.#random;
    const isFirst = this.journal.begin(call);
    const chance = random();
    const durationMs = below(random, plan.callMsMax + 1);
    if (isFirst && !call.isRebuild && random() < 0.9) this.journal.effect(call);
    if (!this.#isQuiet && random() < 0.02) {
      process.crash();
      return new Promise(() => {});
    }
    const unwritten = { digest: call.digest, view: call.view };
    if (chance < 0.03) {
      process.clock.after(TIMEOUT_MS - 1, () => this.journal.end(call, 'temporary', false, unwritten));
      return new Promise(() => {});
    }
    if (durationMs > 0) await process.alive(sleep(this.#clock, durationMs));
    const end = (ending: Ending): void => {
      if (ending === 'ok' && isFirst) this.journal.effect(call);
      const seen = ending === 'superseded' ? unwritten : writeBy(context, writer, ending, unwritten);
      this.journal.end(call, ending, isFirst, seen);
    };
    if (plan.obeysSignal && signal.aborted) {
      end('superseded');
      throw signal.reason;
    }
    // A consumer that knows the key has done the work before, so it has nothing to fail at.
    if (chance < 0.7 || (!isFirst && !call.isRebuild)) return end('ok');
    // An error of an aborted call is no verdict on the input, unless it says so itself.
    if (chance < 0.9) {
      end(signal.aborted ? 'superseded' : 'temporary');
      throw chance < 0.8 ? new TemporaryError('later', { delayMs: 1 + below(random, 100) }) : new Error('broken');
    }
    end('permanent');
    throw new PermanentError('never');
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
