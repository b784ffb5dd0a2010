import type { PlanEntry } from './record.ts';
import { subRecordId } from './record-id.ts';

/** A plan that is looked through as fast as something is looked up. */
const SHORT_PLAN = 8;

/**
 * What is found out about a plan once, for as long as there is the plan: it is asked about before and after every call of
 * its subs.
 */
export class PlanTable {
  /** Of the records of its subs, in the order of the plan. */
  readonly ids: readonly string[];
  /** Where a sub was found that was not settled. Of some state and document: where to look, not what is so. */
  unsettled = 0;
  #entries: ReadonlyMap<string, PlanEntry> | undefined;

  constructor(plan: readonly PlanEntry[], parentId: string) {
    this.ids = plan.map(({ id }) => subRecordId(parentId, id));
  }

  entryOf(plan: readonly PlanEntry[], subId: string): PlanEntry | undefined {
    if (plan.length <= SHORT_PLAN) return plan.find(({ id }) => id === subId);
    this.#entries ??= new Map(plan.map((entry) => [entry.id, entry]));
    return this.#entries.get(subId);
  }
}

/** The table of a plan, which is that of one record: the parent's. */
export function planTable(plan: readonly PlanEntry[], parentId: string): PlanTable {
  let table = tables.get(plan);
  if (table === undefined) {
    table = new PlanTable(plan, parentId);
    tables.set(plan, table);
  }
  return table;
}

const tables = new WeakMap<readonly PlanEntry[], PlanTable>();
