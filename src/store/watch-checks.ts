import { checkInteger } from '../types/check-integer.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { WatchOptions } from '../types/watch.ts';
import { checkFlag, checkOptions } from './checks.ts';

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

/** Throws TypeError and RangeError that name the option, also for options that contradict each other. */
export function checkWatchOptions(range: ResolvedRange, options: WatchOptions): void {
  checkOptions(options, NAMES, ACTION);
  if (range.empty) throw new RangeError(`Cannot ${ACTION}: the range is empty, start is not below end`);
  const { fromRevision, identity, initial, prevKv, filter, onSlow = 'lag' } = options;
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
  checkFrom('lagEventsMax', options.lagEventsMax, 1);
  checkFrom('progressMs', options.progressMs, 100);
  if (!['lag', 'coalesce', 'close'].includes(onSlow)) {
    throw new TypeError(`Cannot ${ACTION}: onSlow is ${String(onSlow)}, allowed are lag, coalesce and close`);
  }
  if (!['noput', 'nodelete', undefined].includes(filter)) {
    throw new TypeError(`Cannot ${ACTION}: filter is ${String(filter)}, allowed are noput and nodelete`);
  }
}

function checkFrom(name: string, value: number | undefined, min: number): void {
  if (value !== undefined) checkInteger(name, value, ACTION, min);
}
