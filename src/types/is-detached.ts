/**
 * Whether the memory of these bytes is gone: their buffer was transferred, or shrunk below them. Such bytes look like none, and
 * would be taken for an empty prefix, which is every key; to copy them throws. Bytes of length 0 that are whole are fine.
 */
export function isDetached(bytes: Uint8Array): boolean {
  if (bytes.length > 0) return false;
  try {
    new Uint8Array(bytes);
    return false;
  } catch {
    return true;
  }
}
