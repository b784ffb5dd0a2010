import type { DocumentVersion } from './document-version.ts';
import { valueAt } from './path.ts';
import type { HandlerRecord } from './record.ts';
import type { Handler } from './registry.ts';
import { doneSchemaOf, readSchema } from './schema.ts';
import type { Snapshot } from './snapshot.ts';

/** What a handler saw at its last success, by its present definition. */
export interface SeenBase {
  readonly value: unknown;
  /** Nothing can be missing in it. What other rules of the essence left out cannot be told from what was not there. */
  readonly isWhole: boolean;
}

/**
 * The base of a handler in the form in which it looks at objects now; `undefined` if there is none, if it is lost (A6'), or
 * if the view was defined otherwise and the base does not tell this one (A14').
 *
 * ```text
 *   at its last success    now: default         field a.b                        select
 *   default                it, by one essence   a.b of it, if no rule of one     unknown
 *                                               essence is about that
 *   field a                unknown              b of it                          unknown
 *   field a.b              unknown              it                               unknown
 *   field c                unknown              unknown                          unknown
 *   select                 unknown              unknown                          it
 * ```
 *
 * By another essence, a default view is what the present one makes of it: good to compare with (A14'), but not whole. A
 * `version` says that the handler means something else; how its view is made is the same for all that is known.
 */
export function seenBaseOf(
  doc: DocumentVersion | undefined,
  record: HandlerRecord | undefined,
  handler: Handler,
  snapshot: Snapshot,
): SeenBase | undefined {
  const known = doc?.baseOf(record);
  if (known === undefined || record === undefined) return undefined;
  const schema = doneSchemaOf(record);
  return schema === handler.schema ? whole(known.view) : translated(known.view, schema, handler, snapshot);
}

function translated(
  view: unknown,
  schema: string | undefined,
  { path, select, schema: present }: Handler,
  snapshot: Snapshot,
): SeenBase | undefined {
  const before = readSchema(schema);
  if (select !== undefined) return before.place === 'select' ? whole(view) : undefined;
  if (path === undefined) {
    if (before.place !== 'default') return undefined;
    if (before.essence === readSchema(present).essence) return whole(view);
    const reviewed = snapshot.review(view);
    return reviewed && { value: reviewed.value, isWhole: false };
  }
  if (before.place === 'select') return undefined;
  if (before.place === 'default') {
    const part = snapshot.partOf(view, before.essence, path);
    return part && whole(part.value);
  }
  const outer = before.place;
  if (outer.length > path.length || outer.some((key, index) => key !== path[index])) return undefined;
  return whole(valueAt(view, path.slice(outer.length)));
}

function whole(value: unknown): SeenBase {
  return { value, isWhole: true };
}
