/** As a filter: there is such a label, annotation or field, with whatever value. */
export const PRESENT: unique symbol = Symbol.for('plimsoll.dev/present');

/** As a filter: there is no such label, annotation or field. */
export const ABSENT: unique symbol = Symbol.for('plimsoll.dev/absent');

/**
 * What a label or annotation has to be: equal to a string; there (`true`, {@link PRESENT}); not there (`false`,
 * {@link ABSENT}); or what a function says, which gets `undefined` where there is none. Pure, and not async.
 */
export type LabelFilter = string | boolean | typeof PRESENT | typeof ABSENT | ((value: string | undefined) => boolean);

/**
 * What a field has to be: equal to JSON data; there ({@link PRESENT}); not there ({@link ABSENT}); or what a function says,
 * which gets `undefined` where there is nothing. Pure, and not async. `true` and `false` are data here.
 */
export type ValueFilter =
  | string
  | number
  | boolean
  | null
  | readonly unknown[]
  | { readonly [name: string]: unknown }
  | typeof PRESENT
  | typeof ABSENT
  | ((value: unknown) => boolean);

/** Which objects a handler is for; all of the filters together (A20'). */
export interface FilterOptions<T = unknown> {
  /** The handler is for these objects only. Pure, and not async: a promise is a fault. @default all */
  readonly when?: (object: T) => boolean;
  /**
   * By `metadata.labels` of the object: every entry has to hold. An object without such a place has none; a value that is
   * no string counts as none. @default all
   */
  readonly labels?: Readonly<Record<string, LabelFilter>>;
  /** By `metadata.annotations`, like `labels`. @default all */
  readonly annotations?: Readonly<Record<string, LabelFilter>>;
  /** `'spec.replicas'`, or a JSON pointer where keys have dots: what `value` is about. */
  readonly field?: string;
  /** What `field` has to be. @default anything */
  readonly value?: ValueFilter;
}

/** Filters about what changes, for handlers of changes and updates. */
export interface ChangeFilterOptions {
  /**
   * What `field` has to have been at the last success of this handler; there was nothing before the first. Where it is not
   * known, the handler is called (A20'). @default anything
   */
  readonly old?: ValueFilter;
  /** What `field` has to be now. @default anything */
  readonly new?: ValueFilter;
}

export const FILTER_NAMES: readonly (keyof FilterOptions)[] = ['when', 'labels', 'annotations', 'field', 'value'];
