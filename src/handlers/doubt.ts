import { equalData } from './diff.ts';
import type { Snapshot } from './snapshot.ts';

/** Whether a patch whose answer got lost was applied: by what the object is if it was. */
export class Doubt {
  #sent: { readonly resourceVersion: string; readonly object: unknown } | undefined;

  /** Nobody knows what has become of a patch of this state that was to make `object`. */
  raise({ resourceVersion }: Snapshot, object: unknown): void {
    this.#sent = { resourceVersion, object };
  }

  /** A patch of which nobody knew has made this state: it is what was to come out, in another version. */
  hasMade(state: Snapshot): boolean {
    const sent = this.#sent;
    if (sent === undefined || sent.resourceVersion === state.resourceVersion) return false;
    return equalData(sent.object, state.object);
  }
}
