import { LockOrderError, LockReentryError } from '../types/errors.ts';
import type { Claim, LockNode } from './lock-node.ts';

/**
 * Who has asked for what, as far as owners are named: which async context calls cannot be seen portably (L3). One claim an
 * owner and node, since a second one would be refused; nothing for an owner who has no lock.
 */
export class LockOwners {
  readonly #claims = new Map<unknown, Map<LockNode, Claim>>();

  /** Owners with a claim. */
  get size(): number {
    return this.#claims.size;
  }

  /**
   * Refuses what would make the owner wait for itself, or may make owners wait for each other. Any overlap is refused, also
   * of two readers, and also where nobody waits yet: a mistake should not need contention to be seen (L3).
   *
   * Throws `LockReentryError`, and `LockOrderError` when ranks are checked (L6).
   */
  check(claim: Claim, checkRanks: boolean, action: string): void {
    const claims = this.#claims.get(claim.owner);
    if (claims === undefined) return;
    const same = overlapping(claim, claims);
    if (same !== undefined) {
      const owner = typeof claim.owner === 'string' ? `the owner ${JSON.stringify(claim.owner)}` : 'the owner';
      throw new LockReentryError(action, { lock: same.node.key, owner });
    }
    if (!checkRanks || claim.rank === undefined) return;
    for (const held of claims.values()) {
      if (held.rank === undefined || !isBefore(claim.rank, claim.node.key, held.rank, held.node.key)) continue;
      const facts = { lock: claim.node.key, rank: claim.rank, heldLock: held.node.key, heldRank: held.rank };
      throw new LockOrderError(action, facts);
    }
  }

  add(claim: Claim): void {
    const claims = this.#claims.get(claim.owner);
    if (claims === undefined) this.#claims.set(claim.owner, new Map([[claim.node, claim]]));
    else claims.set(claim.node, claim);
  }

  delete({ owner, node }: Claim): void {
    const claims = this.#claims.get(owner);
    claims?.delete(node);
    if (claims?.size === 0) this.#claims.delete(owner);
  }
}

/** A claim that is about one of the keys that this one is about. */
function overlapping({ node, isPrefix }: Claim, claims: ReadonlyMap<LockNode, Claim>): Claim | undefined {
  const same = claims.get(node);
  if (same !== undefined) return same;
  for (let above = node.parent; above !== undefined; above = above.parent) {
    const claim = claims.get(above);
    if (claim?.isPrefix === true) return claim;
  }
  if (!isPrefix) return undefined;
  for (const claim of claims.values()) if (isBelow(claim.node, node)) return claim;
  return undefined;
}

function isBelow(node: LockNode, top: LockNode): boolean {
  for (let above = node.parent; above !== undefined; above = above.parent) if (above === top) return true;
  return false;
}

/** Whether one lock has to be taken before another: by rank, then by key. */
function isBefore(rank: number, key: string, otherRank: number, otherKey: string): boolean {
  if (rank !== otherRank) return rank < otherRank;
  const segments = key.split('/');
  const others = otherKey.split('/');
  const place = segments.findIndex((segment, index) => segment !== others[index]);
  // A key comes before those below it: so all that lies between the two is below the first one as well.
  if (place < 0) return segments.length < others.length;
  const other = others[place];
  return other !== undefined && (segments[place] ?? '') < other;
}
