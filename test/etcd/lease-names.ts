import type { LeaseName } from './program.ts';

/** An id that no program grants. */
export const UNKNOWN_LEASE: LeaseName = '999999';

/** A lease whose id the store is to make. */
export function isGenerated(name: LeaseName): boolean {
  return name.startsWith('g');
}

/** The names of a program and the ids of one store. Ids that the program gives are their own names. */
export class LeaseNames {
  readonly #ids = new Map<LeaseName, string>();
  readonly #names = new Map<string, LeaseName>();

  made(name: LeaseName, id: string): void {
    this.#ids.set(name, id);
    this.#names.set(id, name);
  }

  /** The id of one that was not granted is unknown to the store too. */
  id(name: LeaseName): string {
    return isGenerated(name) ? (this.#ids.get(name) ?? UNKNOWN_LEASE) : name;
  }

  name(id: string): LeaseName {
    return this.#names.get(id) ?? id;
  }
}
