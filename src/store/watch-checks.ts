import { checkInteger } from '../types/check-integer.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { WatchOptions } from '../types/watch.ts';
import { checkChoice, checkFlag, checkOptions, NO_OPTIONS } from './checks.ts';

const ACTION = 'watch';

const NAMES: ReadonlySet<string> = new Set<keyof WatchOptions>([
  'signal',
  'fromRevision',
  'identity',
  'initial',
  'prevKv',
  'filter',
  'onSlow',
  'lagEventsMax',
  'progressMs',
]);

const SLOW_POLICIES = ['lag', 'coalesce', 'close'] as const;
const FILTERS = ['noput', 'nodelete'] as const;

/**
 * The options as the watch keeps them, each read once: one that changed under a watcher would change what it still has to
 * deliver. Throws TypeError and RangeError that name the option, also for options that contradict each other.
 */
export function prepareWatchOptions(range: ResolvedRange, options: WatchOptions): WatchOptions {
  const signal = checkOptions(options, NAMES, ACTION);
  if (range.empty) throw new RangeError(`Cannot ${ACTION}: the range is empty, start is not below end`);
  if (options === NO_OPTIONS) return NO_OPTIONS;
  const { fromRevision, identity, initial, prevKv, filter, onSlow, lagEventsMax, progressMs } = options;
  checkFrom('fromRevision', fromRevision, 0);
  checkFlag('prevKv', prevKv, ACTION);
  if (checkFlag('initial', initial, ACTION) && fromRevision !== undefined) {
    throw new TypeError(`Cannot ${ACTION}: initial and fromRevision exclude each other`);
  }
  if (identity !== undefined && typeof identity !== 'string') {
    throw new TypeError(`Cannot ${ACTION}: identity is of type ${typeof identity}, allowed is a string`);
  }
  if (identity !== undefined && fromRevision === undefined) {
    throw new TypeError(`Cannot ${ACTION}: identity belongs to a fromRevision`);
  }
  checkFrom('lagEventsMax', lagEventsMax, 1);
  checkFrom('progressMs', progressMs, 100);
  if (onSlow !== undefined) checkChoice('onSlow', onSlow, ACTION, SLOW_POLICIES);
  if (filter !== undefined) checkChoice('filter', filter, ACTION, FILTERS);
  const own: WatchOptions = {
    ...(signal === undefined ? undefined : { signal }),
    ...(fromRevision === undefined ? undefined : { fromRevision }),
    ...(identity === undefined ? undefined : { identity }),
    ...(initial === undefined ? undefined : { initial }),
    ...(prevKv === undefined ? undefined : { prevKv }),
    ...(filter === undefined ? undefined : { filter }),
    ...(onSlow === undefined ? undefined : { onSlow }),
    ...(lagEventsMax === undefined ? undefined : { lagEventsMax }),
    ...(progressMs === undefined ? undefined : { progressMs }),
  };
  return Object.keys(own).length === 0 ? NO_OPTIONS : own;
}

function checkFrom(name: string, value: number | undefined, min: number): void {
  if (value !== undefined) checkInteger(name, value, ACTION, min);
}
