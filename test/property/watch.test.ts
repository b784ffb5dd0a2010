import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareBytes, compareKeyText, prefixEnd, rangeHas } from '../../src/core/key-order.ts';
import { KeySpace } from '../../src/store/keyspace.ts';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import { PendingWatchers } from '../../src/watch/pending-watchers.ts';
import { WakeIndex } from '../../src/watch/wake-index.ts';
import { sized } from '../support/size.ts';

/** Key order and wake-ups against what bytes say. Text that JavaScript orders wrongly is common here. */
const numRuns = sized({ smoke: 500, full: 20_000 });
const text = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      '/',
      '\0',
      '\u007f',
      '\u0080',
      '\u00ff',
      '\u07ff',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{10ffff}',
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));
const bytes = fc
  .uint8Array({ maxLength: 4 })
  .map((value) => value.map((byte) => [0, 1, 97, 98, 127, 128, 254, 255][byte & 7] as number));

const MODES: ['utf8' | 'bytes', fc.Arbitrary<Key>][] = [
  ['utf8', text],
  ['bytes', bytes],
];

const encoder = new TextEncoder();
const bytesOf = (key: Key) => (typeof key === 'string' ? encoder.encode(key) : key);

function rangeOf<K extends Key>(key: fc.Arbitrary<K>): fc.Arbitrary<KeyRange<K>> {
  const whole = key.filter(({ length }) => length > 0);
  return fc.oneof(
    whole.map((point) => ({ key: point })),
    key.map((prefix) => ({ prefix })),
    key.map((start) => ({ start })),
    fc.tuple(key, key).map(([start, end]) => ({ start, end })),
  );
}

/** Membership by bytes alone. */
function holds(range: KeyRange<Key>, key: Key): boolean {
  const at = bytesOf(key);
  if ('key' in range) return compareBytes(at, bytesOf(range.key)) === 0;
  if ('prefix' in range) {
    const prefix = bytesOf(range.prefix);
    return compareBytes(at.slice(0, prefix.length), prefix) === 0;
  }
  return (
    compareBytes(at, bytesOf(range.start)) >= 0 && (range.end === undefined || compareBytes(at, bytesOf(range.end)) < 0)
  );
}

describe('key order', () => {
  it('key text sorts like its UTF-8 bytes (store:U46)', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareKeyText(a, b))).toBe(Math.sign(compareBytes(encoder.encode(a), encoder.encode(b))));
      }),
      { numRuns },
    );
  });

  it('the end of a prefix separates its keys from all that follow (store:R7)', () => {
    fc.assert(
      fc.property(bytes, bytes, (prefix, key) => {
        const end = prefixEnd(prefix);
        const isInside = compareBytes(key, prefix) >= 0 && (end.length === 0 || compareBytes(key, end) < 0);
        expect(isInside).toBe(holds({ prefix }, key));
      }),
      { numRuns },
    );
  });

  it.each(MODES)('a resolved range of %s keys holds what its bytes hold', (mode, key) => {
    const keys = new KeySpace<Key>(mode);
    fc.assert(
      fc.property(
        rangeOf<Key>(key),
        key.filter(({ length }) => length > 0),
        (range, probe) => {
          const resolved = keys.resolve(range, 'test');
          expect(keys.byteLength(keys.text(probe, 'test'))).toBe(bytesOf(probe).length);
          expect(rangeHas(resolved, keys.text(probe, 'test'))).toBe(holds(range, probe));
          const { start, end } = resolved.bytes;
          const at = bytesOf(probe);
          const byBytes =
            end === undefined
              ? compareBytes(at, start) === 0
              : compareBytes(at, start) >= 0 && (end.length === 0 || compareBytes(at, end) < 0);
          if (!resolved.empty) expect(byBytes).toBe(holds(range, probe));
        },
      ),
      { numRuns },
    );
  });
});

describe('WakeIndex', () => {
  it.each(MODES)('visits exactly the entries whose range holds a %s key, once each', (mode, key) => {
    const keys = new KeySpace<Key>(mode);
    const step = fc.record({
      range: rangeOf<Key>(key),
      probe: key.filter(({ length }) => length > 0),
      remove: fc.nat(200),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const index = new WakeIndex<KeyRange<Key>>();
        const inside: KeyRange<Key>[] = [];
        for (const { range, probe, remove } of steps) {
          const out = inside[remove];
          if (out === undefined) {
            index.add(keys.resolve(range, 'test'), range);
            inside.push(range);
          } else {
            index.remove(keys.resolve(out, 'test'), out);
            inside.splice(remove, 1);
            // Every other one comes back, as a watcher does that has read.
            if (remove % 2 === 0) {
              index.add(keys.resolve(out, 'test'), out);
              inside.push(out);
            }
          }
          const seen: KeyRange<Key>[] = [];
          index.visit(keys.text(probe, 'test'), (entry) => seen.push(entry));
          const expected = inside.filter((entry) => !keys.resolve(entry, 'test').empty && holds(entry, probe));
          expect(seen.length).toBe(expected.length);
          expect(new Set(seen)).toEqual(new Set(expected));
        }
      }),
      { numRuns: numRuns / 5 },
    );
  });

  it('finds intervals by the hundred, while they come, leave and come back', () => {
    const keys = new KeySpace<Key>('utf8');
    const number = fc.nat(99).map((n) => String(n).padStart(2, '0'));
    const step = fc.record({ start: number, end: fc.option(number), probe: number, leaves: fc.nat(300) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 400 }), (steps) => {
        const index = new WakeIndex<KeyRange<string>>();
        const inside: KeyRange<string>[] = [];
        for (const { start, end, probe, leaves } of steps) {
          const range = { start, end: end ?? undefined } as KeyRange<string>;
          index.add(keys.resolve(range, 'test'), range);
          inside.push(range);
          for (const out of inside.splice(leaves, leaves % 3 === 0 ? 40 : 1)) {
            index.remove(keys.resolve(out, 'test'), out);
            if (leaves % 2 === 0) continue;
            index.add(keys.resolve(out, 'test'), out);
            inside.push(out);
          }
          const seen: KeyRange<string>[] = [];
          index.visit(keys.text(probe, 'test'), (entry) => seen.push(entry));
          const expected = inside.filter((entry) => !keys.resolve(entry, 'test').empty && holds(entry, probe));
          expect(seen.length).toBe(expected.length);
          expect(new Set(seen)).toEqual(new Set(expected));
        }
      }),
      { numRuns: numRuns / 20 },
    );
  });
});

describe('PendingWatchers', () => {
  it('takes exactly those below a revision, by position, whatever came and left before', () => {
    const step = fc.record({
      kind: fc.constantFrom('come', 'come', 'come', 'move', 'leave', 'take'),
      at: fc.nat(20),
      who: fc.nat(60),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const pending = new PendingWatchers<{ state: string; position: number }>();
        let model: { state: string; position: number }[] = [];
        let floor = 1;
        for (const { kind, at, who } of steps) {
          const entry = model[who % (model.length + 1)];
          if (kind === 'come') {
            const made = { state: 'pending', position: floor + at };
            pending.add(made);
            model.push(made);
          } else if (kind === 'take') {
            floor += at % 4;
            const taken = pending.takeBelow(floor);
            for (const one of taken) one.state = 'ended';
            const expected = model.filter(({ position }) => position < floor);
            expect(taken.length).toBe(expected.length);
            expect(new Set(taken)).toEqual(new Set(expected));
            expect(taken.map(({ position }) => position)).toEqual(
              taken.map((one) => one.position).sort((a, b) => a - b),
            );
            model = model.filter(({ position }) => position >= floor);
          } else if (entry !== undefined) {
            const { position } = entry;
            if (kind === 'leave') {
              entry.state = 'idle';
              model = model.filter((one) => one !== entry);
              pending.left(position);
            } else {
              entry.position += 1 + at;
              pending.left(position);
              pending.add(entry);
            }
          }
          expect(pending.size).toBe(model.length);
        }
      }),
      { numRuns },
    );
  });
});
