import { byteText } from '../core/key-order.ts';
import type {
  BackendCompare,
  BackendEvent,
  BackendKeyValue,
  BackendOperation,
  BackendOperationResponse,
  BackendRangeOperation,
  BackendWatchItem,
  ByteRange,
} from '../types/backend.ts';

/**
 * Short forms of what goes to a backend and comes from it. Keys and values are written as text of one character a byte:
 * 'a', '\xff\x00'. Answers become texts that can be compared and printed: `a=1 (2,3,2)` is the key a with the value 1,
 * created at 2, modified at 3, version 2.
 */
export function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function point(key: string): ByteRange {
  return { start: bytes(key) };
}

/** From `start` up to and without `end`; an empty `end` is no upper bound. */
export function span(start: string, end: string): ByteRange {
  return { start: bytes(start), end: bytes(end) };
}

export const ALL: ByteRange = span('', '');

export function put(
  key: string,
  value: string,
  options: Omit<Extract<BackendOperation, { type: 'put' }>, 'type' | 'key' | 'value'> = {},
): BackendOperation {
  return { type: 'put', key: bytes(key), value: bytes(value), ...options };
}

export function del(range: string | ByteRange, prevKv = false): BackendOperation {
  return { type: 'delete', range: typeof range === 'string' ? point(range) : range, prevKv };
}

export function get(
  range: string | ByteRange,
  selection: Omit<BackendRangeOperation, 'type' | 'range'> = {},
): BackendOperation {
  return { type: 'range', range: typeof range === 'string' ? point(range) : range, ...selection };
}

export function nested(
  compare: readonly BackendCompare[],
  then: readonly BackendOperation[],
  otherwise: readonly BackendOperation[] = [],
): BackendOperation {
  return { type: 'txn', compare, then, else: otherwise };
}

/** `when('a', 'version', '>', 0)`. Text as the value of a compare of values is bytes. */
export function when(
  selected: string | ByteRange,
  target: BackendCompare['target'],
  result: BackendCompare['result'],
  value: number | string,
): BackendCompare {
  const operand = target === 'value' ? bytes(String(value)) : value;
  const condition = { target, result, value: operand };
  return typeof selected === 'string' ? { key: bytes(selected), ...condition } : { range: selected, ...condition };
}

export function rowText(row: BackendKeyValue): string {
  const { key, value, createRevision, modRevision, version, lease } = row;
  const attached = lease === '0' ? '' : ` lease ${lease}`;
  return `${byteText(key)}=${byteText(value)} (${createRevision},${modRevision},${version})${attached}`;
}

/** Keys alone, where the rest is not what a case is about. */
export function keyTexts(rows: readonly BackendKeyValue[]): string[] {
  return rows.map(({ key }) => byteText(key));
}

export function eventText(event: BackendEvent): string {
  return event.type === 'put' ? `put ${rowText(event.kv)}` : `delete ${byteText(event.key)} (${event.modRevision})`;
}

export function itemText(item: BackendWatchItem): string {
  const events = item.type === 'change' ? ` ${item.events.map(eventText).join(', ')}` : '';
  return `${item.type} ${item.revision}${events}`;
}

/** States before are left out: whether they are told unasked is the backend's affair. */
export function responseText(response: BackendOperationResponse): string {
  switch (response.type) {
    case 'put':
      return 'put';
    case 'delete':
      return `delete ${response.deleted}`;
    case 'txn':
      return `txn ${response.succeeded} [${response.responses.map(responseText).join(', ')}]`;
    case 'range': {
      const { kvs, count, more = false } = response;
      return `range ${kvs.map(rowText).join(' ')} of ${count}${more ? ' more' : ''}`;
    }
  }
}
