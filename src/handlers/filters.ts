import { isPromise } from '../types/is-promise.ts';
import { checkFunction } from './checks.ts';
import { equalData } from './diff.ts';
import {
  ABSENT,
  type ChangeFilterOptions,
  type FilterOptions,
  type LabelFilter,
  PRESENT,
  type ValueFilter,
} from './filter-options.ts';
import { isPlain } from './freeze.ts';
import { checkParts } from './parts.ts';
import { type Path, parsePath, valueAt } from './path.ts';
import { ownData } from './view.ts';

/** Says which filter an object does not pass, `undefined` if it is for the handler; throws what user code throws. */
export type ObjectFilter = (object: unknown) => string | undefined;

interface NamedFilter {
  /** For a person: `when`, `labels "app"`, `value`. */
  readonly name: string;
  readonly passes: (object: unknown) => boolean;
}

/** What a handler has last succeeded on, and whether it has been called for something else since. */
export interface Handled {
  /** `undefined` before the first success; `unknown` where its value is lost, or not to be told since `field` is another. */
  readonly base: { readonly value: unknown } | 'unknown' | undefined;
  readonly isBetween: boolean;
}

/** Says whether a handler is for the change from what it has handled to a view; throws what user code throws. */
export type ChangeFilter = (handled: Handled, now: unknown) => boolean;

type Test = (value: unknown) => boolean;

/** Checks the filters of any kind of handler. `undefined`: all objects. Throws `TypeError`. */
export function objectFilter(action: string, options: FilterOptions<never>): ObjectFilter | undefined {
  const path = pathOf(action, options, ['value']);
  const value = valueTest(action, 'value', options.value);
  return filterOf(action, options, path !== undefined && value !== undefined ? { path, test: value } : undefined);
}

/**
 * The same for handlers of changes and updates, where `value`, `old` and `new` are no limits of scope: who was called for a
 * value is called once more when it is another one.
 */
export function changeFilters(
  action: string,
  options: FilterOptions<never> & ChangeFilterOptions,
): { readonly filter: ObjectFilter | undefined; readonly changes: ChangeFilter | undefined } {
  pathOf(action, options, ['value', 'old', 'new']);
  const value = valueTest(action, 'value', options.value);
  const before = valueTest(action, 'old', options.old);
  const after = valueTest(action, 'new', options.new);
  const filter = filterOf(action, options, undefined);
  if (value === undefined && before === undefined && after === undefined) return { filter, changes: undefined };
  const changes: ChangeFilter = ({ base, isBetween }, now) => {
    // Where nobody knows what has to be undone, one call too many is what does no harm.
    if (base === 'unknown') return after?.(now) ?? true;
    return (
      (before?.(base?.value) ?? true) &&
      (after?.(now) ?? true) &&
      (value === undefined || isBetween || value(now) || (base !== undefined && value(base.value)))
    );
  };
  return { filter, changes };
}

function filterOf(
  action: string,
  { when, labels, annotations }: FilterOptions<never>,
  field: { readonly path: Path; readonly test: Test } | undefined,
): ObjectFilter | undefined {
  checkFunction(action, 'when', when);
  const filters: NamedFilter[] = [];
  // The registry is the border between the caller's type of object and `unknown`: a source yields only the former.
  const ask = when as ((object: unknown) => unknown) | undefined;
  if (ask !== undefined) filters.push({ name: 'when', passes: (object) => isTrue('when', ask(object)) });
  filters.push(...metadataFilters(action, 'labels', labels), ...metadataFilters(action, 'annotations', annotations));
  if (field !== undefined) {
    filters.push({ name: 'value', passes: (object) => field.test(valueAt(object, field.path)) });
  }
  if (filters.length === 0) return undefined;
  return (object) => filters.find(({ passes }) => !passes(object))?.name;
}

function metadataFilters(
  action: string,
  name: 'labels' | 'annotations',
  entries: Readonly<Record<string, LabelFilter>> | undefined,
): NamedFilter[] {
  if (entries === undefined) return [];
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries) || !isPlain(entries)) {
    throw new TypeError(`Cannot ${action}: ${name} is not a plain object`);
  }
  return Object.entries(entries).map(([key, entry]) => {
    const label = `${name} "${key}"`;
    const test = labelTest(`${action}: ${label}`, label, entry);
    const passes = (object: unknown): boolean => {
      const value = valueAt(object, ['metadata', name, key]);
      return test(typeof value === 'string' ? value : undefined);
    };
    return { name: label, passes };
  });
}

function labelTest(action: string, name: string, entry: LabelFilter): (value: string | undefined) => boolean {
  if (typeof entry === 'function') return (value) => isTrue(name, entry(value));
  if (entry === true || entry === PRESENT) return (value) => value !== undefined;
  if (entry === false || entry === ABSENT) return (value) => value === undefined;
  if (typeof entry === 'string') return (value) => value === entry;
  throw new TypeError(`Cannot ${action} is of type ${typeof entry}, not a string, a boolean or a function`);
}

function valueTest(action: string, name: 'value' | 'old' | 'new', filter: ValueFilter | undefined): Test | undefined {
  if (filter === undefined) return undefined;
  if (typeof filter === 'function') return (value) => isTrue(name, filter(value));
  if (filter === PRESENT) return (value) => value !== undefined;
  if (filter === ABSENT) return (value) => value === undefined;
  if (typeof filter === 'symbol') throw new TypeError(`Cannot ${action}: ${name} is a symbol that has no meaning here`);
  const making = `${action}: ${name}`;
  checkParts(making, filter);
  const expected = ownData(making, filter);
  return (value) => equalData(value, expected);
}

/** The field that the filters are about. */
function pathOf(
  action: string,
  options: FilterOptions<never> & ChangeFilterOptions,
  names: readonly ('value' | 'old' | 'new')[],
): Path | undefined {
  if (options.field !== undefined) return parsePath(options.field);
  for (const name of names) {
    if (options[name] !== undefined) throw new TypeError(`Cannot ${action}: ${name} needs a field`);
  }
  return undefined;
}

/** What a filter says. A promise is no answer: taken for one, it would let every object in. */
function isTrue(name: string, answer: unknown): boolean {
  if (isPromise(answer)) {
    throw new TypeError(`Cannot filter objects: ${name} returned a promise, not a boolean`);
  }
  return Boolean(answer);
}
