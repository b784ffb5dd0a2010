import type { Snapshot } from './snapshot.ts';
import type { Spawn } from './spawn.ts';

/** The timers and daemons of one uid. */
export interface SpawnedObject {
  readonly name: string;
  readonly uid: string;
  readonly spawns: readonly Spawn[];
  /** The newest state that was known of this uid. */
  newest: Snapshot;
  /** This process has read the object itself. */
  isFresh: boolean;
  /** The uid is gone: nothing begins any more, and another uid under the name waits for the rest to end. */
  isDead: boolean;
  armedMs: number;
  cancel: () => void;
}
