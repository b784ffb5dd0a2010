import type { ObjectList } from '../../storage/types.ts';
import type { ServedKind } from './kinds.ts';
import { type Answer, negotiate } from './negotiation.ts';
import { type ApiObject, shownObject } from './stored-object.ts';

const FORMS = ['PartialObjectMetadata.meta.k8s.io/v1', 'PartialObjectMetadataList.meta.k8s.io/v1'];
const PARTIAL = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

/** Objects as the client wants them: whole, or their metadata alone. */
export class Presentation {
  readonly #kind: ServedKind;
  readonly #answer: Answer;

  /** Throws `RequestRefused` (406). */
  constructor(kind: ServedKind, accept: string | null) {
    this.#kind = kind;
    this.#answer = negotiate(accept, FORMS);
  }

  get #isPartial(): boolean {
    return this.#answer.as !== '';
  }

  object(object: ApiObject): object {
    return this.#isPartial ? { ...PARTIAL, metadata: object.metadata ?? {} } : shownObject(this.#kind, object);
  }

  /** Items of a built-in kind do not say what they are, as in Kubernetes: their list does. */
  list({ metadata, items }: ObjectList<ApiObject>): object {
    const { custom, listKind, apiVersion } = this.#kind;
    if (this.#isPartial) {
      const partial = items.map((item) => this.object(item));
      return { kind: `${PARTIAL.kind}List`, apiVersion: PARTIAL.apiVersion, metadata, items: partial };
    }
    return { kind: listKind, apiVersion, metadata, items: items.map((item) => shownObject(this.#kind, item, custom)) };
  }
}
