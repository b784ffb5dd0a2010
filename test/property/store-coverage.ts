import type { Coverage } from './store-watches.ts';

const all = (kind: string, names: readonly string[]) => names.map((name) => `${kind}${name}`);

const OPERATIONS = [
  ...['put', 'putAll', 'delete', 'txn', 'get', 'range', 'page', 'compact', 'stats', 'snapshot', 'wrong', 'tick'],
  ...['watch', 'read', 'progress', 'abort', 'return', 'grant', 'revoke', 'keepAlive', 'timeToLive', 'leases'],
  ...['pin', 'release', 'advance'],
];

const DUE_BY = ['put', 'putAll', 'delete', 'txn', 'get', 'range', 'watch', 'read', 'grant', 'keepAlive', 'timeToLive'];

const RANGE_OPTIONS = [
  ...['limit', 'keysOnly', 'countOnly', 'more'],
  ...all('sortTarget:', ['key', 'version', 'create', 'mod', 'value']),
  ...all('sortOrder:', ['ascend', 'descend']),
  ...['minModRevision', 'maxModRevision', 'minCreateRevision', 'maxCreateRevision'],
];

const WATCH_OPTIONS = [
  ...['initial:true', 'prevKv:true', 'filter:noput', 'filter:nodelete', 'start:future'],
  ...['onSlow:lag', 'onSlow:coalesce', 'onSlow:close'],
];

const CODES = [
  ...['COMPACTED', 'FUTURE_REVISION', 'CONFLICT', 'INVALID_KEY', 'DUPLICATE_KEY', 'LIMIT_EXCEEDED', 'KEY_NOT_FOUND'],
  ...['LEASE_NOT_FOUND', 'LEASE_EXISTS', 'LEASE_LOST', 'PIN_BROKEN', 'SNAPSHOT', 'STORE_FULL', 'IDENTITY_CHANGED'],
  ...['SLOW_WATCHER', 'CLOSED', 'VALUE'],
];

const LIMITS = ['keyBytes', 'valueBytes', 'txnOperations', 'txnBytes', 'leases', 'pins', 'leaseTtlMs'];

/**
 * Everything that has to happen in a run; a generator that no longer reaches one of them proves nothing about it. Error
 * codes that are missing are those of replicas, views and handlers: other tests have them.
 */
export const REQUIRED: readonly string[] = [
  ...all('op:', OPERATIONS),
  ...all('due:', DUE_BY),
  ...all('keys:', ['utf8', 'bytes']),
  ...all('values:', ['plain', 'json', 'trusted']),
  ...all('timers:', ['prompt', 'late']),
  ...all('expect:', ['absent', 'current', 'other']),
  ...all('put.', ['lease', 'ttlMs', 'ignoreLease', 'ignoreValue', 'prevKv']),
  ...all('delete.', ['prevKv']),
  ...all('grant.', ['id']),
  ...all('handle.', ['revoke', 'keepAlive', 'timeToLive']),
  ...all('lost:', ['expired', 'revoked']),
  ...all('compare:', ['value', 'create', 'mod', 'version', 'lease', 'range', '=', '!=', '<', '>']),
  ...all('txn.', ['put', 'delete', 'range', 'txn', 'range.revision']),
  ...all('txn:', ['then', 'else']),
  ...all('range.', RANGE_OPTIONS),
  ...all('watch.', WATCH_OPTIONS),
  ...all('batch:', ['ordinary', 'span', 'initial', 'progress']),
  ...all('event:', ['put', 'put+prevKv', 'delete', 'delete+prevKv']),
  ...all('code:', CODES),
  ...all('error:LimitExceededError of ', LIMITS),
  ...all('error:', ['TypeError', 'RangeError', 'CompactedError of a watch', 'SlowWatcherError of a watch']),
  'error:Error of a watch',
];

/** Counts marks. */
export class CoverageTable {
  readonly #counts = new Map<string, number>();
  readonly mark: Coverage = (name) => {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  };

  /** What happened less often than that, though it has to. */
  below(min: number): string[] {
    return REQUIRED.filter((name) => (this.#counts.get(name) ?? 0) < min).map(
      (name) => `${name}: ${this.#counts.get(name) ?? 0}`,
    );
  }

  /** One row for each mark, in columns. */
  print(columns = 3): string {
    const names = [...new Set([...this.#counts.keys(), ...REQUIRED])].sort();
    const cells = names.map((name) => `${name.padEnd(38)}${String(this.#counts.get(name) ?? 0).padStart(8)}`);
    const rows = Math.ceil(cells.length / columns);
    const lines = Array.from({ length: rows }, (_, row) => cells.filter((_cell, index) => index % rows === row));
    return lines.map((line) => line.join('   ')).join('\n');
  }
}
