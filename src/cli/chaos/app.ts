import type { Random } from '../../types/random.ts';
import { pick, pickFrom } from '../demo/pick.ts';

/** What the objects of the chaos demo are. */
export interface App {
  readonly spec: { readonly image: string; readonly zones: readonly string[] };
  /** Written by the handler. */
  readonly status?: { readonly deployed: string };
}

/** Few, so that a state often comes back. */
const IMAGES: readonly string[] = ['web:1', 'web:2', 'web:3', 'web:4'];
const ZONES: readonly string[] = ['asia', 'eu', 'us'];

export function randomImage(random: Random): string {
  return pickFrom(random, IMAGES);
}

/** Some of the zones, at least one. */
export function randomZones(random: Random): readonly string[] {
  const zones = ZONES.filter(() => random() < 0.6);
  return zones.length > 0 ? zones : ZONES.slice(pick(random, ZONES.length)).slice(0, 1);
}
