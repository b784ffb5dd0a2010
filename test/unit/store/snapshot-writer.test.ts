import { describe, expect, it } from 'vitest';
import { CHECKSUM_BYTES } from '../../../src/store/snapshot-format.ts';
import { StepLength } from '../../../src/store/snapshot-steps.ts';
import { SnapshotWriter } from '../../../src/store/snapshot-writer.ts';

const CHUNK_BYTES = 65_536;

function join(writer: SnapshotWriter): Uint8Array {
  const steps = writer.join(new StepLength());
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value.subarray(0, value.length - CHECKSUM_BYTES);
  }
}

const many = Array.from({ length: 40 }, (_, index) => index);

describe('bytes of a snapshot', () => {
  const writes: [string, (writer: SnapshotWriter) => void, number[]][] = [
    ['a byte', (writer) => writer.byte(7), [7]],
    ['32 bits', (writer) => writer.u32(0x87654321), [0x21, 0x43, 0x65, 0x87]],
    ['a number', (writer) => writer.number(300), [172, 2]],
    ['the largest number', (writer) => writer.number(Number.MAX_SAFE_INTEGER), [255, 255, 255, 255, 255, 255, 255, 15]],
    ['bytes', (writer) => writer.bytes(Uint8Array.of(9, 8)), [2, 9, 8]],
    ['text', (writer) => writer.text('hé'), [3, 104, 0xc3, 0xa9]],
    ['more bytes than a number has', (writer) => writer.bytes(Uint8Array.from(many)), [40, ...many]],
    ['text of one byte a character', (writer) => writer.text('a'.repeat(40)), [40, ...Array<number>(40).fill(97)]],
  ];

  for (const [name, write, bytes] of writes) {
    it(`${name} is there whole, wherever in a chunk it begins`, () => {
      for (let free = 0; free <= bytes.length + 1; free++) {
        const writer = new SnapshotWriter();
        writer.raw(new Uint8Array(CHUNK_BYTES - free));
        write(writer);
        writer.byte(255);
        expect(writer.length).toBe(CHUNK_BYTES - free + bytes.length + 1);
        expect([...join(writer).subarray(CHUNK_BYTES - free)], `${free} bytes free`).toEqual([...bytes, 255]);
      }
    });
  }
});
