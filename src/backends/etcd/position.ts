import type { BackendPosition, BackendTxnOperation } from '../../types/backend.ts';
import type { CallOptions, EtcdClient } from './client.ts';
import { EtcdRefusal } from './errors.ts';
import { wireSelection, wireTxn } from './txn.ts';

/** The smallest key there is: what is asked about when only the header is wanted. */
const ANY_KEY = Uint8Array.of(0);

/**
 * A transaction that does nothing, within another. It makes that one linearizable: one without any operations, compares or not,
 * a member answers from what it has.
 */
export const NOTHING: BackendTxnOperation = { type: 'txn', compare: [], then: [], else: [] };

/**
 * Where the cluster is, by what it agrees upon: the status of a member is only its own (B2).
 *
 * ```text
 *   a read of the smallest key          costs least
 *     denied -> NOTHING                 needs no permission, but goes through the log as a write does
 *     later  -> a read of a key that was read: the role may read that one
 * ```
 */
export class Position {
  readonly #client: EtcdClient;
  #readable: Uint8Array | undefined = ANY_KEY;

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  /** Throws what `EtcdClient.call` throws. */
  async ask(call: CallOptions): Promise<BackendPosition> {
    const start = this.#readable;
    if (start !== undefined) {
      try {
        const body = wireSelection({ start }, 0, { countOnly: true });
        return await this.#client.call('kv/range', body, call, (_, position) => position);
      } catch (error) {
        if (!(error instanceof EtcdRefusal && error.is('denied'))) throw error;
        this.#readable = undefined;
      }
    }
    const body = wireTxn({ compare: [], then: [NOTHING], else: [] });
    return this.#client.call('kv/txn', body, call, (_, position) => position);
  }

  /** A key that was read just now. */
  mayRead(key: Uint8Array): void {
    if (key.length > 0) this.#readable ??= key;
  }
}
