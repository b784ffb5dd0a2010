/** Keys, each once, with the value they get; `undefined` takes a key out. */
export type Changes<V> = readonly (readonly [key: string, value: V | undefined])[];

/** A map of which every version stays as it is: a change makes another one. */
export interface VersionedMap<V> {
  readonly size: number;
  get(key: string): V | undefined;
  /** All entries, copied, in no order that is promised. */
  entries(): readonly (readonly [string, V])[];
  with(changes: Changes<V>): VersionedMap<V>;
  /** `with` a single change. */
  set(key: string, value: V | undefined): VersionedMap<V>;
}
