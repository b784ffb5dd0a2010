/**
 * A stable hash of a key, the same on every replica and runtime: FNV-1a over UTF-16 units, then mixed, since names that
 * differ in their last letter alone would stay neighbours. A 32-bit unsigned integer; not for secrets.
 */
export function stableHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The same as a share in [0, 1). */
export function stableShare(key: string): number {
  return stableHash(key) / 2 ** 32;
}
