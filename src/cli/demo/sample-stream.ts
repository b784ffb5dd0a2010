import { createSeededRandom } from '../../system/seeded-random.ts';
import type { Random } from '../../types/random.ts';
import type { Revision } from '../../types/revision.ts';
import { pick } from './pick.ts';
import {
  createSample,
  createUid,
  type SampleObject,
  withLabelChange,
  withMetadataChange,
  withSpecChange,
  withStatusChange,
} from './sample-objects.ts';
import type { TrueObject } from './true-state.ts';

export interface SampleStreamOptions {
  readonly seed: number;
  /** Objects of the first list. */
  readonly objects: number;
  /** Lines in all, first list and bookmarks included. */
  readonly events: number;
}

/** 2026-01-05T08:00:00Z: any fixed time does, as long as two runs of one seed are equal byte for byte. */
const START_MS = 1_767_600_000_000;

interface Dead {
  readonly object: SampleObject;
}

/** How often what happens, in percent; the rest is status changes, as in a real cluster. */
const SHARES = [
  ['spec', 12],
  ['label', 5],
  ['metadata', 4],
  ['delete', 4],
  ['readd', 3],
  ['add', 2],
  ['bookmark', 2],
] as const;

/**
 * A made-up watch stream, the same for the same options: a first list in random order of revisions, a bookmark, then
 * traffic in which some objects change far more often than others.
 *
 * It keeps the truth by itself, from what it meant and not from what it wrote: the command that reads the lines has to
 * arrive there by another way.
 */
export class SampleStream {
  readonly #options: SampleStreamOptions;
  readonly #random: Random;
  readonly #live: SampleObject[] = [];
  readonly #dead: Dead[] = [];
  #made = 0;
  #revision: Revision = 700_000;

  constructor(options: SampleStreamOptions) {
    this.#options = options;
    this.#random = createSeededRandom(options.seed);
  }

  /** Objects alive after the lines taken so far, by key. */
  get truth(): ReadonlyMap<string, TrueObject> {
    return new Map(
      this.#live.map((object) => {
        const { uid, resourceVersion, namespace, name } = object.metadata;
        const key = `${object.apiVersion}/${object.kind}/${namespace}/${name}`;
        return [key, { uid, revision: Number(resourceVersion), object }];
      }),
    );
  }

  /** The events as lines of JSON. Once. */
  *lines(): Generator<string, void, undefined> {
    const { objects, events } = this.#options;
    for (let index = 0; index < objects; index++) this.#live.push(this.#stamp(this.#create()));
    for (const object of this.#shuffled(this.#live)) yield line('ADDED', object);
    for (let index = objects; index < events; index++) {
      if (index === objects) yield this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
      else yield this.#event();
    }
  }

  #event(): string {
    const random = this.#random;
    let share = random() * 100;
    const what = SHARES.find(([, percent]) => {
      share -= percent;
      return share < 0;
    })?.[0];
    if (what === 'bookmark') return this.#bookmark({});
    if (what === 'readd' && this.#dead.length > 0) return this.#readd();
    if (what === 'add' || this.#live.length === 0) return this.#add(this.#create());
    // The cube makes a few objects hot.
    const index = Math.floor(random() ** 3 * this.#live.length);
    const object = this.#live[index] as SampleObject;
    if (what === 'delete') return this.#delete(index, object);
    return this.#modify(index, this.#changed(what, object));
  }

  #changed(what: (typeof SHARES)[number][0] | undefined, object: SampleObject): SampleObject {
    const random = this.#random;
    if (what === 'spec') return withSpecChange(random, object);
    if (what === 'label') return withLabelChange(random, object);
    if (what === 'metadata') return withMetadataChange(random, object, this.#time());
    return withStatusChange(random, object, this.#time());
  }

  #modify(index: number, object: SampleObject): string {
    const stamped = this.#stamp(object);
    this.#live[index] = stamped;
    return line('MODIFIED', stamped);
  }

  #add(object: SampleObject): string {
    const stamped = this.#stamp(object);
    this.#live.push(stamped);
    return line('ADDED', stamped);
  }

  /** The event carries the last state at a new revision. */
  #delete(index: number, object: SampleObject): string {
    this.#live.splice(index, 1);
    this.#dead.push({ object });
    return line('DELETED', this.#stamp(object));
  }

  /** Another object under a name that was there before. */
  #readd(): string {
    const [dead] = this.#dead.splice(pick(this.#random, this.#dead.length), 1);
    const { object } = dead as Dead;
    const metadata = {
      ...object.metadata,
      uid: createUid(this.#random),
      generation: 1,
      creationTimestamp: this.#time(),
    };
    return this.#add({ ...object, metadata });
  }

  #bookmark(annotations: Readonly<Record<string, string>>): string {
    const metadata = { resourceVersion: this.#nextRevision(), creationTimestamp: null, annotations };
    return JSON.stringify({ type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod', metadata } });
  }

  #create(): SampleObject {
    return createSample(this.#random, this.#made++, this.#time());
  }

  #stamp(object: SampleObject): SampleObject {
    return { ...object, metadata: { ...object.metadata, resourceVersion: this.#nextRevision() } };
  }

  /** Numbers skip, as in a store that others write to as well. */
  #nextRevision(): string {
    this.#revision += 1 + pick(this.#random, 4);
    return String(this.#revision);
  }

  #time(): string {
    return new Date(START_MS + this.#revision * 10).toISOString().replace(/\.\d+Z$/, 'Z');
  }

  #shuffled<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let index = shuffled.length - 1; index > 0; index--) {
      const other = pick(this.#random, index + 1);
      [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T];
    }
    return shuffled;
  }
}

function line(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: SampleObject): string {
  return JSON.stringify({ type, object });
}
