import type { Key } from '../../src/types/revision.ts';
import { UNKNOWN_LEASE } from './lease-names.ts';
import type { Attachment, Selection } from './program.ts';
import type { Answer, Call, CompareCall, OperationCall, TxnCall } from './subject.ts';

/** How often each thing happened. */
export type Coverage = (mark: string) => void;

const TARGETS = ['key', 'version', 'create', 'mod', 'value'];
const ATTACHMENTS = ['a lease', 'ignoreValue', 'ignoreLease'];
const FAULTS = ['compacted', 'future revision', 'key not found', 'lease not found'];
const EVENTS = ['put', 'put with prevKv', 'put with a lease', 'delete', 'delete with prevKv'];
const SELECTIONS = [
  ...['keysOnly', 'countOnly', 'limit', 'more', 'at a revision', 'no sort'],
  ...TARGETS.flatMap((target) => ['default', 'ascend', 'descend'].map((order) => `sort ${target} ${order}`)),
  ...['minModRevision', 'maxModRevision', 'minCreateRevision', 'maxCreateRevision'],
];

/** What every run of some size has to have met: a generator that stopped making it would go unnoticed otherwise. */
export const MARKS_NEEDED: readonly string[] = [
  ...named(
    'put',
    'ok',
    'conflict',
    'empty key',
    'key not found',
    'lease not found',
    'value provided',
    'lease provided',
  ),
  ...named('put', 'prevKv', 'expect', ...ATTACHMENTS),
  ...named('putAll', 'ok', 'nothing', 'duplicate key', 'lease not found', 'key not found', 'a lease', 'ignoreLease'),
  ...named('delete', 'ok', 'conflict', 'empty key', 'prevKv', 'expect'),
  ...named('get', 'ok', 'compacted', 'future revision', 'empty key'),
  ...named('range', 'ok', 'compacted', 'future revision', ...SELECTIONS),
  ...named('range', 'sort, limit and more', 'sort at a revision', 'bounds and more', 'bounds at a revision'),
  ...named('page', 'ok', 'compacted', 'bounds'),
  ...named('compact', 'ok', 'compacted', 'future revision'),
  ...named(
    'txn',
    'ok',
    'else',
    'duplicate key',
    'too many operations',
    'empty key',
    'value provided',
    'lease provided',
  ),
  ...named('txn', ...FAULTS, 'duplicate key in nested ones', 'too many operations in nested ones'),
  ...named('txn', ...FAULTS.map((fault) => `${fault} on the path not taken`), 'depth 2', 'depth 3'),
  ...named('txn', 'range compare', ...['value', 'create', 'mod', 'version', 'lease'].map((name) => `compare ${name}`)),
  ...named('txn put', 'prevKv', ...ATTACHMENTS),
  ...named('txn delete', 'prevKv'),
  ...named('txn range', ...SELECTIONS),
  ...named('grant', 'ok', 'own id', 'id of the store', 'lease exists', 'TTL too large'),
  ...named('revoke', 'ok', 'lease not found', 'no key', 'one key', 'several keys'),
  ...named('keepAlive', 'ok', 'lease not found'),
  ...named('timeToLive', 'ok', 'none', 'keys'),
  ...named('leases', 'ok', 'several'),
  ...named('watch', 'now', 'past', 'future', 'initial', 'compacted', 'empty range', 'noput', 'nodelete'),
  ...named('event', ...EVENTS),
  'cancel: ok',
];

/** The same for expiry. */
export const EXPIRY_MARKS_NEEDED: readonly string[] = named(
  'expiry',
  ...['no key', 'one key', 'several keys', 'several leases, one after the other'],
);

function named(op: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `${op}: ${name}`);
}

/** What happened in a call, by the answer that both gave and by where the stores were before. */
export function marksOf(call: Call, answer: Answer, at: { revision: number; compacted: number }): readonly string[] {
  const error = typeof answer.error === 'string' ? answer.error : undefined;
  const names = error === undefined ? ['ok', ...detailsOf(call, answer)] : [error];
  const marks = names.map((name) => `${call.op}: ${name}`);
  if (call.op === 'txn') marks.push(...txnMarks(call, answer, error, at));
  return marks;
}

function detailsOf(call: Call, answer: Answer): readonly string[] {
  switch (call.op) {
    case 'put':
      return [...optionsOf(call), ...attachmentOf(call)];
    case 'delete':
      return optionsOf(call);
    case 'putAll': {
      const entries = call.entries.flatMap((entry) => attachmentOf({ ...entry, ignoreValue: false }));
      return call.entries.length === 0 ? ['nothing'] : entries;
    }
    case 'range':
      return selectionOf(call, call.revision, answer.more === true);
    case 'page':
      return Object.keys(call.of.bounds).length > 0 ? ['bounds'] : [];
    case 'grant':
      return [call.lease.startsWith('g') ? 'id of the store' : 'own id'];
    case 'revoke':
      return [answer.deleted === 0 ? 'no key' : answer.deleted === 1 ? 'one key' : 'several keys'];
    case 'timeToLive':
      return answer.lease === 'none' ? ['none'] : call.withKeys ? ['keys'] : [];
    case 'leases':
      return Array.isArray(answer.leases) && answer.leases.length > 1 ? ['several'] : [];
    default:
      return [];
  }
}

function optionsOf({ prevKv, expect }: { readonly prevKv: boolean; readonly expect?: number }): readonly string[] {
  return [...(prevKv ? ['prevKv'] : []), ...(expect === undefined ? [] : ['expect'])];
}

function attachmentOf({ lease, ignoreValue, ignoreLease }: Attachment): readonly string[] {
  return [
    ...(lease === undefined || lease === '0' ? [] : ['a lease']),
    ...(ignoreValue ? ['ignoreValue'] : []),
    ...(ignoreLease ? ['ignoreLease'] : []),
  ];
}

function selectionOf(selection: Selection<number>, revision: number | undefined, more: boolean): readonly string[] {
  const { limit, keysOnly, countOnly, sortTarget, sortOrder, bounds } = selection;
  const isSorted = sortTarget !== undefined;
  const isOld = revision !== undefined && revision > 0;
  const hasBounds = Object.keys(bounds).length > 0;
  const facts: readonly (readonly [boolean, string])[] = [
    [keysOnly, 'keysOnly'],
    [countOnly, 'countOnly'],
    [limit !== undefined && limit > 0, 'limit'],
    [more, 'more'],
    [isOld, 'at a revision'],
    [!isSorted, 'no sort'],
    [isSorted, `sort ${sortTarget} ${sortOrder ?? 'default'}`],
    [isSorted && more, 'sort, limit and more'],
    [isSorted && isOld, 'sort at a revision'],
    [hasBounds && more, 'bounds and more'],
    [hasBounds && isOld, 'bounds at a revision'],
  ];
  return [...facts.filter(([isTrue]) => isTrue).map(([, name]) => name), ...Object.keys(bounds)];
}

function txnMarks(
  call: TxnCall,
  answer: Answer,
  error: string | undefined,
  at: { revision: number; compacted: number },
): readonly string[] {
  const depth = depthOf(call);
  if (error === 'duplicate key' || error === 'too many operations') {
    return depth > 1 ? [`txn: ${error} in nested ones`] : [];
  }
  if (error !== undefined) return [];
  const marks = [answer.succeeded === true ? 'txn: then' : 'txn: else'];
  if (depth > 1) marks.push(`txn: depth ${depth}`);
  pathMarks(call, answer, at, marks);
  return marks;
}

/** Along the branches that ran; of those that did not, what would have been an error there. */
function pathMarks(call: TxnCall, answer: Answer, at: { revision: number; compacted: number }, marks: string[]): void {
  for (const compare of call.compare) marks.push(...compareMarks(compare));
  const [taken, other] = answer.succeeded === true ? [call.then, call.else] : [call.else, call.then];
  for (const fault of new Set(other.flatMap((step) => faultsOf(step, at)))) {
    marks.push(`txn: ${fault} on the path not taken`);
  }
  const responses = answer.responses as readonly Answer[];
  for (const [index, step] of taken.entries()) {
    const response = responses[index] ?? {};
    if (step.type === 'txn') pathMarks(step, response, at, marks);
    else marks.push(...operationMarks(step, response));
  }
}

function compareMarks({ range, target }: CompareCall): readonly string[] {
  return [`txn: compare ${target}`, ...('key' in range ? [] : ['txn: range compare'])];
}

function operationMarks(step: Exclude<OperationCall, { type: 'txn' }>, response: Answer): readonly string[] {
  const names =
    step.type === 'range'
      ? selectionOf(step, step.revision, response.more === true)
      : [...optionsOf(step), ...(step.type === 'put' ? attachmentOf(step) : [])];
  return names.map((name) => `txn ${step.type}: ${name}`);
}

function faultsOf(step: OperationCall, at: { revision: number; compacted: number }): readonly string[] {
  switch (step.type) {
    case 'txn':
      return [...step.then, ...step.else].flatMap((inner) => faultsOf(inner, at));
    case 'range': {
      const { revision = 0 } = step;
      if (revision > at.revision) return ['future revision'];
      return revision > 0 && revision < at.compacted ? ['compacted'] : [];
    }
    case 'put': {
      if (step.lease === UNKNOWN_LEASE) return ['lease not found'];
      return (step.ignoreValue || step.ignoreLease) && isMissing(step.key) ? ['key not found'] : [];
    }
    default:
      return [];
  }
}

/** The vocabulary's key that is never written. */
function isMissing(key: Key): boolean {
  return key === 'missing' || key[0] === 77;
}

function depthOf(txn: TxnCall): number {
  const inner = [...txn.then, ...txn.else].map((step) => (step.type === 'txn' ? depthOf(step) : 0));
  return 1 + Math.max(0, ...inner);
}
