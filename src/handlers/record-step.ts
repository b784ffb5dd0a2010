import type { Opening } from './document-step.ts';
import { withTried } from './planned-record.ts';
import { type Attempt, type HandlerRecord, recordWith } from './record.ts';
import { doneSchemaOf, schemaText } from './schema.ts';

/**
 * A record with an attempt that is opened at a tick. One that is open on the digest already keeps its episode and its count; any
 * other digest, or a settled one opened anew, begins an episode. If the view is defined otherwise by now, the record goes on
 * to know how that of its `done` was (A14').
 */
export function openedRecord(
  known: HandlerRecord | undefined,
  digest: string,
  tick: number,
  { tried, schema }: Opening,
): HandlerRecord {
  const open = known?.attempt?.digest === digest && known.attempt.state === 'open' ? known : undefined;
  const attempt = open?.attempt ?? freshAttempt(digest);
  const episode = open?.episode ?? tick;
  let record: HandlerRecord =
    known === undefined
      ? { attempt, done: null, at: tick, episode }
      : recordWith(unmarked(known), attempt, known.done, tick, episode);
  if (tried !== undefined) record = { ...record, tried: withTried(known?.tried ?? [], tried) };
  if (schema !== undefined) record = { ...record, schema };
  if (known !== undefined && known.done !== null && doneSchemaOf(known) !== schema) {
    record = { ...record, doneSchema: schemaText(doneSchemaOf(known)) };
  }
  return record;
}

/** A record without what is noted anew with each attempt. */
function unmarked(record: HandlerRecord): HandlerRecord {
  const { schema, absentSinceWallMs, doneSchema } = record;
  if (schema === undefined && absentSinceWallMs === undefined && doneSchema === undefined) return record;
  const { schema: _schema, absentSinceWallMs: _absent, doneSchema: _doneSchema, ...rest } = record;
  return rest;
}

/** A record that gets a new `done`, which is defined as its attempt is. */
export function redone(record: HandlerRecord): HandlerRecord {
  if (record.doneSchema === undefined) return record;
  const { doneSchema: _doneSchema, ...rest } = record;
  return rest;
}

export function freshAttempt(digest: string): Attempt {
  return { digest, state: 'open', failures: 0, wakeAtWallMs: 0, delayMs: 0 };
}
