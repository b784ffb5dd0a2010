import { jsonPointer } from '../core/json-pointer.ts';
import { ValueError } from '../types/errors.ts';
import type { ProgressDocument } from './record.ts';
import { isRecord } from './record-place.ts';

/** What a member has to be. Members that are not named here, also those of a later version of this program, may be anything. */
type Shape = 'text' | 'number' | 'table' | 'list' | { readonly [name: string]: Shape } | Optional;

interface Optional {
  readonly maybe: Shape;
  /** Absent if not. */
  readonly orNull: boolean;
}

const orNull = (maybe: Shape): Optional => ({ maybe, orNull: true });
const orAbsent = (maybe: Shape): Optional => ({ maybe, orNull: false });

const WAIT = { wakeAtWallMs: 'number', delayMs: 'number' } as const;

const RECORD: Shape = {
  attempt: orNull({ digest: 'text', state: 'text', failures: 'number', opened: orAbsent('text'), ...WAIT }),
  done: orNull('text'),
  at: 'number',
  episode: 'number',
  plan: orAbsent('list'),
  tried: orAbsent('list'),
  schema: orAbsent('text'),
  doneSchema: orAbsent('text'),
  absentSinceWallMs: orAbsent('number'),
  retirement: orAbsent({ episode: 'number', failures: 'number', ...WAIT }),
};

const PLANNED: Shape = { id: 'text', field: orAbsent('text'), selected: orAbsent('text') };

const DOCUMENT: Shape = {
  uid: 'text',
  name: 'text',
  gen: 'number',
  writeId: 'text',
  tick: 'number',
  resourceVersion: 'text',
  records: 'table',
  bases: 'table',
};

const STATES: readonly unknown[] = ['open', 'ok', 'failed'];

/**
 * Refuses a document that a progress store has handed out and that somebody has spoilt: to go on with a part of it would be
 * to do again what was done, or never what is due.
 *
 * Throws `ValueError` with the pointer of the part at fault.
 */
export function checkDocument(name: string, document: ProgressDocument): void {
  const action = `read the progress of ${JSON.stringify(name)}`;
  check(action, [], document, DOCUMENT);
  for (const [id, record] of Object.entries(document.records)) {
    const path = ['records', id];
    check(action, path, record, RECORD);
    if (record.attempt !== null && !STATES.includes(record.attempt.state)) {
      throw fault(action, [...path, 'attempt', 'state'], `is none of ${STATES.join(', ')}`);
    }
    for (const [index, entry] of (record.plan ?? []).entries()) check(action, [...path, 'plan', index], entry, PLANNED);
    for (const [index, tried] of (record.tried ?? []).entries()) check(action, [...path, 'tried', index], tried, {});
  }
}

type Path = readonly (string | number)[];

function check(action: string, path: Path, value: unknown, shape: Shape): void {
  if (typeof shape === 'string') {
    if (!isOf(shape, value)) throw fault(action, path, `is no ${shape}`);
    return;
  }
  if (isOptional(shape)) {
    if (value !== (shape.orNull ? null : undefined)) check(action, path, value, shape.maybe);
    return;
  }
  if (!isRecord(value)) throw fault(action, path, 'is no object');
  for (const [name, inner] of Object.entries(shape)) check(action, [...path, name], value[name], inner);
}

function isOptional(shape: Exclude<Shape, string>): shape is Optional {
  return typeof shape.orNull === 'boolean';
}

function isOf(shape: Extract<Shape, string>, value: unknown): boolean {
  switch (shape) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'table':
      return isRecord(value);
    case 'list':
      return Array.isArray(value);
  }
}

function fault(action: string, path: Path, reason: string): ValueError {
  return new ValueError(action, { path: jsonPointer(path), reason });
}
