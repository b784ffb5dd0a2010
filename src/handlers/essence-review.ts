import type { EssenceHasher } from '../core/essence-hasher.ts';
import { kindOf } from '../core/essence-kinds.ts';

/**
 * What the present rules make of a view that other rules have made, of an object that is `object` now; `undefined` where
 * that cannot be told.
 */
export type Review = (view: unknown, object: unknown) => { readonly value: unknown } | undefined;

/**
 * Looks at views of before through the rules of now (A14'). Where what was told then looks like what is told now, nothing
 * has changed that the handler knew of and that still counts.
 *
 * Not told: with `alsoCompare`, which would need the whole object as it was.
 */
export function reviewByHasher(hasher: EssenceHasher, view: unknown, object: unknown): ReturnType<Review> {
  if (hasher.alsoCompares) return undefined;
  // Rules go by the kind, which is most often not in the view, and stays the same while the object lives.
  const added = Object.entries(kindOf(object) ?? {}).filter(([name]) => isRecord(view) && !Object.hasOwn(view, name));
  try {
    const like = added.length === 0 || !isRecord(view) ? view : { ...view, ...Object.fromEntries(added) };
    const value: unknown = JSON.parse(hasher.canonicalize(like));
    if (isRecord(value)) for (const [name] of added) Reflect.deleteProperty(value, name);
    return { value };
  } catch {
    // A `normalise` that is made for whole objects may not take the rest of one. Then the handler is called.
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
