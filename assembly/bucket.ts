/**
 * Buckets: a number for the first directories of a key, so that a replay of one directory compares numbers, sixteen at a
 * time, and not keys.
 *
 * ```text
 *   /registry/pods/default/web-1            the bytes up to the fourth slash: /registry/pods/default/
 *   /registry/pods/default/web/1            the same
 *   jobs/7                                  up to the last slash there is: jobs/
 * ```
 *
 * Four slashes are what Kubernetes keeps a namespace's objects of one kind under. Keys of a range whose start and end
 * share four slashes all have the bucket of that start. The number is a hash: two directories may have the same one, so
 * it only says which keys are worth comparing.
 */

const SLASHES: u32 = 4;
export const SLASH: u32 = 0x2f;
/** Of FNV-1a, 32 bits. */
const BASIS: u32 = 0x811c9dc5;
const PRIME: u32 = 0x01000193;

/** The bucket of a key. */
export function bucketOf(bytes: usize, length: usize): u32 {
  let hash = BASIS;
  let bucket = hash;
  let slashes: u32 = 0;
  for (let index: usize = 0; index < length && slashes < SLASHES; index++) {
    const byte = <u32>load<u8>(bytes + index);
    hash = (hash ^ byte) * PRIME;
    if (byte != SLASH) continue;
    bucket = hash;
    slashes++;
  }
  return bucket;
}

/** Length of the directory that gives a key its bucket, 0 when the key has fewer slashes than that takes. */
export function bucketLength(bytes: usize, length: usize): usize {
  let slashes: u32 = 0;
  for (let index: usize = 0; index < length; index++) {
    if (load<u8>(bytes + index) == SLASH && ++slashes == SLASHES) return index + 1;
  }
  return 0;
}
