import { LimitExceededError, UnsupportedError } from '../types/errors.ts';
import type { Patch } from '../types/patch.ts';
import type { PatchOptions } from './context.ts';
import { handOut } from './freeze.ts';
import type { IndexAccess, ObjectIndex } from './index-options.ts';
import { checkParts } from './parts.ts';
import { checkPatch } from './patch.ts';
import { PATCHES_MAX, type PatchCollector } from './patch-collector.ts';
import type { Snapshot } from './snapshot.ts';
import type { DaemonContext, TimerContext } from './spawn-options.ts';
import { ownData } from './view.ts';

/** The context of a call of a timer. */
export class TimerCall implements TimerContext {
  readonly object: unknown;
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly #patches: PatchCollector;
  readonly #index: IndexAccess['index'];

  constructor(
    snapshot: Snapshot,
    attempt: number,
    signal: AbortSignal,
    patches: PatchCollector,
    index: IndexAccess['index'],
  ) {
    this.object = snapshot.object;
    this.uid = snapshot.uid;
    this.name = snapshot.name;
    this.resourceVersion = snapshot.resourceVersion;
    this.attempt = attempt;
    this.signal = signal;
    this.#patches = patches;
    this.#index = index;
    Object.freeze(this);
  }

  patch(patch: Patch, options: PatchOptions = {}): void {
    this.#patches.add(patch, options);
  }

  index<V = unknown>(id: string): ObjectIndex<V> {
    return this.#index(id);
  }
}

/** What the context of a daemon needs of its controller. */
export interface DaemonSeams extends IndexAccess {
  /** The newest state of the daemon's uid that is known. */
  readonly newest: () => Snapshot;
  /** `undefined` if the source takes no patches. */
  readonly write: ((patch: Patch) => Promise<void>) | undefined;
  /** Told of every patch that is not applied. */
  readonly onRefused: (error: unknown) => void;
}

/** The context of a call of a daemon: its object is the newest one each time. */
export class DaemonCall implements DaemonContext {
  readonly uid: string;
  readonly name: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly #id: string;
  readonly #seams: DaemonSeams;
  #last: Promise<void> = Promise.resolve();
  #pending = 0;
  #isOver = false;

  constructor(id: string, { uid, name }: Snapshot, attempt: number, signal: AbortSignal, seams: DaemonSeams) {
    this.uid = uid;
    this.name = name;
    this.attempt = attempt;
    this.signal = signal;
    this.#id = id;
    this.#seams = seams;
    Object.freeze(this);
  }

  get object(): unknown {
    return handOut(this.#seams.newest().object);
  }

  get resourceVersion(): string {
    return this.#seams.newest().resourceVersion;
  }

  index<V = unknown>(id: string): ObjectIndex<V> {
    return this.#seams.index(id);
  }

  patch(patch: Patch): Promise<void> {
    const action = `patch the object of "${this.#id}"`;
    const { write, onRefused } = this.#seams;
    if (write === undefined) throw new UnsupportedError(action, 'patching by its source');
    checkPatch(action, patch);
    if (this.#isOver) throw new TypeError(`Cannot ${action}: the call is over`);
    checkParts(action, patch);
    // The form was checked, and a copy has the same.
    const own = ownData(action, patch) as Patch;
    const done = this.#inTurn(action, () => write(own));
    // Marks the rejection as seen to: who waits for it hears of it all the same.
    done.catch(onRefused);
    return done;
  }

  /** The call is over: what comes later is refused. */
  close(): void {
    this.#isOver = true;
  }

  /** One after the other, whatever becomes of those before. */
  async #inTurn(action: string, write: () => Promise<void>): Promise<void> {
    if (this.#pending >= PATCHES_MAX) {
      throw new LimitExceededError(action, { limit: 'patches', max: PATCHES_MAX, actual: this.#pending + 1 });
    }
    this.#pending++;
    const turn = this.#last.then(async () => {
      try {
        this.signal.throwIfAborted();
        await write();
      } finally {
        this.#pending--;
      }
    });
    this.#last = settled(turn);
    return turn;
  }
}

/** Whoever waits in line for a patch does not care what became of it: its caller is told. */
async function settled(turn: Promise<void>): Promise<void> {
  await Promise.allSettled([turn]);
}
