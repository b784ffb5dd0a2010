import type { MemoryObjectSource } from '../../testing/object-source.ts';
import type { Random } from '../../types/random.ts';
import type { SourceObject } from '../../types/source.ts';
import { pickFrom } from '../demo/pick.ts';
import { type App, randomImage, randomZones } from './app.ts';

/** Of each edit: a deletion, another set of zones; the others set another image. */
const DELETION_RATE = 0.06;
const ZONES_RATE = 0.15;
/** Of each edit, besides: all watches end; the history is forgotten, so that a watch cannot go on where it was. */
const CUT_RATE = 0.01;
const COMPACT_RATE = 0.005;

/** Whoever edits the objects, by chance and without a look at what the controller does. */
export class Edits {
  /** Uids that were deleted while they were held: the controller has to see to them. */
  readonly deleted: Set<string> = new Set();
  /** Lives of objects that were begun. */
  created = 0;
  readonly #source: MemoryObjectSource<App>;
  readonly #random: Random;
  readonly #names: readonly string[];

  constructor(source: MemoryObjectSource<App>, random: Random, objects: number) {
    this.#source = source;
    this.#random = random;
    this.#names = Array.from({ length: objects }, (_, place) => `apps/web-${place}`);
  }

  make(): void {
    const name = pickFrom(this.#random, this.#names);
    const current = this.#source.objects.find((object) => object.name === name);
    if (current === undefined) this.#create(name);
    else this.#edit(current);
    if (this.#random() < CUT_RATE) this.#source.breakWatches();
    if (this.#random() < COMPACT_RATE) this.#source.compact();
  }

  #create(name: string): void {
    this.created++;
    this.#source.put(name, { spec: { image: randomImage(this.#random), zones: randomZones(this.#random) } });
  }

  #edit({ name, uid, deleting, finalizers = [], object }: SourceObject<App>): void {
    const chance = this.#random();
    if (chance < DELETION_RATE && !deleting) {
      // Without finalizers an object that is deleted is gone.
      if (finalizers.length === 0) {
        this.#source.delete(name);
        return;
      }
      this.deleted.add(uid);
      this.#source.startDeletion(name);
      return;
    }
    const { spec } = object;
    const isZones = chance < DELETION_RATE + ZONES_RATE;
    const change = isZones ? { zones: randomZones(this.#random) } : { image: randomImage(this.#random) };
    this.#source.put(name, { ...object, spec: { ...spec, ...change } });
  }
}
