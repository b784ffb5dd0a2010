// @ts-check
import { treePod } from './objects.mjs';

/**
 * @typedef {import('./contestants.mjs').Kit} Kit
 * @typedef {{ p50: number, p99: number, p999: number, max: number }} Times Milliseconds.
 * @typedef {object} WaitFacts
 * @property {Times} applied From when an event was due to its commit: what waits in the queue of a turn that is late waits too.
 * @property {Times} handled To the end of the last handler's call.
 * @property {number} loopMaxMs Longest turn of the event loop.
 * @property {number} walks That came to their end meanwhile.
 * @property {number} commits For `events` of them.
 * @property {number} events
 * @property {number} calls Of the handler.
 */

/** What is traded for what: options of the store, and of its handler. */
export const MODES = /** @type {const} */ ({
  plimsoll: { store: {}, handler: {} },
  'each event at once': { store: { pendingMax: 1 }, handler: {} },
  'batches of 100 ms': { store: { latencyMs: 100, pendingMax: 1_000_000 }, handler: {} },
  'snapshot views': { store: {}, handler: { snapshotView: true } },
});

const EVENTS_A_MS = 10;
const TURN_MS = 1500;

/** Events at a steady rate, while a tree of owners is walked in slices, again and again, and a handler hears of everything. */
export class Waits {
  #kit;
  #size;

  #turnMs;

  /** @param {Kit} kit @param {number} size @param {number} [turnMs] */
  constructor(kit, size, turnMs = TURN_MS) {
    this.#kit = kit;
    this.#size = size;
    this.#turnMs = turnMs;
  }

  /**
   * @param {string} caseName
   * @param {{ waits: Record<string, WaitFacts> }} facts
   * @returns {import('../harness/measure.mjs').Case}
   */
  case(caseName, facts) {
    const runs = Object.keys(MODES).map((mode) => {
      const run = new Run(this.#kit, this.#size, /** @type {keyof typeof MODES} */ (mode), this.#turnMs);
      return {
        run,
        name: mode,
        ...(mode === 'plimsoll' ? {} : { lacks: 'the defaults' }),
        sweep: () => run.turn(),
        check: () => {
          facts.waits[mode] = run.facts();
          return run.findings();
        },
      };
    });
    const [subject, ...peers] = runs.map(({ run: _, ...contestant }) => contestant);
    if (subject === undefined) throw new TypeError(`Cannot open the case "${caseName}": there is no mode`);
    const close = () => {
      for (const { run } of runs) run.close();
    };
    return { name: caseName, n: this.#size, roundsMax: 3, subject, peers, close };
  }
}

class Run {
  #size;
  #store;
  #feed;
  #turnMs;
  /** What was found wrong while it ran: told by `findings`. @type {string[]} */
  #wrong = [];
  #calls = 0;
  /** When each event was due, by the version that it brought. @type {Map<string, number>} */
  #arrivals = new Map();
  /** @type {number[]} */
  #applied = [];
  /** @type {number[]} */
  #handled = [];
  #loopMaxMs = 0;
  #walks = 0;
  #events = 0;
  #version;
  /** @type {Map<number, import('./objects.mjs').Pod>} */
  #last = new Map();

  /** @param {Kit} kit @param {number} size @param {keyof typeof MODES} mode @param {number} turnMs */
  constructor(kit, size, mode, turnMs) {
    this.#size = size;
    this.#turnMs = turnMs;
    this.#version = size;
    const waited = (/** @type {number[]} */ times, /** @type {string} */ version) => {
      const since = this.#arrivals.get(version);
      if (since !== undefined) times.push(performance.now() - since);
    };
    const { store: options, handler } = MODES[mode];
    this.#store = kit.createResourceStore({
      ...options,
      // Called for each commit, as it is made.
      populate: (object) => {
        waited(this.#applied, /** @type {import('./objects.mjs').Pod} */ (object).metadata.resourceVersion);
        return undefined;
      },
    });
    this.#feed = this.#store.feed({ group: '', kind: 'Pod' });
    this.#feed.replace(Array.from({ length: size }, (_, index) => treePod(index)));
    this.#store.flush();
    const isExact = 'snapshotView' in handler;
    this.#store.onResourceUpdated(({ new: now, seq, view }) => {
      this.#calls++;
      if (now === undefined) this.#wrong.push(`${seq}: something has gone`);
      else waited(this.#handled, now.resourceVersion);
      if (view.seq < seq || (isExact && view.seq > seq)) this.#wrong.push(`${seq}: the view is of ${view.seq}`);
    }, handler);
  }

  async turn() {
    let isOver = false;
    const start = [place(0)];
    const walking = (async () => {
      while (!isOver) {
        const { visited } = await this.#store.iterateHierarchyInSlices(start, () => {});
        if (visited !== this.#size) this.#wrong.push(`a walk has visited ${visited} of ${this.#size}`);
        this.#walks++;
        // One that fits into a slice never gives way.
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const begun = performance.now();
    let last = begun;
    let sent = 0;
    // All of them, also those that were due while the loop was held up at the end of the turn.
    const due = this.#turnMs * EVENTS_A_MS;
    while (sent < due) {
      const now = performance.now();
      this.#loopMaxMs = Math.max(this.#loopMaxMs, now - last);
      last = now;
      for (; sent < Math.min(due, (now - begun) * EVENTS_A_MS); sent++) this.#send(begun + sent / EVENTS_A_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    isOver = true;
    await walking;
    await this.#store.idle();
    this.#events += sent;
    return sent;
  }

  facts() {
    const { commits } = this.#store.stats;
    return {
      applied: timesOf(this.#applied),
      handled: timesOf(this.#handled),
      loopMaxMs: round(this.#loopMaxMs),
      walks: this.#walks,
      commits: commits - this.#size,
      events: this.#events,
      calls: this.#calls,
    };
  }

  findings() {
    const found = [...this.#last].slice(-1000).map(([index]) => {
      return this.#store.get(place(index))?.resourceVersion;
    });
    const expected = [...this.#last.values()].slice(-1000).map(({ metadata }) => metadata.resourceVersion);
    const { commits, handlers } = this.#store.stats;
    const merged = handlers.reduce((sum, one) => sum + one.merged, 0);
    return [
      { what: 'the newest versions', actual: found, expected },
      { what: 'what was wrong meanwhile', actual: this.#wrong.slice(0, 3), expected: [] },
      { what: 'calls of the handler', actual: this.#calls + merged, expected: commits - this.#size },
    ];
  }

  close() {
    this.#store.close();
  }

  /**
   * As of when it was due, not of when this process came to it: a store that holds the loop up would otherwise not be charged for
   * the events that came meanwhile.
   *
   * @param {number} dueMs
   */
  #send(dueMs) {
    const index = (this.#version * 7919) % this.#size;
    const object = treePod(index, ++this.#version);
    const { resourceVersion, namespace, name } = object.metadata;
    this.#last.set(index, object);
    this.#arrivals.set(resourceVersion, dueMs);
    this.#feed.apply({ type: 'updated', key: `${namespace}/${name}`, object, old: object });
  }
}

/** @param {number} index */
function place(index) {
  return { group: '', kind: 'Pod', namespace: 'one', name: `pod-${index}` };
}

/** @param {readonly number[]} times @returns {Times} */
function timesOf(times) {
  const sorted = Float64Array.from(times).sort();
  const at = (/** @type {number} */ share) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: round(sorted[sorted.length - 1] ?? 0) };
}

/** @param {number} value */
function round(value) {
  return Number(value.toFixed(3));
}
