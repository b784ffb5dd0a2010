// @ts-check
// An informer and a work queue, as people write them with a Kubernetes client: a Map of the newest objects, a queue of
// names, and a `reconcile` that makes everything so, each time.
import { KeyQueue } from './key-queue.mjs';

/**
 * @typedef {object} Work What is to be done for an object; the same for everybody.
 * @property {(object: unknown) => readonly string[]} plan Ids of the subs that the parent has for this state.
 * @property {(id: string, name: string, object: unknown) => void | Promise<void>} call Throws if it has failed.
 */

/** The id of the parent in a `call`; the other ids are those of the plan. */
export const PARENT = 'parent';

/**
 * It cannot miss the last state: it reads the newest object, calls everybody with it, and does so again if there was a
 * change meanwhile. It remembers nothing, so everybody is called for everything, and all again after a restart.
 */
export class ReconcileLoop {
  /** @type {Map<string, unknown>} */
  #objects = new Map();
  #queue;
  #work;

  /**
   * @param {Work} work
   * @param {(delayMs: number, fn: () => void) => unknown} [after]
   */
  constructor(work, after) {
    this.#work = work;
    this.#queue = new KeyQueue((name) => this.#reconcile(name), after);
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
    this.#queue.add(name);
  }

  idle() {
    return this.#queue.idle();
  }

  close() {
    this.#queue.close();
  }

  /**
   * @param {string} name
   * @returns {Promise<'done'>}
   */
  async #reconcile(name) {
    const { plan, call } = this.#work;
    const object = this.#objects.get(name);
    if (object === undefined) return 'done';
    await call(PARENT, name, object);
    for (const id of plan(object)) await call(id, name, object);
    return 'done';
  }
}
