import { DIGEST_BYTES } from '../core/digest.ts';
import { SnapshotError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';

/**
 * The form of a snapshot; docs/snapshots.md is its description for those who write programs of their own.
 *
 * ```text
 *   magic 8 | version u32 | header | leases .. 0 | rows .. 0 | commits .. 0 | checksum 16
 * ```
 *
 * All numbers but `version` are LEB128. There are no counts of things, only ends, so that no count can lie.
 */
export const MAGIC: Uint8Array = Uint8Array.of(0x89, 0x50, 0x4c, 0x4d, 0x53, 0x4e, 0x41, 0x50);
export const VERSION = 1;
/** Magic and version: what stays as it is in every version to come. */
export const PREAMBLE_BYTES = 12;
export const CHECKSUM_BYTES: number = DIGEST_BYTES;

/** First byte of a row or a change: what it is, and, of a put, what its value is. */
export const END = 0;
export const KIND_DELETE = 1;
export const KIND_TEXT = 2;
export const KIND_BYTES = 3;
export const KIND_JSON = 4;
export const KIND_CODEC = 5;

/** What values are in the whole snapshot. */
export const FORM_PLAIN = 0;
export const FORM_CODEC = 1;

export const KEY_MODES = ['utf8', 'bytes'] as const;

export interface SnapshotHeader {
  readonly keys: (typeof KEY_MODES)[number];
  readonly form: typeof FORM_PLAIN | typeof FORM_CODEC;
  readonly identity: string;
  /** By the clock's `wallTime` when the snapshot was begun: no other clock outlives its process. */
  readonly wallTimeMs: number;
  readonly revision: Revision;
  /** -1: never compacted, so that a first compact(0) is legal. */
  readonly compactRevision: Revision;
  readonly watchFloor: Revision;
}

/**
 * The highest that a snapshot may have: the store that is made of it has to go on. Above what they leave, the next revision is
 * no safe integer and the next version of a key not one of 32 bits: the same would be given twice.
 */
export const REVISION_MAX: Revision = Number.MAX_SAFE_INTEGER - 2 ** 32;
export const VERSION_MAX: number = 2 ** 32 - 2 ** 20;

const OPEN = 'open a store from a snapshot';

/** The error of everything that is wrong with the bytes. */
export function badSnapshot(reason: string, options: { readonly cause?: unknown } = {}): SnapshotError {
  return new SnapshotError(OPEN, reason, options);
}
