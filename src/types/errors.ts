import { keyName, keyNames, rangeName } from './key-name.ts';
import type { Key, KeyRange, Revision } from './revision.ts';

/**
 * Every error Plimsoll throws, with a literal `code` and the facts as fields; nobody has to parse a message.
 *
 * | code | class | spec word | retry? |
 * |---|---|---|---|
 * | `COMPACTED` | CompactedError | COMPACTED (store:R13, R22, R28) | after a new list |
 * | `FUTURE_REVISION` | FutureRevisionError | FUTURE_REV (store:R13, R22) | no |
 * | `CONFLICT` | ConflictError | failed `expect` | after a new read |
 * | `INVALID_KEY` | InvalidKeyError | EMPTY_KEY, D6 | no |
 * | `DUPLICATE_KEY` | DuplicateKeyError | DUPLICATE_KEY (store:R20) | no |
 * | `LIMIT_EXCEEDED` | LimitExceededError | TOO_MANY_OPS, request too large (store:R21) | no |
 * | `KEY_NOT_FOUND` | KeyNotFoundError | KEY_NOT_FOUND (store:R15) | no |
 * | `LEASE_NOT_FOUND` | LeaseNotFoundError | LEASE_NOT_FOUND (store:R16, R40) | no |
 * | `LEASE_EXISTS` | LeaseExistsError | LEASE_EXISTS (store:R39) | with another id |
 * | `LEASE_LOST` | LeaseLostError | reason of `lease.signal` | with a new lease |
 * | `SESSION_EXPIRED` | SessionExpiredError | SESSION_EXPIRED (store:R46) | with a new lease |
 * | `LOCK_LOST` | LockLostError | LOCK_RELEASED (store:R46, R47), reason of `lock.signal` | with a new lock |
 * | `LOCK_REENTRY` | LockReentryError | a second lock of one lease (store:R51) | no |
 * | `LOCK_TIMEOUT` | LockTimeoutError | `timeoutMs` of a lock | yes |
 * | `LOCK_ORDER` | LockOrderError | ranks of a keyed lock (L6) | no |
 * | `LOCK_RELEASED` | LockReleasedError | `downgrade()` after `release()` (L4) | no |
 * | `LOCK_STOLEN` | LockStolenError | reason of a web lock's `signal` | with a new lock |
 * | `NOT_LEADER` | NotLeaderError | NOT_LEADER (store:R49) | after a new campaign |
 * | `PIN_BROKEN` | PinBrokenError | reason of `pin.signal` (M18) | no |
 * | `SNAPSHOT` | SnapshotError | bytes that are no snapshot | no |
 * | `STORE_FULL` | StoreFullError | NO_SPACE | after compaction |
 * | `NOT_READY` | NotReadyError | not ready (M22) | yes |
 * | `STALE` | StaleError | `maxStaleMs` (M21) | yes |
 * | `NOT_CACHED` | NotCachedError | D5 | no |
 * | `NOT_APPLIED` | NotAppliedError | committed, not yet visible (M4) | no |
 * | `IDENTITY_CHANGED` | IdentityChangedError | reset (M24) | after a new list |
 * | `SLOW_WATCHER` | SlowWatcherError | M14 | from `resumeRevision` |
 * | `BACKEND` | BackendError | - | yes, unless `maybeCommitted` or `permanent` |
 * | `UNSUPPORTED` | UnsupportedError | - | no |
 * | `CORE_UNAVAILABLE` | CoreUnavailableError | the host compiles no WebAssembly from bytes | with another entry, or `createCore` |
 * | `CLOSED` | ClosedError | - | no |
 * | `JSON_SYNTAX` | JsonSyntaxError | RFC 8259 | no |
 * | `VALUE` | ValueError | D7 | no |
 * | `INVARIANT` | InvariantError | a bug of Plimsoll | no |
 * | `ASSERTION` | BackendAssertionError, of `plimsoll/testing` | a backend broke a promise (B1-B12) | no |
 * | `ASSERTION` | ProgressAssertionError, of `plimsoll/testing` | a progress store broke a promise (A40') | no |
 * | `EXPIRED` and others | StorageError and its kinds, of `plimsoll/kubernetes` | Kubernetes' reasons (K03, K04) | as each says |
 * | `API_STATUS` | ApiStatusError, of `plimsoll/kubernetes` | an API server's refusal (IN14) | by informers |
 * | `TRANSPORT` | TransportError, of `plimsoll/kubernetes` | no answer, or none that can be read (IN13) | by informers |
 * | `TEMPORARY`, `PERMANENT` | TemporaryError, PermanentError | thrown by handlers | by the controller |
 *
 * An argument of the wrong type (a number as a string, an object for a flag, an unknown option) is the platform's own
 * TypeError; a number of the right type and a wrong value (out of range, a fraction, NaN) its RangeError. Both name it.
 */
export class PlimsollError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The history asked for is gone. `minRevision` is the smallest legal value of the argument that failed, once it exists: where
 * nothing up to the newest revision is legal it is the one after that, which is to come.
 */
export class CompactedError extends PlimsollError {
  override readonly name: string = 'CompactedError';
  declare readonly code: 'COMPACTED';
  readonly minRevision: Revision;
  readonly compactRevision: Revision;

  constructor(action: string, facts: { minRevision: Revision; compactRevision: Revision }) {
    super('COMPACTED', `Cannot ${action}: compacted, the smallest legal revision is ${facts.minRevision}`);
    this.minRevision = facts.minRevision;
    this.compactRevision = facts.compactRevision;
  }
}

/** A revision above the current one was asked for. */
export class FutureRevisionError extends PlimsollError {
  override readonly name: string = 'FutureRevisionError';
  declare readonly code: 'FUTURE_REVISION';
  readonly revision: Revision;
  readonly currentRevision: Revision;

  constructor(action: string, facts: { revision: Revision; currentRevision: Revision }) {
    super(
      'FUTURE_REVISION',
      `Cannot ${action}: revision ${facts.revision} is in the future, the store is at ${facts.currentRevision}`,
    );
    this.revision = facts.revision;
    this.currentRevision = facts.currentRevision;
  }
}

/** A write expected another state of the key. Revision 0 means "absent". Nothing was written. */
export class ConflictError extends PlimsollError {
  override readonly name: string = 'ConflictError';
  declare readonly code: 'CONFLICT';
  readonly key: string | Uint8Array;
  readonly expectedRevision: Revision;
  readonly actualRevision: Revision;

  constructor(
    action: string,
    facts: { key: string | Uint8Array; expectedRevision: Revision; actualRevision: Revision },
  ) {
    super(
      'CONFLICT',
      `Cannot ${action}: expected mod revision ${facts.expectedRevision} of ${keyName(facts.key)}, found ${facts.actualRevision}`,
    );
    this.key = facts.key;
    this.expectedRevision = facts.expectedRevision;
    this.actualRevision = facts.actualRevision;
  }
}

/** A key that is empty, or (from a backend, with `keys: 'utf8'`) is not UTF-8. */
export class InvalidKeyError extends PlimsollError {
  override readonly name: string = 'InvalidKeyError';
  declare readonly code: 'INVALID_KEY';
  readonly key: string | Uint8Array;

  constructor(action: string, reason: string, key: string | Uint8Array) {
    super('INVALID_KEY', `Cannot ${action}: ${reason}`);
    this.key = key;
  }
}

/** One transaction would write one key twice. */
export class DuplicateKeyError extends PlimsollError {
  override readonly name: string = 'DuplicateKeyError';
  declare readonly code: 'DUPLICATE_KEY';
  readonly key: string | Uint8Array;

  constructor(action: string, key: string | Uint8Array) {
    super('DUPLICATE_KEY', `Cannot ${action}: one transaction writes the key ${keyName(key)} twice`);
    this.key = key;
  }
}

/** A named limit was passed: more was asked for than `max`. Nothing was written. */
export class LimitExceededError extends PlimsollError {
  override readonly name: string = 'LimitExceededError';
  declare readonly code: 'LIMIT_EXCEEDED';
  /** A name of `limits`, `leaseTtlMs`, or `progressBytes`: records on one object. */
  readonly limit: string;
  /** In the unit of the limit: bytes (`keyBytes`, `valueBytes`, `txnBytes`, `progressBytes`), milliseconds (`leaseTtlMs`), else a number of things. */
  readonly max: number;
  /** What it would have come to, in the same unit. */
  readonly actual: number;

  constructor(action: string, facts: { limit: string; max: number; actual: number }) {
    super('LIMIT_EXCEEDED', `Cannot ${action}: ${facts.limit} is at most ${facts.max}, got ${facts.actual}`);
    this.limit = facts.limit;
    this.max = facts.max;
    this.actual = facts.actual;
  }
}

/** `ignoreValue` or `ignoreLease` on a key that is not there. Nothing was written. */
export class KeyNotFoundError extends PlimsollError {
  override readonly name: string = 'KeyNotFoundError';
  declare readonly code: 'KEY_NOT_FOUND';
  readonly key: string | Uint8Array;

  constructor(action: string, key: string | Uint8Array) {
    super(
      'KEY_NOT_FOUND',
      `Cannot ${action}: the key ${keyName(key)}, whose value or lease is to stay, does not exist`,
    );
    this.key = key;
  }
}

/** No lease has this id: never granted, revoked or expired. Nothing was written. */
export class LeaseNotFoundError extends PlimsollError {
  override readonly name: string = 'LeaseNotFoundError';
  declare readonly code: 'LEASE_NOT_FOUND';
  readonly leaseId: string;

  constructor(action: string, leaseId: string) {
    super('LEASE_NOT_FOUND', `Cannot ${action}: there is no lease ${leaseId}`);
    this.leaseId = leaseId;
  }
}

/** A lease with this id is there already. */
export class LeaseExistsError extends PlimsollError {
  override readonly name: string = 'LeaseExistsError';
  declare readonly code: 'LEASE_EXISTS';
  readonly leaseId: string;

  constructor(action: string, leaseId: string) {
    super('LEASE_EXISTS', `Cannot ${action}: lease ${leaseId} exists`);
    this.leaseId = leaseId;
  }
}

/**
 * Why a lease's signal aborted: it expired or was revoked. `revision` is the first one without its keys; 0 on a replica
 * whose lease ran out by the handle's own clock, or that was told only that it is gone, since its deletes are still to come.
 */
export class LeaseLostError extends PlimsollError {
  override readonly name: string = 'LeaseLostError';
  declare readonly code: 'LEASE_LOST';
  readonly leaseId: string;
  /** What ended it. One that was made by `ttlMs` is revoked, too, when its last key leaves it. */
  readonly end: 'expired' | 'revoked';
  readonly revision: Revision;

  constructor(facts: { leaseId: string; end: 'expired' | 'revoked'; revision: Revision }) {
    super('LEASE_LOST', `Cannot use lease ${facts.leaseId}: it ${facts.end === 'expired' ? 'expired' : 'was revoked'}`);
    this.leaseId = facts.leaseId;
    this.end = facts.end;
    this.revision = facts.revision;
  }
}

/**
 * Who waited for a lock or an election has lost its place: the lease is gone (then `cause` is its `LeaseLostError`), or
 * somebody deleted the key.
 */
export class SessionExpiredError extends PlimsollError {
  override readonly name: string = 'SessionExpiredError';
  declare readonly code: 'SESSION_EXPIRED';
  readonly leaseId: string;

  constructor(action: string, leaseId: string, options?: ErrorOptions) {
    super('SESSION_EXPIRED', `Cannot ${action}: lease ${leaseId} or its key was lost while it waited`, options);
    this.leaseId = leaseId;
  }
}

/**
 * The lock is not held (any more): released, or its key is gone. Why a lock's signal aborted, and what a guarded write throws,
 * which then wrote nothing.
 */
export class LockLostError extends PlimsollError {
  override readonly name: string = 'LockLostError';
  declare readonly code: 'LOCK_LOST';
  readonly lock: string;
  readonly fencingToken: Revision;
  /** `released`: by its own holder. */
  readonly end: 'released' | 'lost';

  constructor(
    action: string,
    facts: { lock: string; fencingToken: Revision; end: 'released' | 'lost' },
    options?: ErrorOptions,
  ) {
    const { lock, fencingToken, end } = facts;
    super('LOCK_LOST', `Cannot ${action}: lock ${JSON.stringify(lock)} (token ${fencingToken}) was ${end}`, options);
    this.lock = lock;
    this.fencingToken = fencingToken;
    this.end = end;
  }
}

/** The same owner has the lock already, or waits for it: the two would be one lock, or wait for each other for ever. */
export class LockReentryError extends PlimsollError {
  override readonly name: string = 'LockReentryError';
  declare readonly code: 'LOCK_REENTRY';
  readonly lock: string;
  /** Who has it: of a lock of a store `lease` and the lease's id. */
  readonly owner: string;

  constructor(action: string, facts: { lock: string; owner: string }) {
    super(
      'LOCK_REENTRY',
      `Cannot ${action}: ${facts.owner} has ${JSON.stringify(facts.lock)}, or waits for it, already`,
    );
    this.lock = facts.lock;
    this.owner = facts.owner;
  }
}

/** A lock was not to be had within `timeoutMs`. */
export class LockTimeoutError extends PlimsollError {
  override readonly name: string = 'LockTimeoutError';
  declare readonly code: 'LOCK_TIMEOUT';
  readonly lock: string;
  readonly timeoutMs: number;

  constructor(action: string, facts: { lock: string; timeoutMs: number }) {
    super('LOCK_TIMEOUT', `Cannot ${action}: ${JSON.stringify(facts.lock)} was not free within ${facts.timeoutMs} ms`);
    this.lock = facts.lock;
    this.timeoutMs = facts.timeoutMs;
  }
}

/** An owner took locks against their order: two who do that in different ways wait for each other for ever. */
export class LockOrderError extends PlimsollError {
  override readonly name: string = 'LockOrderError';
  declare readonly code: 'LOCK_ORDER';
  readonly lock: string;
  readonly rank: number;
  /** What the owner has or waits for, and has to be taken after `lock`. */
  readonly heldLock: string;
  readonly heldRank: number;

  constructor(action: string, facts: { lock: string; rank: number; heldLock: string; heldRank: number }) {
    const { lock, rank, heldLock, heldRank } = facts;
    super(
      'LOCK_ORDER',
      `Cannot ${action}: ${JSON.stringify(lock)} of rank ${rank} comes before ${JSON.stringify(heldLock)} of rank ${heldRank}, which its owner has already`,
    );
    this.lock = lock;
    this.rank = rank;
    this.heldLock = heldLock;
    this.heldRank = heldRank;
  }
}

/** What needs a lock that is held was asked of one that was released. */
export class LockReleasedError extends PlimsollError {
  override readonly name: string = 'LockReleasedError';
  declare readonly code: 'LOCK_RELEASED';
  readonly lock: string;

  constructor(action: string, lock: string) {
    super('LOCK_RELEASED', `Cannot ${action}: ${JSON.stringify(lock)} was released`);
    this.lock = lock;
  }
}

/** Why the signal of a web lock aborted: another tab or worker took the lock by force. `cause` is the platform's error. */
export class LockStolenError extends PlimsollError {
  override readonly name: string = 'LockStolenError';
  declare readonly code: 'LOCK_STOLEN';
  readonly lock: string;

  constructor(lock: string, options?: ErrorOptions) {
    super('LOCK_STOLEN', `Cannot hold ${JSON.stringify(lock)}: the lock was taken by force`, options);
    this.lock = lock;
  }
}

/** The leadership is resigned or lost: see {@link LockLostError}. Nothing was written. */
export class NotLeaderError extends PlimsollError {
  override readonly name: string = 'NotLeaderError';
  declare readonly code: 'NOT_LEADER';
  readonly election: string;
  readonly fencingToken: Revision;
  /** `resigned`: by the leader itself. */
  readonly end: 'resigned' | 'lost';

  constructor(
    action: string,
    facts: { election: string; fencingToken: Revision; end: 'resigned' | 'lost' },
    options?: ErrorOptions,
  ) {
    const { election, fencingToken, end } = facts;
    super('NOT_LEADER', `Cannot ${action}: ${JSON.stringify(election)} (token ${fencingToken}) was ${end}`, options);
    this.election = election;
    this.fencingToken = fencingToken;
    this.end = end;
  }
}

/** Why a pin's signal aborted: it was held for too long, or held too much back (M18), or the data were replaced (D22). */
export class PinBrokenError extends PlimsollError {
  override readonly name: string = 'PinBrokenError';
  declare readonly code: 'PIN_BROKEN';
  readonly owner: string;
  readonly revision: Revision;
  readonly reason: 'ttlMs' | 'bytes' | 'reset';

  constructor(facts: { owner: string; revision: Revision; reason: 'ttlMs' | 'bytes' | 'reset' }) {
    super('PIN_BROKEN', `Cannot keep revision ${facts.revision} for ${facts.owner}: ${PIN_ENDS[facts.reason]}`);
    this.owner = facts.owner;
    this.revision = facts.revision;
    this.reason = facts.reason;
  }
}

const PIN_ENDS = {
  ttlMs: 'it was held for longer than its ttlMs',
  bytes: 'it held more than its bytes back, or the store needed the memory',
  reset: 'the history behind it was replaced',
} as const;

/**
 * Bytes that are no snapshot of a store: another format or version, cut off, or damaged. Or a store of which none can be made,
 * since its numbers leave no room.
 */
export class SnapshotError extends PlimsollError {
  override readonly name: string = 'SnapshotError';
  declare readonly code: 'SNAPSHOT';
  readonly reason: string;

  constructor(action: string, reason: string, options?: ErrorOptions) {
    super('SNAPSHOT', `Cannot ${action}: ${reason}`, options);
    this.reason = reason;
  }
}

/**
 * The memory limit of the core, or `limits.storeBytes`, is reached. Nothing was written; compaction or deletes make room, and
 * where a pin holds compaction back, its release. Reads work at the limit; one alone may throw it: one that finds a lease
 * due, in a store so full that even without any history the delete of one key does not fit. What is due is not shown.
 */
export class StoreFullError extends PlimsollError {
  override readonly name: string = 'StoreFullError';
  declare readonly code: 'STORE_FULL';
  /** Which bound it is: the option's name. */
  readonly limit: 'memoryBytesMax' | 'storeBytes';
  /** Bytes allowed. */
  readonly max: number;
  /** The same, if the limit is this one. */
  readonly memoryBytesMax: number | undefined;
  /** Who holds most history back, if anybody does. */
  readonly pin: { readonly owner: string; readonly revision: Revision } | undefined;

  constructor(
    action: string,
    max: number,
    facts: { limit?: 'memoryBytesMax' | 'storeBytes'; pin?: { owner: string; revision: Revision } } = {},
  ) {
    const { limit = 'memoryBytesMax', pin } = facts;
    const what = limit === 'memoryBytesMax' ? 'the core' : 'the retained values';
    const why = pin === undefined ? '' : `, history is held back from revision ${pin.revision} by ${pin.owner}`;
    super('STORE_FULL', `Cannot ${action}: ${what} may use ${max} bytes and they are in use${why}`);
    this.limit = limit;
    this.max = max;
    this.memoryBytesMax = limit === 'memoryBytesMax' ? max : undefined;
    this.pin = pin;
  }
}

/** A read before the first snapshot, or after a reset until the next one. Never answered as "empty". */
export class NotReadyError extends PlimsollError {
  override readonly name: string = 'NotReadyError';
  declare readonly code: 'NOT_READY';
  /** That of the store: 1 before the first snapshot of all, above after a reset. */
  readonly epoch: number;

  constructor(action: string, facts: { epoch: number }) {
    super('NOT_READY', `Cannot ${action}: the first snapshot is not there yet`);
    this.epoch = facts.epoch;
  }
}

/** A read of a replica that is not known to be as new as `maxStaleMs` asks for (M21). */
export class StaleError extends PlimsollError {
  override readonly name: string = 'StaleError';
  declare readonly code: 'STALE';
  /** How old the state may be, in ms; infinite before the first proof. */
  readonly ageMs: number;
  readonly maxStaleMs: number;

  constructor(action: string, facts: { ageMs: number; maxStaleMs: number }) {
    super('STALE', `Cannot ${action}: the state may be ${facts.ageMs} ms old, allowed are ${facts.maxStaleMs} ms`);
    this.ageMs = facts.ageMs;
    this.maxStaleMs = facts.maxStaleMs;
  }
}

/** A local read or watch outside the replicated prefixes. */
export class NotCachedError extends PlimsollError {
  override readonly name: string = 'NotCachedError';
  declare readonly code: 'NOT_CACHED';
  /** What was asked for. */
  readonly range: KeyRange<Key>;
  /** What is replicated. */
  readonly prefixes: readonly Key[];

  constructor(action: string, facts: { range: KeyRange<Key>; prefixes: readonly Key[] }) {
    const { range, prefixes } = facts;
    super(
      'NOT_CACHED',
      `Cannot ${action}: ${rangeName(range)} is outside the replicated prefixes ${keyNames(prefixes)}`,
    );
    this.range = facts.range;
    this.prefixes = facts.prefixes;
  }
}

/** The write IS committed at `revision`, but this replica had not applied it when the wait ended (M4). */
export class NotAppliedError extends PlimsollError {
  override readonly name: string = 'NotAppliedError';
  declare readonly code: 'NOT_APPLIED';
  readonly revision: Revision;
  /** What the write would have resolved with. */
  readonly result: unknown;

  constructor(action: string, facts: { revision: Revision; result: unknown }, options?: ErrorOptions) {
    super('NOT_APPLIED', `Committed at revision ${facts.revision}, but cannot see it here: ${action}`, options);
    this.revision = facts.revision;
    this.result = facts.result;
  }
}

/** The data behind the store was replaced: revisions of the old identity mean nothing any more (M24). */
export class IdentityChangedError extends PlimsollError {
  override readonly name: string = 'IdentityChangedError';
  declare readonly code: 'IDENTITY_CHANGED';
  /** That of the data which are behind the store now. */
  readonly epoch: number;

  constructor(action: string, epoch: number) {
    super('IDENTITY_CHANGED', `Cannot ${action}: the data behind the store was replaced`);
    this.epoch = epoch;
  }
}

/** A watcher with `onSlow: 'close'` fell behind its bound. Watch again from `resumeRevision` to miss nothing. */
export class SlowWatcherError extends PlimsollError {
  override readonly name: string = 'SlowWatcherError';
  declare readonly code: 'SLOW_WATCHER';
  readonly resumeRevision: Revision;
  readonly lagEvents: number;

  constructor(facts: { resumeRevision: Revision; lagEvents: number }) {
    super('SLOW_WATCHER', `Cannot continue the watch: it is ${facts.lagEvents} events behind`);
    this.resumeRevision = facts.resumeRevision;
    this.lagEvents = facts.lagEvents;
  }
}

/** A call to the backend failed. `maybeCommitted`: it was a write whose answer got lost. */
export class BackendError extends PlimsollError {
  override readonly name: string = 'BackendError';
  declare readonly code: 'BACKEND';
  readonly maybeCommitted: boolean;
  /** Trying again cannot help (credentials, certificate). */
  readonly permanent: boolean;

  constructor(
    action: string,
    reason: string,
    options?: ErrorOptions & { maybeCommitted?: boolean; permanent?: boolean },
  ) {
    super('BACKEND', `Cannot ${action}: ${reason}`, options);
    this.maybeCommitted = options?.maybeCommitted ?? false;
    this.permanent = options?.permanent ?? false;
  }
}

/** The backend, source or runtime has no such ability. */
export class UnsupportedError extends PlimsollError {
  override readonly name: string = 'UnsupportedError';
  declare readonly code: 'UNSUPPORTED';
  readonly capability: string;

  constructor(action: string, capability: string) {
    super('UNSUPPORTED', `Cannot ${action}: ${capability} is not supported here`);
    this.capability = capability;
  }
}

/** The store, watch or controller was closed. */
export class ClosedError extends PlimsollError {
  override readonly name: string = 'ClosedError';
  declare readonly code: 'CLOSED';

  constructor(action: string, why = 'closed') {
    super('CLOSED', `Cannot ${action}: ${why}`);
  }
}

/** The host does not compile WebAssembly from bytes. `cause` is its own error; the message says what to do on which host. */
export class CoreUnavailableError extends PlimsollError {
  override readonly name: string = 'CoreUnavailableError';
  declare readonly code: 'CORE_UNAVAILABLE';

  constructor(action: string, cause: unknown) {
    const said = cause instanceof Error ? cause.message : String(cause);
    super(
      'CORE_UNAVAILABLE',
      `Cannot ${action}: the host does not compile WebAssembly from bytes (${said}). A page needs 'wasm-unsafe-eval' in script-src of its Content-Security-Policy; a worker a bundle with the export condition workerd or edge-light; any host can give a module that it has compiled to createCore()`,
      { cause },
    );
  }
}

/** Bytes that are not JSON (or not the JSON that was asked for). `offset` counts bytes from the start of the text. */
export class JsonSyntaxError extends PlimsollError {
  override readonly name: string = 'JsonSyntaxError';
  declare readonly code: 'JSON_SYNTAX';
  readonly offset: number;
  readonly reason: string;

  constructor(action: string, facts: { offset: number; reason: string }, options?: ErrorOptions) {
    super('JSON_SYNTAX', `Cannot ${action}: ${facts.reason} at byte ${facts.offset}`, options);
    this.offset = facts.offset;
    this.reason = facts.reason;
  }
}

/**
 * A value that is neither a string, bytes nor plain JSON data; `path` is a JSON pointer to the part at fault. Or one that
 * is stored under `key` and that the codec does not read, with the codec's own error as `cause`.
 */
export class ValueError extends PlimsollError {
  override readonly name: string = 'ValueError';
  declare readonly code: 'VALUE';
  readonly path: string;
  readonly reason: string;
  /** Of a stored value that cannot be read. */
  readonly key: Key | undefined;

  constructor(action: string, facts: { path: string; reason: string; key?: Key }, options?: ErrorOptions) {
    const { path, reason, key } = facts;
    super('VALUE', `Cannot ${action}: the value ${path === '' ? '' : `at ${shortened(path)} `}${reason}`, options);
    this.path = path;
    this.reason = reason;
    this.key = key;
  }
}

/** A pointer may be as deep and as long as the value is; a message keeps its two ends, the field has all of it. */
function shortened(path: string): string {
  return path.length <= PATH_CHARS_MAX
    ? path
    : `${path.slice(0, PATH_CHARS_MAX / 2)}...${path.slice(-PATH_CHARS_MAX / 2)}`;
}

const PATH_CHARS_MAX = 160;

/** A bug in Plimsoll. The component that throws it refuses further work rather than go on with a wrong state. */
export class InvariantError extends PlimsollError {
  override readonly name: string = 'InvariantError';
  declare readonly code: 'INVARIANT';

  constructor(message: string) {
    super('INVARIANT', `Broken invariant: ${message}`);
  }
}

/** Thrown by a handler: try again, after `delayMs`, at least 1; by the handler's backoff if that is no finite number. */
export class TemporaryError extends PlimsollError {
  override readonly name: string = 'TemporaryError';
  declare readonly code: 'TEMPORARY';
  readonly delayMs: number | undefined;

  constructor(message: string, options?: ErrorOptions & { delayMs?: number }) {
    super('TEMPORARY', message, options);
    this.delayMs = options?.delayMs;
  }
}

/** Thrown by a handler: this input cannot succeed; do not try again until it changes. */
export class PermanentError extends PlimsollError {
  override readonly name: string = 'PermanentError';
  declare readonly code: 'PERMANENT';

  constructor(message: string, options?: ErrorOptions) {
    super('PERMANENT', message, options);
  }
}

/** The one place that says whether the same call may succeed if it is simply made again. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof BackendError) return !error.maybeCommitted && !error.permanent;
  if (error instanceof NotReadyError || error instanceof StaleError) return true;
  return error instanceof TemporaryError || error instanceof LockTimeoutError;
}
