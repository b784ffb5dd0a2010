// @ts-check
// Progress by object, as kopf has it (1.44, `kopf/_core/reactor/processing.py` and `_core/actions/progression.py`): one
// base for the whole object, and for each handler of the cycle whether it has ended.
import { KeyQueue } from './key-queue.mjs';
import { PARENT } from './reconcile-loop.mjs';

/**
 * @typedef {import('./reconcile-loop.mjs').Work} Work
 *
 * @typedef {object} Progress
 * @property {string | undefined} base The essence that was there when all handlers of a cycle had ended.
 * @property {Set<string>} done Who has ended in the present cycle, whatever state it saw.
 */

/**
 * ```text
 *   pass:  S = newest;  essence(S) = base: the cycle is over, nothing to do
 *          call the parent, which plans the subs for S
 *          call the first planned sub that has not ended in this cycle
 *          all planned ones have ended:  base := essence(S), and the cycle begins anew
 *          else: another pass, on what is then the newest
 * ```
 *
 * One handler a pass is kopf's default (`lifecycles.asap`), and so is that the parent runs in each pass. That a sub has
 * ended is not tied to the state that it saw: one that has ended on 17 is skipped on 19, and then the base is 19. Kept as
 * it is, because that is what is to be shown: by the bench, and by the tests, which have to notice it.
 */
export class ObjectWide {
  /** @type {Map<string, unknown>} */
  #objects = new Map();
  /** @type {Map<string, Progress>} */
  #progress = new Map();
  #queue;
  #work;

  /**
   * @param {Work} work
   * @param {(delayMs: number, fn: () => void) => unknown} [after]
   */
  constructor(work, after) {
    this.#work = work;
    this.#queue = new KeyQueue((name) => this.#pass(name), after);
  }

  /**
   * @param {string} name
   * @param {unknown} object
   */
  observe(name, object) {
    this.#objects.set(name, object);
    this.#queue.add(name);
  }

  /** @param {string} name */
  forget(name) {
    this.#objects.delete(name);
    this.#progress.delete(name);
  }

  idle() {
    return this.#queue.idle();
  }

  close() {
    this.#queue.close();
  }

  /**
   * @param {string} name
   * @returns {Promise<'done' | 'again'>}
   */
  async #pass(name) {
    const { plan, call } = this.#work;
    const object = this.#objects.get(name);
    if (object === undefined) return 'done';
    const essence = JSON.stringify(object);
    const progress = this.#progress.get(name) ?? { base: undefined, done: new Set() };
    this.#progress.set(name, progress);
    if (progress.base === essence) {
      progress.done.clear();
      return 'done';
    }
    await call(PARENT, name, object);
    const left = plan(object).filter((id) => !progress.done.has(id));
    const [first] = left;
    if (first !== undefined) {
      await call(first, name, object);
      progress.done.add(first);
    }
    if (left.length > 1) return 'again';
    progress.base = essence;
    progress.done.clear();
    return 'done';
  }
}
