import { innerPageCount, leafPageCount } from './key-index';
import { KEY_CHUNK_BYTES, keyTable } from './keys';
import { fixedBytes, scratchBytes } from './memory';
import { freePageCount, PAGE_BYTES } from './pages';
import { logPageCount } from './revision-log';
import { blockBytes, bytesInUse } from './slab';
import { chunkCount } from './table';
import { HEADER_CHUNK_BYTES, headerTable, VERSION_CHUNK_BYTES, versionTable } from './versions';

/**
 * One account of every byte claimed: the parts add up to `claimedBytes` (verify.ts, statement 23), in a core that hashes
 * nothing.
 *
 * ```text
 *   0 fixed       static data, the first root of the index among it
 *   1 index       tree pages          2 log   its pages          3 free pages   for either
 *   4 blocks      in use: key bytes, separators, vectors, directories, far numbers
 *   5 free blocks and what rounding loses
 *   6 tables      records of versions and keys, in use or free
 *   7 scratch     the input region, those it has outgrown, the bit set of a range
 * ```
 */
export const PARTS: u32 = 8;

/** Bytes of one part. */
export function memoryPart(part: u32): usize {
  if (part == 0) return fixedBytes();
  // The first root is static, and stays the leftmost leaf.
  if (part == 1) return <usize>(leafPageCount() + innerPageCount() - 1) * PAGE_BYTES;
  if (part == 2) return <usize>logPageCount() * PAGE_BYTES;
  if (part == 3) return <usize>freePageCount() * PAGE_BYTES;
  if (part == 4) return bytesInUse();
  if (part == 5) return blockBytes() - bytesInUse();
  if (part == 6) {
    return (
      <usize>chunkCount(versionTable) * VERSION_CHUNK_BYTES +
      <usize>chunkCount(headerTable) * HEADER_CHUNK_BYTES +
      <usize>chunkCount(keyTable) * KEY_CHUNK_BYTES
    );
  }
  return part == 7 ? scratchBytes() : 0;
}
