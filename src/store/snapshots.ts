import type { Clock } from '../types/clock.ts';
import { ClosedError, StoreFullError } from '../types/errors.ts';
import type { LeaseDump } from '../types/lease-dump.ts';
import type { Key } from '../types/revision.ts';
import type { Commit } from './commit.ts';
import type { Compactor } from './compactor.ts';
import type { Mvcc } from './mvcc.ts';
import { snapshotSteps } from './snapshot-create.ts';
import { type Restored, restoreSteps } from './snapshot-restore.ts';
import { StepRunner } from './snapshot-steps.ts';

/** What a lease has left after a restore, if it had that much: time for its holder to hear of the new store. */
const GRACE_MS = 1000;

/** Somebody who does not read them to their end has to say so. */
type LeaseDumps = IterableIterator<LeaseDump> & { return(): unknown };

export interface SnapshotsOptions<V, K extends Key> {
  readonly mvcc: Mvcc<V, K>;
  readonly clock: Clock;
  /** The one of the store: who needs memory has to find there what was held back, and commits look there. */
  readonly compactor: Pick<Compactor, 'start'>;
}

/**
 * Snapshots that are being made of a store, and the one that it is made of.
 *
 * While one is made, compaction goes on logically, and physically up to the low watermark of when it was begun; the rest is
 * done after, by the compactor of the store. So the memory of a store that is written much may be full sooner. A write is
 * then a `StoreFullError`; the end of a lease, which cannot wait, ends the snapshots instead.
 */
export class Snapshots<V, K extends Key> {
  readonly #mvcc: Mvcc<V, K>;
  readonly #clock: Clock;
  readonly #runner: StepRunner;
  readonly #compactor: Pick<Compactor, 'start'>;

  constructor({ mvcc, clock, compactor }: SnapshotsOptions<V, K>) {
    this.#mvcc = mvcc;
    this.#clock = clock;
    this.#runner = new StepRunner(clock);
    this.#compactor = compactor;
  }

  create(
    store: { readonly identity: string; readonly leases: () => LeaseDumps },
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    const mvcc = this.#mvcc;
    const wallTimeMs = this.#clock.wallTime();
    const leases = store.leases();
    const release = mvcc.state.hold(mvcc.window.compactRevision);
    const onEnd = () => {
      leases.return();
      release();
      this.#compactor.start();
    };
    const steps = snapshotSteps({ mvcc, identity: store.identity, wallTimeMs, leases });
    return this.#runner.run(steps, { signal, onEnd });
  }

  /** Into a state that is empty; a failure leaves one that nobody may use. Leases have left what they have now. */
  async restore(
    snapshot: Uint8Array,
    commit: (commit: Commit) => void,
    signal: AbortSignal | undefined,
  ): Promise<Restored> {
    const restored = await this.#runner.run(restoreSteps(snapshot, { mvcc: this.#mvcc, commit }), { signal });
    const passedMs = this.#clock.wallTime() - restored.wallTimeMs;
    return { ...restored, leases: restored.leases.map((lease) => aged(lease, passedMs)) };
  }

  /** Gives up the snapshots that are being made, for a commit that needs the memory now; `false` if there is none. */
  giveWay({ max, limit }: StoreFullError): boolean {
    return this.#runner.fail(new StoreFullError('create a snapshot', max, { limit }));
  }

  /** What is given up starts the compactor: who closes the store stops it after. */
  close(): void {
    this.#runner.fail(new ClosedError('create a snapshot'));
  }
}

/**
 * What passed between two processes only the wall time can tell, and it may be wrong. Never more than what was left then, so
 * no lease begins anew (store:R45). But none is dead before its holder could know that there is a store again, whatever the
 * wall time says: it has what it had left, or a second of that.
 */
function aged(lease: LeaseDump, passedMs: number): LeaseDump {
  const { remainingMs } = lease;
  const least = Math.min(remainingMs, GRACE_MS);
  return { ...lease, remainingMs: Math.max(least, Math.min(remainingMs, Math.ceil(remainingMs - passedMs))) };
}
