/**
 * The exports of the core module as TypeScript sees them: the mirror of `assembly/exports.ts` (a test compares the
 * names). Only files of `src/core/` touch these; everything above uses `Core` and `EssenceCore`.
 */
export interface MemoryExports {
  readonly memory: WebAssembly.Memory;
  /** Pointer to an input region of `bytes` plus 64 zero bytes; 0 when the memory limit forbids it. */
  inputRegion(bytes: number): number;
  /** Where the last call left its u32 results. */
  outputPointer(): number;
  claimedBytes(): number;
  setMemoryLimit(bytes: number): void;
}

export interface CoreExports extends MemoryExports {}

/** Status codes of `assembly/status.ts`. */
export const STATUS_OK = 0;
export const STATUS_NOT_FOUND = -1;
export const STATUS_FULL = -2;
