import { createSeededRandom } from '../../src/system/seeded-random.ts';
import type { Random } from '../../src/types/random.ts';
import type { Thing } from '../unit/handlers/harness.ts';
import { DELETION } from './handlers-checks.ts';
import { textOf } from './handlers-journal.ts';
import { createProgram, type HandlerPlan, type Program, type Step, type SubPlan } from './handlers-program.ts';
import { ProgramRun } from './handlers-run.ts';
import { inputOf, isLabelled, seenBy, subsOf } from './handlers-views.ts';
import type { Fate } from './handlers-world.ts';

/** The one thing that goes wrong in a run: the process dies at its n-th write, which lands or does not. */
export interface CrashPoint {
  /** From 0, over the documents and patches that a run writes. */
  readonly point: number;
  readonly when: 'before it is sent' | 'while it is on its way' | 'before its answer';
}

export const WHENS: readonly CrashPoint['when'][] = [
  'before it is sent',
  'while it is on its way',
  'before its answer',
];

export interface Outcome {
  readonly violations: readonly string[];
  /** Everything that must be the same whether the process has died or not. */
  readonly final: string;
  /** Writes that were sent. */
  readonly points: number;
}

/**
 * A program whose end does not depend on when its calls are made: nothing fails for good, a call acts by what it is for, and
 * nobody writes who may have been too late for his input.
 */
export function createScenario(seed: number): Program {
  const program = createProgram(seed);
  const random = createSeededRandom(seed ^ 0x2545f491);
  const steps = program.steps.filter(({ step }) => KEPT.has(step.do)).slice(0, STEPS_MAX);
  const first = program.names[0] ?? 'o';
  // Late enough that whoever wants to hold the object does; a process that has died is followed by the next at the next step.
  const end: Program['steps'] = [
    { step: { do: 'edit', name: first, path: 'x', value: 1 }, gapMs: 5000 },
    { step: { do: 'replay' }, gapMs: 5000 },
    { step: { do: 'start deletion', name: first }, gapMs: 0 },
  ];
  return {
    ...program,
    handlers: program.handlers.map(withoutEnds),
    deletion: program.deletion && { ...program.deletion, retries: Number.POSITIVE_INFINITY },
    steps: random() < 0.4 ? [...steps, ...end] : steps,
    hostility: 0,
    writeDelayMsMax: 0,
  };
}

/** Each write of a scenario is a run of its own, or three. */
const STEPS_MAX = 8;

const KEPT: ReadonlySet<Step['do']> = new Set(['edit', 'delete', 'recreate', 'replay']);

/**
 * Attempts do not run out, and who may miss an input by coming too late writes nothing into the object: handlers of creations
 * and updates, and subs that are not in every plan or do not write by each of them.
 */
function withoutEnds(plan: HandlerPlan): HandlerPlan {
  const retries = Number.POSITIVE_INFINITY;
  const isTimely = plan.kind === 'change' && !plan.onlyLabelled;
  const calm = <W extends HandlerPlan['writes']>(writes: W) =>
    isTimely && writes !== undefined ? { ...writes, onFailure: false } : undefined;
  const isAlways = (id: string) =>
    plan.subs?.every((subs) => subs.some((sub) => sub.id === id && sub.writes !== undefined)) === true;
  const calmSub = (sub: SubPlan): SubPlan => ({
    ...sub,
    retries,
    writes: isAlways(sub.id) ? calm(sub.writes) : undefined,
    subs: sub.subs?.map((below) => below.map((one) => ({ ...calmSub(one), writes: undefined }))),
  });
  return { ...plan, retries, writes: calm(plan.writes), subs: plan.subs?.map((subs) => subs.map(calmSub)) };
}

/** Runs a scenario to its end, with the process dying at one point of it or at none. */
export async function runScenario(program: Program, crash: CrashPoint | undefined): Promise<Outcome> {
  let points = 0;
  const run: ProgramRun = new ProgramRun(program, 'memory', {
    fate: () => fateOf(points++, crash),
    chanceOf: ({ id, digest, attempt, isRebuild }) =>
      isRebuild ? () => 0.5 : deterministic(program.seed, `${id} ${digest}`, attempt),
  });
  for (const { step, gapMs } of program.steps) await run.take(step, gapMs);
  await run.quiet();
  // Before it is looked at, which may make the process ask for more.
  const sent = points;
  await run.checkFinal();
  const final = textOf(finalOf(run, program));
  await run.checkRest();
  return { violations: run.journal.violations, final, points: sent };
}

function fateOf(point: number, crash: CrashPoint | undefined): Fate {
  const fate: Fate = { crash: undefined, applied: true, answered: true, delayMs: 0 };
  if (crash === undefined || crash.point !== point) return fate;
  switch (crash.when) {
    case 'before it is sent':
      return { ...fate, crash: 'before', applied: false };
    case 'while it is on its way':
      return { ...fate, crash: 'before' };
    case 'before its answer':
      return { ...fate, crash: 'after' };
  }
}

/** What the same call does each time; later attempts fail less often, so that all of them end well. */
function deterministic(seed: number, call: string, attempt: number): Random {
  let hash = seed;
  for (const letter of `${call} ${attempt}`) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  const random = createSeededRandom(hash >>> 0);
  if (attempt > 2) return () => 0.5;
  // From 0.9 on it is a failure for good, and whatever is random from 0.02 down a crash of its own.
  return () => 0.03 + random() * 0.86;
}

/** Of an object on its way out, what its handlers had come to by then is a matter of time; its deletion is not. */
function finalOf(run: ProgramRun, { handlers, deletion }: Program): unknown {
  // Nothing keeps an object on its way out that has no finalizer; whether it ever had ours may be a matter of time.
  const kept = run.objects.filter(({ deleting, finalizers }) => !deleting || finalizers?.length !== 0);
  const living = kept.map(({ name, uid, object, deleting, finalizers }) => {
    if (deleting) return { name, uid, deleting, finalizers };
    const inScope = handlers.filter((plan) => plan.kind === 'change' && (!plan.onlyLabelled || isLabelled(object)));
    // Who has something to undo asks for the finalizer. Whoever is not for the object any more may have done so before, or not
    // have come to it.
    const isHeldFor =
      inScope.some(asksForFinalizer) ||
      (deletion !== undefined && (!deletion.onlyLabelled || isLabelled(object))) ||
      (deletion === undefined && !handlers.some(asksForFinalizer));
    const held = isHeldFor ? { finalizers } : {};
    return { name, uid, object, ...held, handlers: inScope.map((plan) => handlerOf(run, plan, uid, object)) };
  });
  const deletions = [...run.journal.ledger].filter(([who]) => who.endsWith(` ${DELETION}`)).sort();
  return { living, deletions };
}

/** Who has nothing to undo asks for none, nor does a parent of no subs. */
function asksForFinalizer({ retires, subs }: HandlerPlan): boolean {
  return retires && subs !== undefined;
}

function handlerOf({ journal }: ProgramRun, plan: HandlerPlan, uid: string, object: Thing): unknown {
  const records = journal.docs.get(uid)?.records ?? {};
  const input = inputOf(plan.id, seenBy(plan, object));
  const planned = [plan.id, ...subsOf(plan.subs, input).map((sub) => `${plan.id}/${sub.id}`)];
  const states = planned.map((id) => {
    const { attempt, done } = records[id] ?? {};
    return { id, digest: attempt?.digest, state: attempt?.state, done, effect: journal.ledger.get(`${uid} ${id}`) };
  });
  const subs = Object.keys(records).filter((id) => id.startsWith(`${plan.id}/`));
  return { subs: subs.sort(), states };
}
