import type { HandlerMetrics, HandlerStats } from './handler-metrics.ts';
import type { ObjectState } from './object-memory.ts';

/** The figures of all handlers, with what is behind at this moment: looked up object by object, so that calls need not. */
export function handlerStats(
  metrics: ReadonlyMap<string, HandlerMetrics>,
  states: Iterable<ObjectState>,
  nowMs: number,
): Readonly<Record<string, HandlerStats>> {
  const behind = new Map<string, { objects: number; sinceMs: number }>();
  for (const { memory } of states) {
    for (const [id, sinceMs] of memory?.lag.entries() ?? []) {
      const sum = behind.get(id) ?? { objects: 0, sinceMs };
      behind.set(id, { objects: sum.objects + 1, sinceMs: Math.min(sum.sinceMs, sinceMs) });
    }
  }
  const entries = [...metrics].map(([id, figures]) => {
    const { objects, sinceMs } = behind.get(id) ?? { objects: 0, sinceMs: nowMs };
    return [id, figures.stats(objects, nowMs - sinceMs)] as const;
  });
  return Object.fromEntries(entries);
}
