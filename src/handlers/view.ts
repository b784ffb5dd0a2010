import { createEssenceHasherWith, type EssenceHasher } from '../core/essence-hasher.ts';
import { coreModule } from '../core/module.ts';
import { frozenCopy } from '../store/json-data.ts';
import { JsonSyntaxError, ValueError } from '../types/errors.ts';
import { isPromise } from '../types/is-promise.ts';
import { type Review, reviewByHasher } from './essence-review.ts';
import { deepFreeze } from './freeze.ts';
import type { Path } from './path.ts';

/**
 * What a handler sees of one state: the value that it is told, and the digest that says whether it is another one.
 *
 * ```text
 *   object --essence--> default view                        digest of the essence
 *          --field, select, the controller's `view`--> part     plain digest: all of it counts
 *                 view or field + args --> view of a sub        plain digest of both
 * ```
 *
 * Exclusions are for whole objects. In a part of one, `kind` or `status` is what the handler has asked for: to leave it
 * out would be to miss the last state.
 */
export interface View {
  /** Frozen JSON data; `undefined` where there is nothing. */
  readonly value: unknown;
  readonly digest: string;
  /** The digest of the value, where `digest` is something else: for handlers that are called once, whatever they see. */
  readonly content?: string;
}

/** How handlers without `field` and `select` see an object. Throws what `view` or the hasher throws. */
export type DefaultView = (object: unknown) => View;

/** The default view of a controller: what its `view` makes of an object, or the essence of the object. */
export function defaultViewBy(
  view: ((object: unknown) => unknown) | undefined,
  essence: Pick<EssenceHasher, 'digest' | 'canonicalize'> | undefined,
): DefaultView {
  if (view !== undefined) return (object) => viewOfData(view(object));
  const hasher = essence ?? kubernetesHasher();
  return (object) => new EssenceView(hasher, object);
}

/** Names the rules of a controller's essence in records; nothing for the default ones (A14'). */
export function essenceIdOf(essence: EssenceHasher | undefined): string | undefined {
  return essence === undefined || essence.schemaId === kubernetesHasher().schemaId ? undefined : essence.schemaId;
}

/** How a controller's essence looks at views by other rules. The default one is made when there is such a view. */
export function reviewBy(essence: EssenceHasher | undefined): Review {
  return (view, object) => reviewByHasher(essence ?? kubernetesHasher(), view, object);
}

/** Whether the default view of an object has all that may be at a place of it. Of what user code makes, nobody knows. */
export function isWholeAtBy(
  view: ((object: unknown) => unknown) | undefined,
  essence: EssenceHasher | undefined,
): (object: unknown, path: Path) => boolean {
  if (view !== undefined) return () => false;
  // One that somebody has made for an earlier version lacks it.
  const hasher: Partial<EssenceHasher> = essence ?? kubernetesHasher();
  return (object, path) => hasher.isWholeAt?.(object, path) ?? false;
}

/** The view that user code has made of an object. Throws as `ownData` does. */
export function viewOfData(data: unknown): View {
  // Refused like any other instance of a class.
  isPromise(data);
  // The digest first: it has a bound on parts that are shared, and so unfold in a copy.
  const digest = digestOfView(data);
  return { value: ownData('make the view', data), digest };
}

/**
 * A frozen copy of what user code has made for a handler to see (a selection, args): neither changed by its maker later,
 * nor frozen under its maker's hands, who may have returned a constant.
 *
 * Throws `ValueError` for what is not plain JSON data. An instance of a class is not, though it may look so: what counts
 * in it may be private, and every other one then equal to it.
 */
export function ownData(action: string, data: unknown): unknown {
  isPromise(data);
  return data === undefined ? undefined : frozenCopy(data, action);
}

/** The view of a handler that asked for a part of an object, which is frozen. */
export function viewOfPart(part: unknown): View {
  return { value: part, digest: digestOfView(part) };
}

/** What is left of an object without its bookkeeping. The value costs a walk of its own, and few states need it. */
class EssenceView implements View {
  readonly digest: string;
  readonly #hasher: Pick<EssenceHasher, 'digest' | 'canonicalize'>;
  readonly #object: unknown;
  #made: { readonly value: unknown } | undefined;

  constructor(hasher: Pick<EssenceHasher, 'digest' | 'canonicalize'>, object: unknown) {
    this.#hasher = hasher;
    this.#object = object;
    try {
      this.digest = hasher.digest(object);
    } catch (error) {
      if (!(error instanceof JsonSyntaxError) || !ArrayBuffer.isView(object)) throw error;
      const reason = `is bytes, and no JSON text: ${error.reason} at byte ${error.offset}; give the handler a select`;
      throw new ValueError('make the default view', { path: '', reason });
    }
  }

  get value(): unknown {
    this.#made ??= { value: deepFreeze(JSON.parse(this.#hasher.canonicalize(this.#object))) };
    return this.#made.value;
  }
}

/** JSON has no word for "nothing there", so it gets one that no hasher makes. */
const ABSENT = 'absent';

/** The digest of a view with nothing left out. Throws `ValueError` for what is not JSON data. */
export function digestOfView(view: unknown): string {
  if (view === undefined) return ABSENT;
  // A hasher takes bytes for a JSON text; a handler would be told the bytes, which cannot be frozen or written down.
  if (ArrayBuffer.isView(view))
    throw new ValueError('digest the view', { path: '', reason: 'is bytes, not JSON data' });
  return plainHasher().digest(view);
}

/** Whether a digest, of whatever `version`, is that of a view with nothing in it. */
export function isDigestOfNothing(digest: string): boolean {
  return digest === ABSENT || digest.startsWith(`${ABSENT}@`);
}

/** The digest of a sub-handler: of what it sees and of its arguments. Never equal to that of a plain view. */
export function digestOfSub(view: unknown, args: unknown): string {
  const seen: { view?: unknown; args?: unknown } = {};
  if (view !== undefined) seen.view = view;
  if (args !== undefined) seen.args = args;
  return `sub:${plainHasher().digest(seen)}`;
}

/**
 * One of each for all controllers: a hasher costs an instance of the core and remembers nothing, but keeps scratch memory
 * as large as the largest text it has seen.
 */
let plain: EssenceHasher | undefined;
let kubernetes: EssenceHasher | undefined;

function plainHasher(): EssenceHasher {
  plain ??= createEssenceHasherWith(coreModule(), { defaults: false });
  return plain;
}

function kubernetesHasher(): EssenceHasher {
  kubernetes ??= createEssenceHasherWith(coreModule());
  return kubernetes;
}
