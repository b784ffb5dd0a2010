// @ts-check

/** What so many watchers have got, by place: counted in the sweeps, and looked at in the checks. */
export class Deliveries {
  total = 0;
  /** @type {unknown[]} The newest of each. */
  last = [];
  #wanted = Number.POSITIVE_INFINITY;
  /** @type {() => void} */
  #arrived = () => {};
  /** @type {(error: unknown) => void} */
  #failed = () => {};

  /** @param {number} place @param {unknown} event */
  receive(place, event) {
    this.last[place] = event;
    if (++this.total === this.#wanted) this.#arrived();
  }

  /** Of a watcher that has ended, which nobody would wait for. @param {unknown} error */
  fail(error) {
    this.#failed(error);
  }

  /**
   * Resolves once so many more have come, which are those of the change that `change` makes.
   *
   * @template T
   * @param {number} count
   * @param {() => Promise<T>} change
   * @returns {Promise<T>}
   */
  async after(count, change) {
    const all = new Promise((resolve, reject) => {
      this.#arrived = () => resolve(undefined);
      this.#failed = reject;
    });
    this.#wanted = this.total + count;
    const [result] = await Promise.all([change(), all]);
    return result;
  }
}
