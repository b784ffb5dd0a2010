import type { Backend } from '../types/backend.ts';
import type { Codec } from '../types/codec.ts';
import { FutureRevisionError, IdentityChangedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import type { Rows, RowsRequest } from './collect.ts';

/** Rows of the backend behind a replica, for what the replica's own window does not have (K27). */
export class BackendRows<O> {
  readonly #backend: Backend;
  readonly #codec: Codec<O>;

  constructor(backend: Backend, codec: Codec<O>) {
    this.#backend = backend;
    this.#codec = codec;
  }

  /**
   * `revision` 0 is the newest; the answer says which it was. `identity` is that of the data that the caller means, '' for any.
   *
   * Throws what the backend and the codec throw, `IdentityChangedError` for other data.
   */
  async rows(
    { start, end, revision, limit }: RowsRequest,
    identity: string,
    signal: AbortSignal | undefined,
  ): Promise<Rows<O> & { readonly revision: Revision; readonly identity: string }> {
    const answer = await this.#backend.range({
      ranges: [{ start: bytesOf(start), end: bytesOf(end) }],
      ...(revision === 0 ? {} : { revision }),
      ...(limit === 0 ? {} : { limit }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (identity !== '' && answer.identity !== '' && answer.identity !== identity) {
      throw new IdentityChangedError('list objects', 0);
    }
    if (revision > 0 && answer.revision < revision) {
      throw new FutureRevisionError('list objects', { revision, currentRevision: answer.revision });
    }
    const kvs = answer.kvs.map(({ key, value, modRevision }) => ({
      key: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(key),
      value: this.#codec.decode(value),
      modRevision,
    }));
    return { kvs, count: answer.count, revision: answer.revision, identity: answer.identity };
  }
}

function bytesOf(key: string): Uint8Array {
  return new TextEncoder().encode(key);
}
