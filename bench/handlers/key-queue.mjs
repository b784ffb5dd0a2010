// @ts-check
// A queue of names, as everybody has one who works level-triggered: of many notifications of a name one run is left, a
// name is never worked on twice at a time, and one that is notified meanwhile is worked on again.

const WORKERS = 16;
const RETRY_MS = 500;
const RETRY_MAX_MS = 60_000;

export class KeyQueue {
  /** In order of service. */
  #ready = new Set();
  /** What is being worked on, and whether it was notified since. @type {Map<string, boolean>} */
  #processing = new Map();
  /** Failures in a row, and so what waits. @type {Map<string, number>} */
  #failures = new Map();
  #waiting = 0;
  /** @type {(() => void)[]} */
  #idle = [];
  #isStarting = false;
  #isClosed = false;
  #run;
  #after;

  /**
   * @param {(name: string) => Promise<'done' | 'again'>} run
   * @param {(delayMs: number, fn: () => void) => unknown} [after]
   */
  constructor(run, after = (delayMs, fn) => setTimeout(fn, delayMs)) {
    this.#run = run;
    this.#after = after;
  }

  /** @param {string} name */
  add(name) {
    if (this.#isClosed) return;
    if (this.#processing.has(name)) this.#processing.set(name, true);
    else this.#ready.add(name);
    if (this.#isStarting) return;
    this.#isStarting = true;
    queueMicrotask(() => {
      this.#isStarting = false;
      this.#startNext();
    });
  }

  /** Resolves when nothing is queued, running or waiting. @returns {Promise<void>} */
  idle() {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  close() {
    this.#isClosed = true;
    this.#ready.clear();
  }

  #isIdle() {
    return this.#ready.size === 0 && this.#processing.size === 0 && this.#waiting === 0;
  }

  #startNext() {
    while (!this.#isClosed && this.#processing.size < WORKERS) {
      const next = this.#ready.values().next();
      if (next.done === true) break;
      this.#ready.delete(next.value);
      this.#processing.set(next.value, false);
      this.#run(next.value).then(
        (result) => this.#finish(next.value, result),
        () => this.#retry(next.value),
      );
    }
    if (this.#isIdle()) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /**
   * @param {string} name
   * @param {'done' | 'again'} result
   */
  #finish(name, result) {
    this.#failures.delete(name);
    const isDirty = this.#processing.get(name) === true;
    this.#processing.delete(name);
    if (!this.#isClosed && (isDirty || result === 'again')) this.#ready.add(name);
    this.#startNext();
  }

  /** @param {string} name */
  #retry(name) {
    const failures = this.#failures.get(name) ?? 0;
    this.#failures.set(name, failures + 1);
    this.#processing.delete(name);
    this.#waiting++;
    this.#after(Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** failures), () => {
      this.#waiting--;
      this.add(name);
    });
    this.#startNext();
  }
}
