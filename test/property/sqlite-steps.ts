import type {
  BackendCompare,
  BackendOperation,
  BackendRangeRequest,
  BackendTxnRequest,
  ByteRange,
} from '../../src/types/backend.ts';
import type { Store } from '../../src/types/store.ts';

/** Steps of a random program on a backend: plain data, the same for both. */
export type BackendStep =
  | { readonly op: 'txn'; readonly request: BackendTxnRequest }
  | { readonly op: 'range'; readonly request: BackendRangeRequest }
  | { readonly op: 'status' | 'list' }
  | { readonly op: 'compact'; readonly revision: number }
  | { readonly op: 'grant'; readonly id: string; readonly ttlMs: number }
  | { readonly op: 'keepAlive' | 'revoke'; readonly id: string }
  | { readonly op: 'timeToLive'; readonly id: string; readonly keys: boolean }
  | { readonly op: 'watch'; readonly ranges: readonly ByteRange[]; readonly fromRevision: number }
  | { readonly op: 'advance'; readonly delayMs: number };

export interface Dice {
  readonly random: () => number;
  readonly below: (count: number) => number;
}

const KEYS = ['a', 'a/b', 'a/c', 'b', 'b/\u00ff', 'c', 'd'].map((text) =>
  Uint8Array.from(text, (one) => one.charCodeAt(0)),
);
const VALUES = ['', 'x', 'y', 'long '.repeat(300)].map((text) => new TextEncoder().encode(text));
const LEASES = ['1', '2', '10', '9223372036854775807'];
const NONE = new Uint8Array(0);

/** One step, or several writes to make together. */
export function createSteps(dice: Dice, data: Store<Uint8Array, Uint8Array>): BackendStep[] {
  const kind = dice.below(100);
  if (kind < 45) return Array.from({ length: 1 + dice.below(3) }, () => ({ op: 'txn', request: txn(dice, data, 0) }));
  if (kind < 50) {
    const writing: BackendStep = { op: 'txn', request: twice(dice) };
    // At its revision: what a compaction takes has to be older.
    return dice.below(4) === 0 ? [writing] : [writing, { op: 'compact', revision: data.revision + 1 }];
  }
  if (kind < 70) return [{ op: 'range', request: range(dice, data) }];
  if (kind < 74) return [{ op: 'status' }];
  if (kind < 76) return [{ op: 'compact', revision: place(dice, data) }];
  if (kind < 82) return [{ op: 'grant', id: pick(dice, LEASES), ttlMs: 1 + dice.below(3000) }];
  if (kind < 84) return [{ op: 'keepAlive', id: pick(dice, LEASES) }];
  if (kind < 86) return [{ op: 'revoke', id: pick(dice, LEASES) }];
  if (kind < 88) return [{ op: 'timeToLive', id: pick(dice, LEASES), keys: dice.below(2) === 0 }];
  if (kind < 89) return [{ op: 'list' }];
  if (kind < 94) return [{ op: 'watch', ranges: [keys(dice)], fromRevision: start(dice, data) }];
  return [{ op: 'advance', delayMs: 1 + dice.below(2000) }];
}

function pick<T>(dice: Dice, list: readonly T[]): T {
  return list[dice.below(list.length)] as T;
}

/** Of a watch: often the compacted revision, of which every event has to be there still. */
function start(dice: Dice, data: Store<Uint8Array, Uint8Array>): number {
  return Math.max(1, dice.below(2) === 0 ? data.compactRevision : place(dice, data));
}

/** About the newest revision, sometimes behind it. */
function place({ below }: Dice, data: Store<Uint8Array, Uint8Array>): number {
  return Math.max(0, data.revision + 2 - below(12));
}

function keys(dice: Dice): ByteRange {
  const start = pick(dice, KEYS);
  switch (dice.below(4)) {
    case 0:
      return { start };
    case 1:
      return { start: NONE, end: NONE };
    case 2:
      return { start, end: NONE };
    default: {
      const [first, second] = [start, pick(dice, KEYS)];
      return { start: first, end: second };
    }
  }
}

function range(dice: Dice, data: Store<Uint8Array, Uint8Array>): BackendRangeRequest {
  const { below } = dice;
  return {
    ranges: [keys(dice)],
    ...(below(2) === 0 ? { revision: place(dice, data) } : {}),
    ...(below(3) === 0 ? { minModRevision: place(dice, data) } : {}),
    ...(below(3) === 0 ? { limit: below(4) } : {}),
    keysOnly: below(4) === 0,
    countOnly: below(6) === 0,
  };
}

function txn(dice: Dice, data: Store<Uint8Array, Uint8Array>, depth: number): BackendTxnRequest {
  const { below } = dice;
  const operations = () => Array.from({ length: below(4) }, () => operation(dice, data, depth));
  return {
    compare: Array.from({ length: below(3) === 0 ? 1 + below(2) : 0 }, () => compare(dice, data)),
    then: operations(),
    else: operations(),
  };
}

/** One key twice in one revision: put in one nested transaction, then deleted in another, which no single one may do. */
function twice(dice: Dice): BackendTxnRequest {
  const nested = (...then: BackendOperation[]): BackendOperation => ({ type: 'txn', compare: [], then, else: [] });
  const key = pick(dice, KEYS);
  const first = nested({ type: 'put', key, value: pick(dice, VALUES) });
  const range = dice.below(2) === 0 ? { start: key } : { start: key, end: NONE };
  const then = [first, nested({ type: 'delete', range, prevKv: true })];
  return { compare: [], then: dice.below(2) === 0 ? then : [put(dice), ...then], else: [] };
}

function compare(dice: Dice, data: Store<Uint8Array, Uint8Array>): BackendCompare {
  const { below } = dice;
  const where = below(3) === 0 ? { range: keys(dice) } : { key: pick(dice, KEYS) };
  const result = pick(dice, ['=', '!=', '<', '>'] as const);
  switch (below(5)) {
    case 0:
      return { ...where, target: 'value', result, value: pick(dice, VALUES) };
    case 1:
      return { ...where, target: 'lease', result, value: pick(dice, ['0', ...LEASES]) };
    case 2:
      return { ...where, target: 'version', result, value: below(3) };
    case 3:
      return { ...where, target: 'create', result, value: below(2) === 0 ? 0 : place(dice, data) };
    default:
      return { ...where, target: 'mod', result, value: below(2) === 0 ? 0 : place(dice, data) };
  }
}

function operation(dice: Dice, data: Store<Uint8Array, Uint8Array>, depth: number): BackendOperation {
  const { below } = dice;
  const kind = below(depth < 2 ? 12 : 10);
  if (kind < 5) return put(dice);
  if (kind < 7) return { type: 'delete', range: keys(dice), prevKv: below(2) === 0 };
  if (kind >= 10) return { type: 'txn', ...txn(dice, data, depth + 1) };
  return {
    type: 'range',
    range: keys(dice),
    revision: below(3) === 0 ? place(dice, data) : 0,
    limit: below(4),
    keysOnly: below(5) === 0,
    countOnly: below(6) === 0,
    sortTarget: pick(dice, ['key', 'version', 'create', 'mod', 'value'] as const),
    sortOrder: pick(dice, ['ascend', 'descend'] as const),
    ...(below(4) === 0 ? { minModRevision: place(dice, data) } : {}),
    ...(below(4) === 0 ? { maxCreateRevision: place(dice, data) } : {}),
  };
}

function put(dice: Dice): BackendOperation {
  const { below } = dice;
  const ignoreValue = below(8) === 0;
  const ignoreLease = below(8) === 0;
  return {
    type: 'put',
    key: pick(dice, KEYS),
    value: ignoreValue ? NONE : pick(dice, VALUES),
    ...(ignoreValue ? { ignoreValue } : {}),
    ...(ignoreLease ? { ignoreLease } : below(3) === 0 ? { lease: pick(dice, LEASES) } : {}),
    prevKv: below(2) === 0,
  };
}
