import { createHash } from 'node:crypto';
import type { KeyValue } from '../../types/revision.ts';
import { DataError } from '../errors.ts';
import type { CliHost } from '../host.ts';
import { createScanner, parseJsonText } from '../json-text.ts';
import { readAll } from '../line-splitter.ts';
import type { Difference, Resource } from './difference.ts';

/** What a truth file says about the state after the last event. */
export interface TruthFile {
  /** SHA-256 in hex of the sorted lines `key uid resourceVersion\n` of the objects that live. */
  readonly sha256: string;
  readonly objects: number | undefined;
  readonly events: number | undefined;
}

const TRUTH_BYTES_MAX = 16 * 1024 * 1024;

/** Throws `DataError` for a file that cannot be read or says nothing that can be checked. */
export async function readTruthFile(host: CliHost, path: string): Promise<TruthFile> {
  const input = host.openInput(path);
  const action = `read the truth from ${input.name}`;
  const bytes = await readAll(input.chunks, action, TRUTH_BYTES_MAX);
  const fields = parseFields(bytes, action);
  const sha256 = fields.final_state_sha256;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new DataError(action, 'final_state_sha256 is not a SHA-256 in hexadecimal digits');
  }
  return {
    sha256,
    objects: countOf(fields, 'live_objects_at_end', action),
    events: countOf(fields, 'events', action),
  };
}

function parseFields(bytes: Uint8Array, action: string): Readonly<Record<string, unknown>> {
  const value = parseJsonText({ bytes, line: 1, offset: 0 }, action, createScanner());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DataError(action, 'it is not a JSON object');
  }
  return value as Readonly<Record<string, unknown>>;
}

function countOf(fields: Readonly<Record<string, unknown>>, field: string, action: string): number | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new DataError(action, `${field} is ${JSON.stringify(value)}, not an integer`);
  }
  return value;
}

/** The hash of a list, by the rule of the truth file. Lines are sorted by bytes. */
export function hashState(kvs: readonly KeyValue<Resource>[]): string {
  const lines = kvs.map(({ key, value }) => {
    const { uid = '', resourceVersion } = value.metadata as Readonly<Record<string, string>>;
    return Buffer.from(`${key} ${uid} ${resourceVersion}\n`);
  });
  lines.sort(Buffer.compare);
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line);
  return hash.digest('hex');
}

export function compareTruth(
  truth: TruthFile,
  kvs: readonly KeyValue<Resource>[],
  events: number,
): Difference | undefined {
  const facts: readonly (readonly [string, unknown, unknown])[] = [
    ['events', truth.events, events],
    ['live_objects_at_end', truth.objects, kvs.length],
    ['final_state_sha256', truth.sha256, hashState(kvs)],
  ];
  const wrong = facts.find(([, expected, actual]) => expected !== undefined && expected !== actual);
  return wrong === undefined ? undefined : { key: wrong[0], expected: String(wrong[1]), actual: String(wrong[2]) };
}
