import { Heap } from '../queue/heap.ts';

/** One thing that happens at an instant of a simulation. It is cancelled by `SimulatorLoop.cancel`. */
export interface LoopEvent {
  readonly at: number;
  /** Decides between events of one instant: the one that was made first comes first. */
  readonly order: number;
  /** Microtask steps after it. */
  readonly steps: number;
  run: (() => void) | undefined;
}

/**
 * Microtask steps that promise chains get after each event before time moves on. A task of its own, as the virtual clock
 * gives, costs ten times as much as an event does; a chain that is longer goes on at a later instant of the simulation.
 */
const SETTLE_STEPS = 32;
/** The same for what comes by the hundred thousand, and at most begins a request: a watch event. */
export const FEW_STEPS = 12;
/** Cancelled events stay in the heap until their time has come, or until they are so many and most of it. */
const CANCELLED_MAX = 4096;

/**
 * Virtual time as a heap of events: the cost of an event is the logarithm of how many wait, and time in which nothing
 * happens costs nothing.
 *
 * ```text
 *   pop the earliest -> now := its time -> run it -> microtask steps -> pop the next ...
 * ```
 */
export class SimulatorLoop {
  #heap = new Heap<LoopEvent>(byTime);
  #now = 0;
  #order = 0;
  #cancelled = 0;
  #isRunning = false;

  get now(): number {
    return this.#now;
  }

  /** Events that wait and are not cancelled. */
  get pending(): number {
    return this.#heap.size - this.#cancelled;
  }

  /** Runs `run` at an instant; one that is past is now. */
  at(dueMs: number, run: () => void, steps: number = SETTLE_STEPS): LoopEvent {
    const event = { at: Math.max(this.#now, dueMs), order: this.#order++, steps, run };
    this.#heap.push(event);
    return event;
  }

  cancel(event: LoopEvent): void {
    if (event.run === undefined) return;
    event.run = undefined;
    this.#cancelled++;
    if (this.#cancelled > CANCELLED_MAX && this.#cancelled * 2 > this.#heap.size) this.#sweep();
  }

  /**
   * Runs everything up to an instant and stands there. With `isDone`, asked after each event, it may stop earlier.
   *
   * What an event throws is a fault of the simulation or of the writer under test: it ends the run as a rejection.
   */
  async run(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    if (this.#isRunning) throw new TypeError('Cannot run the simulation: it is running');
    this.#isRunning = true;
    try {
      await settle(SETTLE_STEPS);
      while (!isDone()) {
        const next = this.#heap.peek();
        if (next === undefined || next.at > untilMs) {
          this.#now = Math.max(this.#now, untilMs);
          return;
        }
        this.#heap.pop();
        const { run } = next;
        if (run === undefined) {
          this.#cancelled--;
          continue;
        }
        next.run = undefined;
        this.#now = next.at;
        run();
        await settle(next.steps);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #sweep(): void {
    const kept = new Heap<LoopEvent>(byTime);
    for (let event = this.#heap.pop(); event !== undefined; event = this.#heap.pop()) {
      if (event.run !== undefined) kept.push(event);
    }
    this.#heap = kept;
    this.#cancelled = 0;
  }
}

function byTime(a: LoopEvent, b: LoopEvent): number {
  return a.at - b.at || a.order - b.order;
}

async function settle(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) await undefined;
}
