import type {
  CallContext,
  HandlerContext,
  ParentContext,
  RetireContext,
  SubContext,
} from '../../src/handlers/context.ts';
import { digestOfSub, digestOfView } from '../../src/handlers/view.ts';
import type { VirtualClock } from '../../src/testing/virtual-clock.ts';
import { PermanentError, TemporaryError } from '../../src/types/errors.ts';
import type { Random } from '../../src/types/random.ts';
import { sleep, type Thing } from '../unit/handlers/harness.ts';
import { DELETION } from './handlers-checks.ts';
import { type CallEntry, type Ending, type Journal, textOf } from './handlers-journal.ts';
import { below, type DeletionPlan, type HandlerPlan, pick, type SubPlan } from './handlers-program.ts';
import {
  entryOf,
  inputOf,
  isRevocable,
  isSelected,
  numberOf,
  recordId,
  type SubPath,
  seenBy,
  subInput,
  subOptions,
  subsOf,
  subView,
  TIMEOUT_MS,
  type Writer,
  writeBy,
  writerId,
} from './handlers-views.ts';
import type { Process } from './handlers-world.ts';

/** What a call may depend on, if the same call is to do the same again. */
export type CallFacts = Pick<CallEntry, 'id' | 'digest' | 'attempt' | 'isRebuild'>;

/** The functions of a program's handlers: they act by their plan and by chance, and tell the journal. */
export class Actors {
  /** Nothing that could go wrong does any more, but failures of handlers. */
  isQuiet = false;
  readonly #journal: Journal;
  readonly #clock: VirtualClock;
  readonly #isHeld: (uid: string) => boolean;
  readonly #isDeleting: (uid: string) => boolean;
  readonly #chanceOf: (call: CallFacts) => Random;

  /**
   * `isHeld`: the object lives, and would not go without the controller. `isDeleting`: it is on its way out, or gone.
   * `chanceOf`: by which one call acts.
   */
  constructor(
    journal: Journal,
    random: Random,
    clock: VirtualClock,
    {
      isHeld,
      isDeleting,
    }: { readonly isHeld: (uid: string) => boolean; readonly isDeleting: (uid: string) => boolean },
    chanceOf: (call: CallFacts) => Random = () => random,
  ) {
    this.#journal = journal;
    this.#clock = clock;
    this.#isHeld = isHeld;
    this.#isDeleting = isDeleting;
    this.#chanceOf = chanceOf;
  }

  handle(process: Process, plan: HandlerPlan, context: HandlerContext<Thing>): Promise<void> {
    const view = seenBy(plan, context.object);
    const writer: Writer = {
      id: plan.id,
      writes: plan.writes,
      value: numberOf(view),
      look: (object) => seenBy(plan, object),
      selfTrigger: plan.selfTrigger,
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
    if (plan.retires && plan.subs !== undefined && !this.#isHeld(entry.uid)) {
      this.#journal.violate("A11'a", `${entry.uid} ${plan.id}: called on an object that is not held`);
    }
    this.#register(process, plan, [], subsOf(plan.subs, entry.input), context);
    return this.#work(process, plan, entry, context, writer);
  }

  #register(
    process: Process,
    plan: HandlerPlan,
    path: SubPath,
    subs: readonly SubPlan[],
    context: ParentContext<Thing>,
  ): void {
    for (const sub of subs) {
      const own = [...path, sub];
      context.sub(sub.id, subOptions(plan, path, sub), (call) => this.#handleSub(process, plan, own, sub, call));
    }
  }

  #handleSub(
    process: Process,
    plan: HandlerPlan,
    path: SubPath,
    sub: SubPlan,
    context: SubContext<Thing>,
  ): Promise<void> {
    const id = recordId(plan, path);
    const { digest, input } = subInput(plan, path, context.object);
    if (`${context.parentId}/${context.id}` !== id) this.#journal.violate("A9'f", `${id}: told ${context.parentId}`);
    if (textOf(context.args) !== textOf(sub.args)) this.#journal.violate("A9'b", `${id}: args ${textOf(context.args)}`);
    const facts = {
      id,
      digest,
      input,
      retries: sub.retries,
      isRebuild: context.rebuild,
      isRevocable: isRevocable(sub),
      args: sub.args,
    };
    const entry = entryOf(process, context, facts);
    this.#checkAlive(process, entry);
    const { object } = context;
    const writer: Writer = {
      id: writerId(plan, path),
      writes: sub.writes,
      value: 1,
      look: (after) => subView(plan, path, isSelected(path) ? object : after),
      digestOn: (seen) => digestOfSub(seen, sub.args),
    };
    this.#register(process, plan, path, subsOf(sub.subs, input), context);
    return this.#work(process, plan, entry, context, writer);
  }

  handleDeletion(
    process: Process,
    plan: DeletionPlan,
    handlers: readonly HandlerPlan[],
    context: HandlerContext<Thing>,
  ): Promise<void> {
    for (const { id, retires, subs } of handlers) {
      const left = retires && subs !== undefined ? this.#journal.effectsOf(context.uid, id) : [];
      if (left.length > 0)
        this.#journal.violate("A11'b", `${context.uid}: deletion with effects of ${left.join(', ')}`);
    }
    const facts = { id: DELETION, digest: 'deletion', input: 'deletion', retries: plan.retries, isRebuild: false };
    const entry = entryOf(process, context, { ...facts, isRevocable: false });
    const writer: Writer = { id: DELETION, writes: undefined, value: 0, look: () => undefined };
    return this.#work(process, { ...plan, obeysSignal: false }, entry, context, writer);
  }

  async retire(process: Process, plan: HandlerPlan, context: RetireContext<Thing>): Promise<void> {
    if (process.isDead) return new Promise(() => {});
    const { uid, idempotencyKey: key, tried, resourceVersion } = context;
    const version = Number(resourceVersion);
    const isFree = plan.onlyLabelled || this.#isDeleting(uid);
    const entry = {
      process: process.number,
      uid,
      id: `${context.parentId}/${context.id}`,
      key,
      version,
      tried,
      isFree,
    };
    const random = this.#chanceOf({ id: entry.id, digest: 'retire', attempt: context.attempt, isRebuild: false });
    this.#journal.beginRetirement(entry);
    const durationMs = below(random, plan.callMsMax + 1);
    if (!this.isQuiet && random() < 0.03) {
      process.crash();
      return new Promise(() => {});
    }
    if (durationMs > 0) await process.alive(sleep(this.#clock, durationMs));
    const isOk = random() < 0.75;
    this.#journal.endRetirement(entry, isOk);
    if (!isOk) throw random() < 0.5 ? new PermanentError('not yet') : new Error('broken');
  }

  #checkAlive(process: Process, { uid, id }: CallEntry): void {
    if (process.buried.has(uid)) this.#journal.violate("I12'", `${uid} ${id}: called after its deletion was seen`);
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
    const random = this.#chanceOf(call);
    const isFirst = this.#journal.begin(call);
    const chance = random();
    const durationMs = below(random, plan.callMsMax + 1);
    if (isFirst && !call.isRebuild && random() < 0.9) this.#journal.effect(call);
    if (!this.isQuiet && random() < 0.02) {
      process.crash();
      return new Promise(() => {});
    }
    const unwritten = { digest: call.digest, view: call.view };
    if (chance < 0.03) {
      process.clock.after(TIMEOUT_MS - 1, () => this.#journal.end(call, 'temporary', false, unwritten));
      return new Promise(() => {});
    }
    if (durationMs > 0) await process.alive(sleep(this.#clock, durationMs));
    const end = (ending: Ending): void => {
      if (ending === 'ok' && isFirst) this.#journal.effect(call);
      const seen = ending === 'superseded' ? unwritten : writeBy(context, writer, ending, unwritten);
      this.#journal.end(call, ending, isFirst, seen);
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
      throw chance < 0.8
        ? new TemporaryError('later', { delayMs: pick(random, [1, 20, 20, 100]) })
        : new Error('broken');
    }
    end('permanent');
    throw new PermanentError('never');
  }
}
