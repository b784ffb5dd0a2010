// @ts-check

/** @typedef {import('./objects.mjs').Pod} Pod */

/**
 * Who owns whom, as one would write it by hand: each write keeps the children of its owners up to date, and a walk only follows them.
 *
 * ```text
 *   uid -> object      uid of an owner -> { uid of a child, ... }
 * ```
 */
export class ChildrenMap {
  /** @type {Map<string, Pod>} */
  #objects = new Map();
  /** @type {Map<string, Set<string>>} */
  #children = new Map();

  /** @param {Pod} object */
  put(object) {
    const { uid } = object.metadata;
    this.delete(uid);
    this.#objects.set(uid, object);
    for (const owner of ownersOf(object)) {
      const children = this.#children.get(owner);
      if (children === undefined) this.#children.set(owner, new Set([uid]));
      else children.add(uid);
    }
  }

  /** Its children stay: they still say that it owns them. @param {string} uid */
  delete(uid) {
    const object = this.#objects.get(uid);
    if (object === undefined) return;
    this.#objects.delete(uid);
    for (const owner of ownersOf(object)) {
      const children = this.#children.get(owner);
      children?.delete(uid);
      if (children?.size === 0) this.#children.delete(owner);
    }
  }

  /** Each once. @param {string} start @param {(object: Pod) => void} visit */
  walk(start, visit) {
    const visited = new Set();
    const open = [start];
    for (let uid = open.pop(); uid !== undefined; uid = open.pop()) {
      const object = this.#objects.get(uid);
      if (object === undefined || visited.has(uid)) continue;
      visited.add(uid);
      visit(object);
      for (const child of this.#children.get(uid) ?? []) open.push(child);
    }
  }
}

/** @param {Pod} object */
function ownersOf({ metadata: { ownerReferences = [] } }) {
  return /** @type {readonly { uid: string }[]} */ (ownerReferences).map(({ uid }) => uid);
}
