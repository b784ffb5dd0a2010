import type { TxnStep } from './program.ts';
import { type At, BOUNDS, type CompareStep, type OperationStep, type Place, type Selection } from './program.ts';
import type { CompareCall, OperationCall, TxnCall } from './subject.ts';

/** Places of steps as revisions, seen from `now`, the newest one. */
export function resolveAt(at: At, now: number): number | undefined {
  if (at === undefined) return undefined;
  return 'raw' in at ? at.raw : resolvePlace(at, now);
}

export function resolvePlace({ back }: Place, now: number): number {
  return Math.max(1, now - back);
}

export function resolveSelection(selection: Selection<Place>, now: number): Selection<number> {
  const bounds: { [name in (typeof BOUNDS)[number]]?: number } = {};
  for (const name of BOUNDS) {
    const place = selection.bounds[name];
    if (place !== undefined) bounds[name] = resolvePlace(place, now);
  }
  const { limit, keysOnly, countOnly, sortTarget, sortOrder } = selection;
  return { limit, keysOnly, countOnly, sortTarget, sortOrder, bounds };
}

export function resolveTxn(step: TxnStep, now: number): TxnCall {
  return {
    compare: step.compare.map((one) => resolveCompare(one, now)),
    then: step.then.map((one) => resolveOperation(one, now)),
    else: step.else.map((one) => resolveOperation(one, now)),
  };
}

function resolveCompare(step: CompareStep, now: number): CompareCall {
  if (!('at' in step)) return step;
  const { range, target, result, at } = step;
  return { range, target, result, value: at === 'absent' ? 0 : resolvePlace(at, now) };
}

function resolveOperation(step: OperationStep, now: number): OperationCall {
  switch (step.type) {
    case 'put':
    case 'delete':
      return step;
    case 'range': {
      const { type, range, at } = step;
      return { type, range, revision: resolveAt(at, now), ...resolveSelection(step, now) };
    }
    case 'txn':
      return { type: 'txn', ...resolveTxn(step, now) };
  }
}
