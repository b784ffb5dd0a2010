import { describe, expect, it } from 'vitest';
import { type Span, Window } from '../../../src/store/window.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { CompactedError } from '../../../src/types/errors.ts';
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
