import type { Path } from './path.ts';
import type { HandlerRecord } from './record.ts';

/** What a view is made of, as a schema tells it. */
export interface ViewSchema {
  readonly place: Path | 'select' | 'default';
  readonly version: string | undefined;
  /** The rules of the essence, for a default view that is not by the default ones. */
  readonly essence: string | undefined;
}

/**
 * How a handler's view is defined, as far as it can be told: a user function is as good as its `version`. `undefined` for
 * the default view by the default essence, or by a `view`.
 *
 * ```text
 *   ["default",null,"xxh3-128:..."]     ["default","v2"]     ["select","v2"]     [["spec","replicas"]]
 * ```
 */
export function schemaOf(
  path: Path | undefined,
  hasSelect: boolean,
  version: string | undefined,
  essence?: string,
): string | undefined {
  const place = path ?? (hasSelect ? 'select' : 'default');
  const rules = place === 'default' ? essence : undefined;
  if (place === 'default' && version === undefined && rules === undefined) return undefined;
  if (rules !== undefined) return JSON.stringify([place, version ?? null, rules]);
  return JSON.stringify(version === undefined ? [place] : [place, version]);
}

/** By which schema the base of a record is made. */
export function doneSchemaOf({ schema, doneSchema }: Pick<HandlerRecord, 'schema' | 'doneSchema'>): string | undefined {
  return doneSchema === DEFAULT ? undefined : (doneSchema ?? schema);
}

/** A schema where there has to be one. */
export function schemaText(schema: string | undefined): string {
  return schema ?? DEFAULT;
}

const DEFAULT = '["default"]';

/** The schema that is written so. */
export function readSchema(schema: string | undefined): ViewSchema {
  // Written by `schemaOf`, or by nobody.
  const [place, version, essence] = JSON.parse(schemaText(schema)) as [ViewSchema['place'], (string | null)?, string?];
  return { place, version: version ?? undefined, essence };
}
