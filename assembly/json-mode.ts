/**
 * Arrays and objects that may be open at one point of a text: readers call themselves for each, so this also bounds the
 * stack. `src/core/canonical-text.ts` has the same bound.
 */
export const DEPTH_MAX: i32 = 1000;

/** What holds inside one array or object. The first group is inherited, the rest belongs to the container. */
export const enum Mode {
  /** Inside a value that will be removed, when names are still needed: only the grammar matters. */
  Discard = 1,
  /** Inside `metadata`: members with an empty container go. */
  Prune = 2,

  /** Always set inside an object: a mode of 0 stands for a failure. */
  Object = 4,
  /** Names are annotation names. */
  Annotations = 8,
  /** A name was not above the one before. */
  Unsorted = 16,
  /** See `unitOrderDiffers` in json-string.ts. */
  ByUnits = 32,
  /** Some recorded members are gone. */
  Holes = 64,
  /** An annotation prefix is marked. */
  Marked = 128,
}

export const INHERITED: u32 = Mode.Discard | Mode.Prune;
/** Members cannot stay as they were written. */
export const REARRANGED: u32 = Mode.Unsorted | Mode.Holes | Mode.Marked;
