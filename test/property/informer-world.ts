import type { InformerEvent } from '../../src/kubernetes/informer-core.ts';
import type { Random } from '../../src/types/random.ts';

/** One state of an object at the server; `matches`: the selector takes it. */
export interface Thing {
  readonly matches: boolean;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
  };
}

/** What a server sends to a watch with the selector: the event and the version it is of. */
export interface Sent {
  readonly version: number;
  readonly event: InformerEvent & { readonly object: Thing };
}

const NAMES = ['a', 'b', 'c', 'd'] as const;

/**
 * The API server of one kind: objects that come, change, leave the selector and come back, go, and come again under their name
 * with another uid. It keeps every state, so that a list can be of an old one.
 */
export class InformerWorld {
  readonly #random: Random;
  readonly #states: ReadonlyMap<string, Thing>[] = [new Map(), new Map()];
  readonly sent: Sent[] = [];
  #uids = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The newest version, from 1; each change makes one. */
  get version(): number {
    return this.#states.length - 1;
  }

  /** What matched the selector at a version, by name. */
  matching(version = this.version): ReadonlyMap<string, Thing> {
    const all = this.#states[version] as ReadonlyMap<string, Thing>;
    return new Map([...all].filter(([, { matches }]) => matches));
  }

  /** Uids that are alive, whether they match or not. */
  isAlive(uid: string): boolean {
    return [...(this.#states[this.version] as ReadonlyMap<string, Thing>).values()].some(
      (one) => one.metadata.uid === uid,
    );
  }

  /** One change, and what a watch with the selector hears of it. */
  change(): void {
    const name = NAMES[Math.floor(this.#random() * NAMES.length)] as string;
    const state = new Map(this.#states[this.version]);
    const before = state.get(name);
    const version = this.version + 1;
    const luck = this.#random();
    const made = (uid: string, matches: boolean, isDeleting = false): Thing => ({
      matches,
      metadata: {
        name,
        uid,
        resourceVersion: String(version),
        ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      },
    });
    if (before === undefined) {
      const thing = made(`u${++this.#uids}`, luck < 0.8);
      state.set(name, thing);
      if (thing.matches) this.#send('ADDED', version, thing);
    } else if (luck < 0.3) {
      state.delete(name);
      // Half of them without a timestamp: no grace period.
      if (before.matches) this.#send('DELETED', version, made(before.metadata.uid, true, luck < 0.15));
    } else {
      const thing = made(before.metadata.uid, luck < 0.85);
      state.set(name, thing);
      if (before.matches && thing.matches) this.#send('MODIFIED', version, thing);
      else if (thing.matches) this.#send('ADDED', version, thing);
      else if (before.matches) this.#send('DELETED', version, thing);
    }
    this.#states.push(state);
  }

  #send(type: InformerEvent['type'], version: number, object: Thing): void {
    this.sent.push({ version, event: { type, object } });
  }
}
