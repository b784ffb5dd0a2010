import { claim } from './memory';
import { dropFreePage, PAGE_BYTES } from './pages';
import { allocate, classBytes, classOf, release } from './slab';

/**
 * Tables of fixed-size records that grow without moving a record: chunks of 256, found through a directory.
 *
 * ```text
 *   table (12 bytes, static)      directory               chunks
 *   | directory | room | chunks | ->  | c0 | c1 | c2 | . |     c0: records 0..255   c1: 256..511   c2: ...
 *
 *   record 300 of a table of 28-byte records = directory[300 >> 8] + (300 & 255) * 28
 * ```
 *
 * A chunk may begin with a header for its owner (versions.ts keeps its free slots there).
 *
 * Growing by copying would need the old and the new table at once, and the outgrown ones would be garbage as large as
 * the table itself. Chunks are never given back; freed records are linked and reused by the tables' owners.
 */

export const CHUNK_RECORDS: u32 = 256;
const FIRST_ROOM: u32 = 16;

@inline
export function record(table: usize, index: u32, recordBytes: usize): usize {
  return load<usize>(load<usize>(table) + ((<usize>(index >> 8)) << 2)) + <usize>(index & 255) * recordBytes;
}

export function chunkCount(table: usize): u32 {
  return load<u32>(table, 8);
}

/** Address of a chunk. */
@inline
export function chunkAt(table: usize, chunk: u32): usize {
  return load<usize>(load<usize>(table) + ((<usize>chunk) << 2));
}

/** Size of the directory's block, for `verify`. */
export function directoryBytes(table: usize): usize {
  return (<usize>load<u32>(table, 4)) << 2;
}

/** One chunk more. False: memory is out, nothing changed. */
export function addChunk(table: usize, chunkBytes: usize): bool {
  const chunks = load<u32>(table, 8);
  if (chunks == load<u32>(table, 4) && !growDirectory(table, chunks)) return false;
  let chunk = claim(chunkBytes);
  // At the memory limit, records of keys may lie in a page that neither index nor log has in use.
  if (chunk == 0 && chunkBytes == PAGE_BYTES) chunk = dropFreePage();
  if (chunk == 0) return false;
  store<usize>(load<usize>(table) + ((<usize>chunks) << 2), chunk);
  store<u32>(table, chunks + 1, 8);
  return true;
}

/** Slab bytes that directories for `chunks` more chunks may take. */
export function directoryClaim(table: usize, chunks: u32): usize {
  const need = load<u32>(table, 8) + chunks;
  // Doubling to `need` passes through smaller directories: together less than twice the last, itself below 2 x need.
  return need <= load<u32>(table, 4) ? 0 : (<usize>(need + FIRST_ROOM)) << 4;
}

function growDirectory(table: usize, chunks: u32): bool {
  const wanted = (<usize>(chunks == 0 ? FIRST_ROOM : chunks << 1)) << 2;
  const directory = allocate(wanted);
  if (directory == 0) return false;
  const old = load<usize>(table);
  if (old != 0) {
    memory.copy(directory, old, (<usize>chunks) << 2);
    release(old, (<usize>load<u32>(table, 4)) << 2);
  }
  store<usize>(table, directory);
  store<u32>(table, <u32>(classBytes(classOf(wanted)) >> 2), 4);
  return true;
}
