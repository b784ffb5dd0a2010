import { createSeededRandom } from '../../src/system/seeded-random.ts';
import type { Random } from '../../src/types/random.ts';

/** What a handler of a program is like. Everything it does is a function of this, of its view, and of chance. */
export interface HandlerPlan {
  readonly id: string;
  readonly kind: 'change' | 'create' | 'update';
  readonly adopts: boolean;
  readonly field: string | undefined;
  /** Only for objects with this label. */
  readonly onlyLabelled: boolean;
  readonly retries: number;
  readonly callMsMax: number;
  readonly obeysSignal: boolean;
  /** Of a parent: which subs for which view, by number; `undefined` for a leaf. */
  readonly subs: SubPlans | undefined;
  readonly writes: WritePlan | undefined;
  /** It is called for its own writes. */
  readonly selfTrigger: boolean;
  /** It has a hook for subs that leave the plan. */
  readonly retires: boolean;
}

/** A handler for deletions. */
export interface DeletionPlan {
  readonly onlyLabelled: boolean;
  readonly retries: number;
  readonly callMsMax: number;
}

/** What a handler writes, in a place of its own within `spec`; all writes together have a fixed point. */
export interface WritePlan {
  /** A note of a failure, too. */
  readonly onFailure: boolean;
  readonly ifUnchanged: boolean;
}

export interface SubPlan {
  readonly id: string;
  readonly args: number | undefined;
  readonly field: string | undefined;
  readonly selects: boolean;
  readonly retries: number;
  readonly writes: WritePlan | undefined;
  /** As of a handler; the same wherever the id is planned, since what it sees may be. */
  readonly subs: SubPlans | undefined;
}

/** Which subs for which view, by number. */
export type SubPlans = readonly (readonly SubPlan[])[];

export type Step =
  | { readonly do: 'edit'; readonly name: string; readonly path: 'a' | 'kind' | 'x' | 'label'; readonly value: number }
  | { readonly do: 'delete' | 'start deletion' | 'recreate'; readonly name: string }
  | { readonly do: 'crash' | 'break watches' | 'replay' | 'restart' }
  /** Wall time stands still, or, if it does, goes on. */
  | { readonly do: 'freeze' }
  | { readonly do: 'jump'; readonly deltaMs: number };

export interface Program {
  readonly seed: number;
  readonly policy: 'supersede' | 'complete';
  readonly persist: 'call' | 'pass';
  /** Calls at a time within an object. */
  readonly parallel: number;
  /** Wall time stands still from the start. */
  readonly isFrozen: boolean;
  readonly names: readonly string[];
  readonly handlers: readonly HandlerPlan[];
  readonly deletion: DeletionPlan | undefined;
  readonly steps: readonly { readonly step: Step; readonly gapMs: number }[];
  /** Rates of what goes wrong around the controller. */
  readonly hostility: number;
  readonly writeDelayMsMax: number;
}

/** `kind` is bookkeeping in a whole object and nowhere else: a part that is hashed as an object would miss it. */
const VIEWS = [undefined, undefined, 'spec.a', 'spec.kind', 'status.x', 'spec', 'spec', 'spec.w-h0'];
/** Small, so that A, B, A is common. */
const VALUES = 3;

/** Makes a random program; the same for the same seed. */
export function createProgram(seed: number): Program {
  const random = createSeededRandom(seed);
  const names = random() < 0.7 ? ['o'] : ['o', 'p'];
  const handlers = Array.from({ length: 1 + below(random, 4) }, (_, index) => createHandler(random, `h${index}`));
  const gapMsMax = pick(random, [10, 40, 120]);
  const steps = Array.from({ length: 5 + below(random, 26) }, () => ({
    step: createStep(random, names),
    gapMs: below(random, gapMsMax),
  }));
  return {
    seed,
    policy: random() < 0.6 ? 'supersede' : 'complete',
    persist: random() < 0.65 ? 'call' : 'pass',
    parallel: pick(random, [1, 1, 1, 2, 8]),
    isFrozen: random() < 0.2,
    names,
    handlers,
    deletion: random() < 0.6 ? createDeletion(random) : undefined,
    steps,
    hostility: pick(random, [0, 0.05, 0.2]),
    writeDelayMsMax: pick(random, [0, 5, 30]),
  };
}

function createHandler(random: Random, id: string): HandlerPlan {
  const isParent = random() < 0.35;
  const field = pick(random, VIEWS);
  const kind = pick(random, [
    'change',
    'change',
    'change',
    'change',
    'update',
    isParent ? 'update' : 'create',
  ] as const);
  return {
    id,
    kind,
    adopts: kind !== 'update' && random() < 0.25,
    // Who saw nothing but what it writes itself would have no input.
    field: field === `spec.w-${id}` ? 'spec' : field,
    onlyLabelled: random() < 0.25,
    retries: below(random, 4),
    callMsMax: pick(random, [0, 20, 100]),
    obeysSignal: random() < 0.3,
    writes: createWrites(random),
    retires: random() < 0.6,
    selfTrigger: kind !== 'create' && random() < 0.2,
    subs: isParent ? createPlans(random, 1) : undefined,
  };
}

/** Most levels of subs. */
const LEVELS = 3;

function createPlans(random: Random, level: number): SubPlans {
  const nested = ['s0', 's1', 's2'].map(() =>
    level < LEVELS && random() < 0.25 ? createPlans(random, level + 1) : undefined,
  );
  return Array.from({ length: VALUES }, () => createSubs(random, nested));
}

function createSubs(random: Random, nested: readonly (SubPlans | undefined)[]): SubPlan[] {
  return ['s0', 's1', 's2'].flatMap((id, index) => {
    if (random() < 0.35) return [];
    const args = random() < 0.5 ? undefined : below(random, 2);
    // The same for every view: a sub that keeps its input over two plans keeps its episode, and so its budget.
    const field = index === 1 ? 'status.x' : undefined;
    const [writes, subs] = [createWrites(random), nested[index]];
    return [{ id, args, field, selects: index === 2, retries: index, writes, subs }];
  });
}

function createDeletion(random: Random): DeletionPlan {
  return { onlyLabelled: random() < 0.4, retries: below(random, 4), callMsMax: pick(random, [0, 20, 100]) };
}

function createWrites(random: Random): WritePlan | undefined {
  if (random() < 0.65) return undefined;
  return { onFailure: random() < 0.5, ifUnchanged: random() < 0.2 };
}

function createStep(random: Random, names: readonly string[]): Step {
  const name = pick(random, names);
  const chance = random();
  if (chance < 0.78) {
    return {
      do: 'edit',
      name,
      path: pick(random, ['a', 'a', 'kind', 'x', 'label'] as const),
      value: below(random, VALUES),
    };
  }
  if (chance < 0.82) return { do: 'delete', name };
  if (chance < 0.84) return { do: 'recreate', name };
  if (chance < 0.88) return { do: 'start deletion', name };
  if (chance < 0.92) return { do: 'crash' };
  if (chance < 0.94) return { do: 'restart' };
  if (chance < 0.96) return { do: 'break watches' };
  if (chance < 0.97) return { do: 'replay' };
  if (chance < 0.985) return { do: 'freeze' };
  return { do: 'jump', deltaMs: (random() - 0.5) * 7_200_000 };
}

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function pick<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[below(random, choices.length)];
  return choice as T;
}
