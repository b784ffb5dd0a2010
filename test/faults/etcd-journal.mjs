// @ts-check
// What writers were told and what watchers saw, held against the history of the server.

/**
 * @typedef {object} Acknowledged
 * @property {string} key
 * @property {string} value
 * @property {number} revision
 */

/** Each key is written by one writer, so its values come in the order of their numbers. */
export class Journal {
  /** @type {Acknowledged[]} */
  acknowledged = [];
  /** Values whose fate was not told, or that were told to have failed. @type {{ value: string, isOpen: boolean }[]} */
  failed = [];
  /** Longest time in ms that a writer had no answer that counts, by the event that came before it. @type {Map<string, number>} */
  recovery = new Map();

  get writes() {
    return this.acknowledged.length + this.failed.length;
  }

  /**
   * Throws for what was acknowledged and is not in the history, and for what is in it although it was told not to be.
   *
   * @param {readonly { key: string, value: string, revision: number }[]} history every put of the server, in its order
   */
  check(history) {
    const byValue = new Map(history.map((put) => [put.value, put]));
    if (byValue.size !== history.length) throw new Error('a write was committed twice');
    const lost = this.acknowledged.filter((one) => {
      const put = byValue.get(one.value);
      return put === undefined || put.revision !== one.revision || put.key !== one.key;
    });
    if (lost.length > 0)
      throw new Error(`${lost.length} acknowledged writes are lost, the first: ${JSON.stringify(lost[0])}`);
    const denied = this.failed.filter(({ value, isOpen }) => !isOpen && byValue.has(value));
    if (denied.length > 0)
      throw new Error(`${denied.length} writes were committed and told not to be: ${denied[0]?.value}`);
  }

  /**
   * Throws for a gap, a duplicate and anything that goes back in what a watcher saw from `from` on.
   *
   * @param {string} who
   * @param {readonly { revision: number, values: readonly string[], span: boolean, after: number }[]} batches
   * @param {readonly { key: string, value: string, revision: number }[]} history
   * @param {number} from
   */
  checkWatch(who, batches, history, from) {
    let last = from - 1;
    let index = history.findIndex(({ revision }) => revision >= from);
    for (const { revision, values, span, after } of batches) {
      if (revision <= last) throw new Error(`${who}: a batch at ${revision} came after ${last}`);
      if (span) {
        // The exact difference: of each key the last value only.
        if (after !== last && after < last) throw new Error(`${who}: a span from ${after} came after ${last}`);
        /** @type {Map<string, string>} */
        const expected = new Map();
        for (; index < history.length && /** @type {any} */ (history[index]).revision <= revision; index++) {
          const put = /** @type {{ key: string, value: string }} */ (history[index]);
          expected.set(put.key, put.value);
        }
        if (JSON.stringify([...expected.values()].sort()) !== JSON.stringify([...values].sort())) {
          throw new Error(`${who}: the span (${after}, ${revision}] is not the difference`);
        }
      } else {
        const put = history[index++];
        if (put === undefined || put.revision !== revision || values.length !== 1 || values[0] !== put.value) {
          throw new Error(`${who}: saw ${values.join()} at ${revision}, the history has ${JSON.stringify(put)}`);
        }
      }
      last = revision;
    }
    if (index < history.length) throw new Error(`${who}: ${history.length - index} commits were never seen`);
  }
}
