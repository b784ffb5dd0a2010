/**
 * Ids of records: that of a handler is its own, that of a sub begins with its parent's. The ids that users give have no `/`.
 *
 * ```text
 *   rollout/eu/web      handler "rollout"     parent "rollout/eu"     level 3     below "rollout": "eu", "web"
 * ```
 *
 * To go up from a record, without a list of what is above it:
 *
 * ```text
 *   for (let above = parentIdOf(id); above !== undefined; above = parentIdOf(above)) ...
 * ```
 */

export function subRecordId(parentId: string, subId: string): string {
  return `${parentId}/${subId}`;
}

/** Of the record above; `undefined` for a handler. */
export function parentIdOf(id: string): string | undefined {
  const slash = id.lastIndexOf('/');
  return slash > 0 ? id.slice(0, slash) : undefined;
}

/** Of the handler at the root; of a handler, its own. */
export function handlerIdOf(id: string): string {
  const slash = id.indexOf('/');
  return slash < 0 ? id : id.slice(0, slash);
}

/** What the parent calls a sub. */
export function subIdOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

/** 1 for a handler, 2 for its subs. */
export function levelOf(id: string): number {
  return id.split('/').length;
}

/** The way down to a record from one that is above it: what each parent calls the next. */
export function subIdsBelow(aboveId: string, id: string): readonly string[] {
  return id.slice(aboveId.length + 1).split('/');
}
