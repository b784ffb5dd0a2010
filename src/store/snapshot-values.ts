import { ValueError } from '../types/errors.ts';
import type { Key } from '../types/revision.ts';
import { frozenCopy } from './json-data.ts';
import {
  badSnapshot,
  FORM_CODEC,
  FORM_PLAIN,
  KIND_BYTES,
  KIND_CODEC,
  KIND_JSON,
  KIND_TEXT,
  type SnapshotHeader,
} from './snapshot-format.ts';
import type { SnapshotReader } from './snapshot-reader.ts';
import type { ValuePolicy } from './values.ts';

/** A value as a snapshot has it. */
export interface SnapshotValue {
  readonly kind: number;
  readonly content: string | Uint8Array;
}

const CREATE = 'create a snapshot';
const OPEN = 'open a store from a snapshot';
const KEY_CHARS_MAX = 100;

/**
 * Cells to what a snapshot keeps of them, and back.
 *
 * | store | cell | kind | back |
 * |---|---|---|---|
 * | with a codec | bytes | codec's bytes | the same bytes; the codec runs when they are read |
 * | without | string, bytes | text, bytes | the same |
 * | without | other data | JSON text | a private copy, as a put makes |
 *
 * Limits of the store do not bound what a snapshot brings.
 */
export class SnapshotValues {
  readonly #policy: ValuePolicy<unknown>;
  readonly form: SnapshotHeader['form'];

  constructor(policy: ValuePolicy<unknown>) {
    this.#policy = policy;
    this.form = policy.form === 'encoded' ? FORM_CODEC : FORM_PLAIN;
  }

  /** Throws `ValueError` for a shared value that has no bytes, and what a getter of it throws. */
  fromCell(cell: unknown, key: () => Key): SnapshotValue {
    if (this.form === FORM_CODEC) return { kind: KIND_CODEC, content: this.#policy.bytes(cell) };
    if (cell instanceof Uint8Array) return { kind: KIND_BYTES, content: cell };
    const data = this.#policy.form === 'trusted' ? dataOf(cell, key) : cell;
    if (typeof data === 'string') return { kind: KIND_TEXT, content: data };
    return { kind: KIND_JSON, content: JSON.stringify(data) };
  }

  /** Reads the value behind a kind. Throws `SnapshotError`. */
  toCell(kind: number, reader: SnapshotReader): unknown {
    const isCodec = kind === KIND_CODEC;
    if (isCodec !== (this.form === FORM_CODEC))
      throw badSnapshot('a value in the snapshot has another form than the rest');
    switch (kind) {
      case KIND_CODEC:
      case KIND_BYTES:
        return this.#policy.admitBytes(reader.bytes());
      case KIND_TEXT:
        return reader.text();
      case KIND_JSON:
        return parse(reader.text());
      default:
        throw badSnapshot(`a row in the snapshot is of the unknown kind ${kind}`);
    }
  }
}

/** Says why values of one form are no use to a store of the other. */
export function checkForm(header: SnapshotHeader, values: SnapshotValues): void {
  if (header.form === values.form) return;
  throw badSnapshot(
    header.form === FORM_CODEC
      ? 'the values of the snapshot are bytes of a codec, and the store has none'
      : 'the values of the snapshot were put without a codec, and the store has one',
  );
}

/** A private copy of the data: what is shared may have getters, which must not answer twice. */
function dataOf(cell: unknown, key: () => Key): unknown {
  try {
    return frozenCopy(cell, CREATE);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const owner = key();
    const name = JSON.stringify(String(owner).slice(0, KEY_CHARS_MAX));
    throw new ValueError(CREATE, { path: error.path, reason: `of key ${name} ${error.reason}`, key: owner });
  }
}

function parse(text: string): unknown {
  try {
    return frozenCopy(JSON.parse(text), OPEN);
  } catch (error) {
    // Whatever it is: text that is nested too deep is no SyntaxError everywhere.
    throw badSnapshot('a value in the snapshot is not JSON data', { cause: error });
  }
}
