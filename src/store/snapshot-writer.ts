import { utf8Length } from './keyspace.ts';
import { CHECKSUM_BYTES } from './snapshot-format.ts';
import type { StepLength } from './snapshot-steps.ts';

const CHUNK_BYTES = 65_536;
/** Longest LEB128 of a safe integer. */
const NUMBER_BYTES_MAX = 8;
/** A call of the encoder is dearer than so many units one by one. */
const LOOP_UNITS_MAX = 48;
/** Work for each byte that is copied. */
const BYTE_UNITS = 0.0005;

/** Bytes of a snapshot in the making: chunks, put together at the end, so that growing never copies what is there. */
export class SnapshotWriter {
  readonly #chunks: Uint8Array[] = [];
  #chunk: Uint8Array = new Uint8Array(CHUNK_BYTES);
  #at = 0;
  #before = 0;
  readonly #encoder = new TextEncoder();

  get length(): number {
    return this.#before + this.#at;
  }

  byte(value: number): void {
    this.#room(1);
    this.#chunk[this.#at++] = value;
  }

  /** 32 bits, the lowest byte first. */
  u32(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.byte((value >>> shift) & 255);
  }

  /** A safe integer from 0 on, as LEB128. */
  number(value: number): void {
    this.#room(NUMBER_BYTES_MAX);
    const chunk = this.#chunk;
    let rest = value;
    while (rest >= 128) {
      chunk[this.#at++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    chunk[this.#at++] = rest;
  }

  /** Raw, without their length. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#chunk.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  bytes(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.raw(bytes);
  }

  /** Well-formed text as its length in UTF-8, and the UTF-8. */
  text(text: string): void {
    const length = utf8Length(text);
    this.number(length);
    this.#room(length);
    const chunk = this.#chunk;
    const start = this.#at;
    this.#at += length;
    if (length !== text.length || length > LOOP_UNITS_MAX) {
      this.#encoder.encodeInto(text, chunk.subarray(start, this.#at));
      return;
    }
    for (let index = 0; index < length; index++) chunk[start + index] = text.charCodeAt(index);
  }

  /** Everything in one piece, with room for the checksum behind it. Nothing can be written after. */
  *join(step: StepLength): Generator<void, Uint8Array> {
    this.#close();
    const all = new Uint8Array(this.#before + CHECKSUM_BYTES);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
      if (step.isOver(chunk.length * BYTE_UNITS)) yield;
    }
    return all;
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#chunk.length) return;
    this.#close();
    this.#chunk = new Uint8Array(Math.max(CHUNK_BYTES, bytes));
  }

  #close(): void {
    this.#chunks.push(this.#chunk.subarray(0, this.#at));
    this.#before += this.#at;
    this.#at = 0;
  }
}
