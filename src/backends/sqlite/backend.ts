import { KeySpace } from '../../store/keyspace.ts';
import { DEFAULT_LIMITS } from '../../store/limits.ts';
import { prepareTxn } from '../../store/prepare-txn.ts';
import { PlainValues } from '../../store/values.ts';
import type {
  Backend,
  BackendCallOptions,
  BackendKeyValue,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  BackendWatchRequest,
  BackendWatchStream,
} from '../../types/backend.ts';
import { checkInteger } from '../../types/check-integer.ts';
import type { Clock } from '../../types/clock.ts';
import { CompactedError, FutureRevisionError } from '../../types/errors.ts';
import type { Random } from '../../types/random.ts';
import type { Revision } from '../../types/revision.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';
import { raceAborted } from '../../types/until-aborted.ts';
import { checkRangeRequest, checkTxnRequest } from '../check-request.ts';
import { txnOf } from '../txn-terms.ts';
import { Changes } from './changes.ts';
import { SqliteFile } from './file.ts';
import { SqliteLeases } from './leases.ts';
import { prepareSchema } from './schema.ts';
import { SqliteStream } from './stream.ts';
import { checkReadable, SqliteTxn, withoutValue } from './txn.ts';

export interface SqliteBackendParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly busyTimeoutMs: number;
  readonly pollMs: number;
}

/** Events that one step of a compaction looks at. */
const CLEAN_EVENTS = 500;
/** Between two steps, so that others get their turn. */
const CLEAN_PAUSE_MS = 2;
/** Until background work that failed is tried again. */
const RETRY_MS = 1000;

/**
 * A file of SQLite as a `Backend`: B1-B12. One transaction of it is one revision, and each is a commit of SQLite or shares one
 * with others that came at the same time.
 */
export class SqliteBackend implements Backend {
  readonly capabilities = { progress: true, writable: true, leases: true } as const;
  readonly leases: SqliteLeases;
  readonly #file: SqliteFile;
  readonly #changes: Changes;
  readonly #clock: Clock;
  readonly #types = {
    keys: new KeySpace<Uint8Array>('bytes'),
    values: new PlainValues<Uint8Array>(DEFAULT_LIMITS.valueBytes),
  };
  #cancelExpiry: (() => void) | undefined;
  #cancelCleaning: (() => void) | undefined;
  #isClosed = false;

  constructor(driver: SqliteDriver, { clock, random, busyTimeoutMs, pollMs }: SqliteBackendParts) {
    this.#clock = clock;
    this.#file = new SqliteFile(driver, {
      clock,
      random,
      busyTimeoutMs,
      onCommit: (expiryMs) => {
        this.#changes.notify();
        this.#expireAt(expiryMs);
      },
    });
    this.#changes = new Changes(clock, driver.isShared ? pollMs : 0, () => this.#file.hasNews());
    this.leases = new SqliteLeases(this.#file, { clock, random, leasesMax: DEFAULT_LIMITS.leases });
  }

  /** Makes the tables if there are none, and goes on with what an earlier process left. */
  async open(identity: string): Promise<void> {
    const action = 'open an SQLite backend';
    await this.#file.prepare(action, () => prepareSchema(this.#file.driver, identity));
    const { cleaned, compacted, expiryMs } = await this.#file.read(action, undefined, (state) => ({
      ...state,
      expiryMs: this.#file.expiryMs(),
    }));
    this.#expireAt(expiryMs);
    if (cleaned < compacted) this.#cleanIn(CLEAN_PAUSE_MS);
  }

  async range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    const { ranges, revision = 0, minModRevision = 0, limit = 0, keysOnly, countOnly, signal } = request;
    const action = 'read from an SQLite backend';
    checkRangeRequest(request, action);
    const asked = Math.max(0, revision);
    return this.#until(
      signal,
      this.#file.read(action, signal, (state) => {
        checkReadable(asked, state, action);
        const { tables } = this.#file;
        let count = 0;
        const kvs: BackendKeyValue[] = [];
        for (const range of ranges) {
          const rowsMax = limit > 0 ? limit - kvs.length : -1;
          // Others are counted only: whoever reads page by page would pay for all the rows each time.
          const rows =
            countOnly === true || rowsMax === 0 ? [] : tables.rows(range, asked, { minModRevision, rowsMax });
          const isAll = countOnly !== true && minModRevision <= 0 && (limit === 0 || rows.length < rowsMax);
          count += isAll ? rows.length : tables.count(range, asked);
          for (const row of rows) kvs.push(row);
        }
        return {
          identity: state.identity,
          revision: asked > 0 ? asked : state.revision,
          count,
          kvs: keysOnly === true ? kvs.map(withoutValue) : kvs,
        };
      }),
    );
  }

  async status({ signal }: BackendCallOptions): Promise<BackendPosition> {
    const reading = this.#file.read('read the revision of an SQLite backend', signal, ({ identity, revision }) => ({
      identity,
      revision,
    }));
    return this.#until(signal, reading);
  }

  watch(request: BackendWatchRequest): BackendWatchStream {
    return new SqliteStream(this.#file, this.#changes, request);
  }

  async txn(asked: BackendTxnRequest): Promise<BackendTxnResponse> {
    checkTxnRequest(asked, 'run a transaction');
    const { signal, ...request } = asked;
    signal?.throwIfAborted();
    const prepared = prepareTxn(this.#types, txnOf(request), DEFAULT_LIMITS.txnOperations);
    const writing = this.#file.write('run a transaction', signal, (state) => {
      const keyBytes = (text: string) => this.#types.keys.bytes(text);
      return { identity: state.identity, ...new SqliteTxn(this.#file.tables, state, keyBytes).run(prepared) };
    });
    return this.#until(signal, writing);
  }

  async compact({ revision, signal }: { readonly revision: Revision } & BackendCallOptions): Promise<void> {
    const action = 'compact an SQLite backend';
    checkInteger('the revision', revision, action, 0);
    const compacting = this.#file.write(action, signal, ({ compacted, revision: newest }) => {
      if (revision > newest) throw new FutureRevisionError(action, { revision, currentRevision: newest });
      if (revision <= compacted) {
        throw new CompactedError(action, { minRevision: compacted + 1, compactRevision: compacted });
      }
      this.#file.tables.setCompacted(revision);
    });
    await this.#until(signal, compacting);
    this.#cleanIn(CLEAN_PAUSE_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelExpiry?.();
    this.#cancelCleaning?.();
    this.#file.close();
    this.#changes.close();
  }

  /** A call that was aborted is not waited for. */
  #until<T>(signal: AbortSignal | undefined, call: Promise<T>): Promise<T> {
    return signal === undefined ? call : raceAborted(call, [signal]);
  }

  /** Expires what is due when it is, for those who watch. Everybody else does so when they come. */
  #expireAt(expiryMs: number | undefined): void {
    this.#cancelExpiry?.();
    this.#cancelExpiry = undefined;
    if (expiryMs === undefined || this.#isClosed) return;
    const delayMs = Math.max(1, Math.ceil(expiryMs - this.#clock.wallTime()));
    this.#cancelExpiry = this.#clock.after(delayMs, () => {
      // A write expires what is due, and arms the timer again.
      this.#file
        .write('expire leases', undefined, () => undefined)
        .catch(() => {
          this.#expireAt(this.#clock.wallTime() + RETRY_MS);
        });
    });
  }

  #cleanIn(delayMs: number): void {
    if (this.#isClosed || this.#cancelCleaning !== undefined) return;
    this.#cancelCleaning = this.#clock.after(delayMs, () => {
      this.#cancelCleaning = undefined;
      this.#cleanStep().then(
        (isDone) => {
          if (!isDone) this.#cleanIn(CLEAN_PAUSE_MS);
        },
        () => this.#cleanIn(RETRY_MS),
      );
    });
  }

  /** Returns whether nothing is left to take. */
  #cleanStep(): Promise<boolean> {
    return this.#file.write('compact an SQLite backend', undefined, ({ cleaned, compacted }) => {
      if (cleaned >= compacted) return true;
      const { tables } = this.#file;
      const to = Math.min(tables.revisionBehind(cleaned, CLEAN_EVENTS) ?? compacted, compacted);
      tables.clean(cleaned, to, compacted);
      // The next compaction begins at this one's revision again: a delete there is still to go.
      tables.setCleaned(to === compacted ? compacted : to + 1);
      return to === compacted;
    });
  }
}
