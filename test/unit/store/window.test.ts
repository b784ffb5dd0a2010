import { describe, expect, it } from 'vitest';
import { type Span, Window } from '../../../src/store/window.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { CompactedError, FutureRevisionError } from '../../../src/types/errors.ts';
import { reproduce, testSeed } from '../../support/size.ts';

/** What the window says of a revision, each by a scan of all spans. */
function scan(spans: readonly Span[], revision: number) {
  const readHole = spans.find(({ after, revision: end }) => after < revision && revision < end);
  const startHole = spans.find(({ after, revision: end }) => after + 1 < revision && revision <= end);
  return {
    readable: readHole === undefined ? revision : `from ${readHole.revision}`,
    illegalStart: startHole === undefined ? 0 : startHole.revision + 1,
    isInHole: spans.some(({ after, revision: end }) => after < revision && revision <= end),
    span: spans.find(({ revision: end }) => end === revision),
  };
}

function look(window: Window, revision: number) {
  const readable = () => {
    try {
      return window.readable(revision, 'read');
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      return `from ${error.minRevision}`;
    }
  };
  return {
    readable: readable(),
    illegalStart: window.illegalStart(revision),
    isInHole: window.isInHole(revision),
    span: window.spanAt(revision),
  };
}

describe('spans', () => {
  it('are found wherever they lie: commits and spans of all lengths, one behind the other', () => {
    const random = createSeededRandom(testSeed());
    for (let round = 0; round < 30; round++) {
      const window = new Window(1);
      const spans: Span[] = [];
      let at = 1;
      for (let step = 0; step < 40; step++) {
        const after = at;
        at += 1 + Math.floor(random() * 4);
        if (random() < 0.5) {
          window.advance(at, after);
          spans.push({ after, revision: at });
        } else window.advance(at);
      }
      for (let revision = 1; revision <= at; revision++) {
        expect(look(window, revision), `${reproduce('unit')}, revision ${revision}`).toEqual(scan(spans, revision));
      }
    }
  });
});

describe('whether there are spans', () => {
  it('is known from the first one to the compaction of the last', () => {
    const window = new Window(1);
    const seen = [window.hasSpans];
    window.advance(9, 1);
    seen.push(window.hasSpans);
    window.advance(12);
    window.compact(9, 'compact');
    seen.push(window.hasSpans);
    window.compact(10, 'compact');
    expect([...seen, window.hasSpans]).toEqual([false, true, true, false]);
  });
});

describe('the first snapshot of a replica', () => {
  it('M15: is the oldest that can be read, watches start behind it, and no span is left', () => {
    const window = new Window(0);
    window.advance(30, 0);
    window.prime(30);
    expect([window.revision, window.compactRevision, window.watchFloor, window.hasSpans]).toEqual([30, 30, 31, false]);
    const other = new Window(0);
    other.prime(7);
    expect([other.revision, other.compactRevision, other.watchFloor]).toEqual([7, 7, 8]);
  });
});

describe('compaction as far as a pin lets it', () => {
  /** A hole (9, 30], a span without one (30, 31], then 40. */
  function open(): Window {
    const window = new Window(9);
    window.advance(30, 9);
    window.advance(31, 30);
    window.advance(40);
    return window;
  }

  it.each<[n: number, pinned: number, compactRevision: number, watchFloor: number]>([
    [8, 9, 8, 8],
    [9, 9, 9, 9],
    [10, 8, 8, 8],
    [10, 9, 9, 9],
    [29, 9, 9, 9],
    [30, 9, 9, 9],
    [40, 9, 9, 9],
    [10, 30, 30, 31],
    [29, 31, 30, 31],
    [40, 30, 30, 31],
    [31, 40, 31, 31],
    [40, 31, 31, 31],
    [40, 40, 40, 40],
  ])('compact(%i) with a pin at %i: C = %i, W = %i', (n, pinned, compactRevision, watchFloor) => {
    const window = open();
    expect(window.compact(n, 'compact', pinned)).toBe(compactRevision);
    expect([window.compactRevision, window.watchFloor]).toEqual([compactRevision, watchFloor]);
    expect(window.readable(pinned, 'read')).toBe(pinned);
  });

  it('never lowers a floor, and judges the request, not what becomes of it', () => {
    const window = new Window(0);
    window.prime(20);
    window.advance(30);
    expect(window.compact(25, 'compact', 20)).toBe(20);
    expect(window.watchFloor).toBe(21);
    expect(() => window.compact(20, 'compact', 20)).toThrow(CompactedError);
    expect(() => window.compact(31, 'compact', 20)).toThrow(FutureRevisionError);
  });

  it('the first one to 0 is legal with a pin too, the second is not', () => {
    const window = new Window(1);
    expect(window.compact(0, 'compact', 1)).toBe(0);
    expect(() => window.compact(0, 'compact', 1)).toThrow(CompactedError);
  });
});
