import { type InferredParents, type NamedParent, namedParent } from './inferred-parents.ts';
import type { Resource } from './resource.ts';
import { type ResourceKey, resourceKeyText } from './resource-key.ts';

/**
 * How children are found: each is under a text for each of its parents, in one table for all of them.
 *
 * ```text
 *   owner with a uid           u-17
 *   owner by its name          @apps/Deployment/shop/web     in the namespace of the child
 *   mark that it claims        #shop/data-web                the same
 * ```
 */
export interface Links {
  readonly parents: readonly string[];
  readonly offers: readonly string[];
}

const NONE: readonly string[] = Object.freeze([]);
const NO_LINKS: Links = Object.freeze({ parents: NONE, offers: NONE });

export function nameLink(key: ResourceKey): string {
  return `@${resourceKeyText(key)}`;
}

/** `group/kind` of the parent, if the text is of one by its name. */
export function linkedKind(text: string): string | undefined {
  if (!text.startsWith('@')) return undefined;
  return text.slice(1, text.indexOf('/', text.indexOf('/') + 1));
}

/** Of a state, and the one before it: of what has not changed nothing is made, and most objects have nothing. */
export function linksOf<T, I>(
  { key, ownerReferences }: Resource<T, I>,
  { inferred, before }: { inferred: InferredParents | undefined; before: Links | undefined },
): Links {
  if (inferred === undefined) {
    if (ownerReferences.length === 0) return NO_LINKS;
    const uid = ownerReferences.length === 1 ? ownerReferences[0]?.uid : undefined;
    if (uid !== undefined) {
      const isSame = before?.parents.length === 1 && before.parents[0] === uid && before.offers.length === 0;
      return isSame ? before : { parents: [uid], offers: NONE };
    }
  }
  const { namespace } = key;
  const byName = (parent: NamedParent): string => nameLink({ ...parent, namespace });
  const parents = new Set<string>(
    ownerReferences.map((owner) => (owner.uid === undefined ? byName(namedParent(owner)) : owner.uid)),
  );
  for (const parent of inferred?.parents ?? []) parents.add(byName(parent));
  for (const claim of inferred?.claims ?? []) parents.add(`#${namespace}/${claim}`);
  const offers = new Set((inferred?.offers ?? []).map((mark) => `#${namespace}/${mark}`));
  return { parents: [...parents], offers: offers.size === 0 ? NONE : [...offers] };
}

export function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let place = 0; place < a.length; place++) if (a[place] !== b[place]) return false;
  return true;
}
