import type { Path } from './path.ts';

/**
 * How a handler's view is defined, as far as it can be told: a user function is as good as its `version`. `undefined` for
 * the default view.
 */
export function schemaOf(path: Path | undefined, hasSelect: boolean, version: string | undefined): string | undefined {
  if (path === undefined && !hasSelect && version === undefined) return undefined;
  return JSON.stringify([path ?? (hasSelect ? 'select' : 'default'), ...(version === undefined ? [] : [version])]);
}

/** The field of a schema that is nothing but one. */
export function fieldOf(schema: string): Path | undefined {
  const [path, version]: unknown[] = JSON.parse(schema);
  return Array.isArray(path) && version === undefined ? path : undefined;
}
