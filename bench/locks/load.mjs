// @ts-check
// Work under a lock that others want too, and how long each of them waited.

/**
 * @typedef {import('./contestants.mjs').Locks} Locks
 * @typedef {import('./contestants.mjs').Mode} Mode
 *
 * @typedef {object} Request
 * @property {Mode} mode
 * @property {number} since
 * @property {number} ahead Requests in conflict that were there when it came, holding or waiting.
 * @property {number} granted Requests in conflict that got the lock while it waited.
 * @property {number} overtaken Those of them that came later.
 *
 * @typedef {object} Waits Of a load; times in milliseconds.
 * @property {number} requests
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} p999Ms
 * @property {number} maxMs
 * @property {number} overtakenMax Most requests in conflict that came later than one and were served before it.
 * @property {number} beyondPositionMax Most requests that one saw served, less those that were there when it came: at most
 *   0 where the wait is bounded by the position in the queue.
 */

/** Who is there, and what each has seen: only what happens around the lock, so it is the same for everybody. */
export class Ledger {
  /** @type {Request[]} */
  #waiting = [];
  /** @type {Request[]} */
  #holding = [];
  /** @type {{ waitMs: number, request: Request }[]} */
  #done = [];
  #now;

  /** @param {() => number} now */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** @param {Mode} mode @returns {Request} */
  come(mode) {
    const request = { mode, since: this.#now(), ahead: 0, granted: 0, overtaken: 0 };
    for (const other of [...this.#waiting, ...this.#holding]) if (isConflict(other, request)) request.ahead++;
    this.#waiting.push(request);
    return request;
  }

  /** @param {Request} request */
  hold(request) {
    const place = this.#waiting.indexOf(request);
    for (const [index, other] of this.#waiting.entries()) {
      if (other === request || !isConflict(other, request)) continue;
      other.granted++;
      // Those in front of it came earlier.
      if (index < place) other.overtaken++;
    }
    this.#waiting.splice(place, 1);
    this.#holding.push(request);
    this.#done.push({ waitMs: this.#now() - request.since, request });
  }

  /** @param {Request} request */
  go(request) {
    this.#holding.splice(this.#holding.indexOf(request), 1);
  }

  /** Whether somebody writes while others hold. */
  get isBroken() {
    return this.#holding.length > 1 && this.#holding.some(({ mode }) => mode === 'write');
  }

  get holding() {
    return this.#holding.length;
  }

  /** @returns {Waits} */
  waits() {
    const times = this.#done.map(({ waitMs }) => waitMs).sort((left, right) => left - right);
    const at = (/** @type {number} */ q) => times[Math.max(0, Math.ceil(q * times.length) - 1)] ?? 0;
    const most = (/** @type {(request: Request) => number} */ of) =>
      this.#done.reduce((max, { request }) => Math.max(max, of(request)), Number.NEGATIVE_INFINITY);
    return {
      requests: times.length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      p999Ms: at(0.999),
      maxMs: at(1),
      overtakenMax: most(({ overtaken }) => overtaken),
      beyondPositionMax: most(({ granted, ahead }) => granted - ahead),
    };
  }
}

/**
 * @param {Request} one
 * @param {Request} other
 */
function isConflict(one, other) {
  return one.mode === 'write' || other.mode === 'write';
}

/**
 * One writer and so many readers of one key, each of which locks, works, lets go, and comes again at once. Resolves with the number of locks.
 *
 * @param {Locks} locks
 * @param {{ readers: number, locksEach: number, work: () => Promise<unknown> }} load
 * @param {Ledger} ledger
 */
export async function writerAndReaders(locks, { readers, locksEach, work }, ledger) {
  const client = async (/** @type {Mode} */ mode) => {
    for (let index = 0; index < locksEach; index++) {
      const request = ledger.come(mode);
      await locks.run('apps/web', mode, async () => {
        ledger.hold(request);
        if (ledger.isBroken) throw new Error('Cannot measure locks: somebody writes beside others');
        await work();
        ledger.go(request);
      });
    }
  };
  await Promise.all([client('write'), ...Array.from({ length: readers }, () => client('read'))]);
  return (readers + 1) * locksEach;
}

/**
 * So many writers that all come while the lock is held, and go through it one by one.
 *
 * @param {Locks} locks
 * @param {number} count
 * @param {(place: number) => void} entered
 */
export async function queueOfWriters(locks, count, entered) {
  /** @type {() => void} */
  let open = () => {};
  const gate = new Promise((resolve) => {
    open = () => resolve(undefined);
  });
  const first = locks.run('apps/web', 'write', () => gate);
  const others = [];
  for (let place = 0; place < count; place++) others.push(locks.run('apps/web', 'write', () => entered(place)));
  open();
  await Promise.all([first, ...others]);
}

/** The work under the lock: waiting for something that takes a millisecond, as for I/O. */
export function millisecond() {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
