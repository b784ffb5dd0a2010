import { claim } from './memory';

/** Open arrays and objects a text may have at one point. `src/core/canonical-json.ts` has the same bound. */
export const DEPTH_MAX: i32 = 1000;

/** What holds inside one array or object. The first group is inherited, the rest belongs to the container. */
export const enum Mode {
  /** Inside a value that will be removed: only the grammar matters. */
  Discard = 1,
  /** Inside `metadata`: members with an empty container go. */
  Prune = 2,

  Object = 4,
  /** Names are annotation names. */
  Annotations = 8,
  /** Members are not recorded: nobody will ask for their order or their names. */
  Untracked = 16,
  /** A name was not above the one before. */
  Unsorted = 32,
  /** See `unitOrderDiffers` in json-string.ts. */
  ByUnits = 64,
  /** Some recorded members are gone. */
  Holes = 128,
  /** An annotation prefix is marked. */
  Marked = 256,
}

export const INHERITED: u32 = Mode.Discard | Mode.Prune;

/** What happens to the member or element being read, once it is complete. */
export const enum Part {
  Kept = 0,
  /** Its text goes at once; it was not recorded. */
  Cut = 1,
  /** It is recorded, and gone. */
  Gone = 2,
  /** Gone if it is `{}` or `[]`. */
  GoneIfEmpty = 3,
  /** Gone if it is `{}`. */
  GoneIfEmptyObject = 4,
}

/** One open container. */
@unmanaged
export class Frame {
  static readonly BYTES: usize = offsetof<Frame>();

  /** Its bracket in the canonical text. */
  open: usize;
  /** Stack offset of its first member. */
  members: usize;
  node: u32;
  mode: u32;
  /** Arrays: index of the element being read. */
  index: u32;
  part: Part;
  /** Where the text of the part being read begins; only for `Cut`. */
  partStart: usize;
  reserved: u32;
}

let frames: usize = 0;

/** The place below the first frame, which stands for "no container is open"; 0 when memory is out. */
export function frameFloor(): usize {
  if (frames == 0) frames = claim((<usize>DEPTH_MAX + 1) * Frame.BYTES);
  return frames;
}
