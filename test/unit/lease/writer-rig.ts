import { createWriterLease } from '../../../src/lease/writer-lease.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Logger } from '../../../src/types/logger.ts';
import type {
  WriteContext,
  WriteOutcome,
  WriterLease,
  WriterLeaseOptions,
  WriterTry,
} from '../../../src/types/writer-lease.ts';

/** With nothing measured: what is drawn lies between these (WL4), 6000 ms being the prior. */
export const LOW_MS = 6000;
export const HIGH_MS = 11_200;
/** The first window of a cold group, with the least chance. */
export const COLD_MS = 250;

/** A call of a work function that waits for its answer. */
export interface Attempt {
  readonly key: string;
  readonly at: number;
  readonly context: WriteContext;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export interface Rig {
  readonly clock: VirtualClock;
  readonly lease: WriterLease;
  readonly attempts: readonly Attempt[];
  /** Log lines. */
  readonly lines: readonly string[];
  /** What chance gives from now on. */
  chance(share: number): void;
  /** Asks for a key. */
  ask(key: string, revision?: number, more?: Partial<WriterTry<unknown>>): boolean;
  /** A mate's work was seen. */
  mate(key: string, revision: number): void;
  /** Something else was seen: an edit, or a foreign value. */
  edit(key: string, revision: number, changed?: boolean): void;
  /** Answers the newest attempt and lets what follows happen. */
  answer(outcome: WriteOutcome): Promise<void>;
  fail(error?: unknown): Promise<void>;
  /** Makes it leader by a write of key `first` at this revision. */
  lead(revision?: number): Promise<void>;
  keys(): readonly string[];
}

/** A lease whose work functions wait for the test. */
export function writerRig(options: WriterLeaseOptions = {}): Rig {
  const clock = createVirtualClock();
  const attempts: Attempt[] = [];
  const lines: string[] = [];
  const chance = { share: 0 };
  const log = (message: string) => void lines.push(message);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const newest = (): Attempt => {
    const last = attempts.at(-1);
    if (last === undefined) throw new Error('there was no attempt');
    return last;
  };
  const rig: Rig = {
    clock,
    attempts,
    lines,
    chance(share) {
      chance.share = share;
    },
    lease: createWriterLease({ clock, random: () => chance.share, logger, ...options }),
    ask(key, revision = 1, more = {}) {
      const work = (context: WriteContext) =>
        new Promise<WriteOutcome>((resolve, reject) => {
          attempts.push({ key, at: clock.now(), context, resolve, reject });
        });
      return rig.lease.try(key, { revision, work, ...more });
    },
    mate: (key, revision) => rig.lease.observe(key, { revision, satisfied: true, changed: true }),
    edit: (key, revision, changed = false) => rig.lease.observe(key, { revision, satisfied: false, changed }),
    async answer(outcome) {
      newest().resolve(outcome);
      await clock.settle();
    },
    async fail(error = new Error('refused')) {
      newest().reject(error);
      await clock.settle();
    },
    async lead(revision = 10) {
      rig.ask('first', 1);
      await clock.advance(750);
      await rig.answer({ revision });
    },
    keys: () => attempts.map(({ key }) => key),
  };
  return rig;
}
