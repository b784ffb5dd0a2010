import type { Applier } from '../store/applier.ts';
import type { Commit } from '../store/commit.ts';
import type { Mvcc } from '../store/mvcc.ts';
import { StoreFullError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Key } from '../types/revision.ts';
import type { WatchHub } from '../watch/hub.ts';
import type { ListedState } from './relist.ts';

export interface ApplyListOptions<V, K extends Key> {
  readonly applier: Applier<V, K>;
  readonly hub: WatchHub;
  readonly logger: Logger;
}

const ACTION = 'apply a list';

/**
 * A span needs a version for each change, deletes too, so one that makes the data smaller may not fit. Then the state
 * of the list is taken for a new one: watches end, for the difference is nowhere, and reads begin at S (M35).
 */
export function applyList<V, K extends Key>(
  options: ApplyListOptions<V, K>,
  commit: Commit,
  listed: ListedState,
  isRepair: boolean,
): void {
  const { applier, hub, logger } = options;
  try {
    makingRoom(options, () => {
      if (isRepair) applier.repair(commit, ACTION);
      else applier.commit(commit, ACTION);
    });
  } catch (error) {
    if (!(error instanceof StoreFullError)) throw error;
    applier.restart({ revision: listed.revision, changes: listed.rows }, ACTION);
    hub.restarted();
    logger.warn('The difference to the list did not fit, starting anew with the list', { error });
  }
}

/** Applies something; as long as memory is out, again with less history, which is worth less than the newest state. */
export function makingRoom<V, K extends Key>(
  { applier, logger }: Pick<ApplyListOptions<V, K>, 'applier' | 'logger'>,
  apply: () => void,
): void {
  for (;;) {
    try {
      apply();
      return;
    } catch (error) {
      if (!(error instanceof StoreFullError) || !applier.dropHistory()) throw error;
      logger.warn('The replica is full, its history was dropped', { error });
    }
  }
}

/** A stale item is harmless only if it is known to be applied: in the log, in a hole, or below the window (M6). */
export function isKnown<V, K extends Key>(mvcc: Mvcc<V, K>, { revision, changes }: Commit): boolean {
  if (revision < mvcc.window.watchFloor || mvcc.window.isInHole(revision)) return true;
  return changes.every(({ text }) => mvcc.state.hasCommit(text, revision));
}
