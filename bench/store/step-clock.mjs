// @ts-check

/**
 * @typedef {object} Clock What a store asks of time.
 * @property {() => number} now
 * @property {() => number} wallTime
 * @property {(delayMs: number, fn: () => void) => () => void} after
 */

/**
 * One step. CPU time is that of all threads of the process, so helpers of the garbage collector are in it; but not what
 * other processes took while this one had to wait, which on a loaded machine is most of the wall time of the longest.
 *
 * @typedef {{ wallMs: number, cpuMs: number }} Step
 */

/**
 * The platform's clock and timers, with a stop-watch around everything that a store does in them. A store without leases,
 * age limits and progress marks has timers for the slices of its compaction only, so each is one whole step: the calls of
 * the core, and what JavaScript forgets for them. A garbage collection within a step counts, as it does for users.
 *
 * @implements {Clock}
 */
export class StepClock {
  /** @type {Step[]} */
  #steps = [];
  #pending = 0;
  /** @type {(() => void) | undefined} */
  #onIdle;

  now() {
    return performance.now();
  }

  wallTime() {
    return Date.now();
  }

  /**
   * @param {number} delayMs
   * @param {() => void} fn
   * @returns {() => void}
   */
  after(delayMs, fn) {
    let isOpen = true;
    const finish = () => {
      if (!isOpen) return;
      isOpen = false;
      this.#pending--;
    };
    this.#pending++;
    const timer = setTimeout(() => {
      const cpu = process.cpuUsage();
      const start = performance.now();
      fn();
      const wallMs = performance.now() - start;
      const { user, system } = process.cpuUsage(cpu);
      this.#steps.push({ wallMs, cpuMs: (user + system) / 1000 });
      finish();
      if (this.#pending === 0) this.#onIdle?.();
    }, delayMs);
    return () => {
      clearTimeout(timer);
      finish();
    };
  }

  /** Resolves when no timer is left that could do something. */
  async idle() {
    if (this.#pending === 0) return;
    await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
      this.#onIdle = resolve;
    });
    this.#onIdle = undefined;
  }

  /** The steps since the last call. */
  takeSteps() {
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }
}

/**
 * Watches the event loop from the side: the longest time between two of its turns while `work` is under way. It knows
 * nothing of steps, so it also sees what they do not count.
 *
 * @param {() => Promise<unknown>} work
 * @returns {Promise<number>} milliseconds
 */
export async function longestTurn(work) {
  let longest = 0;
  let last = performance.now();
  let isOver = false;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
  } finally {
    isOver = true;
  }
  return Math.max(longest, performance.now() - last);
}
