import { describe, expect, it, vi } from 'vitest';
import { coreModule } from '../../../src/core/module.ts';
import { type Change, tombstone } from '../../../src/store/commit.ts';
import { KeySpace } from '../../../src/store/keyspace.ts';
import { VersionedState } from '../../../src/store/state.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { StoreFullError } from '../../../src/types/errors.ts';
import { reproduce, testSeed } from '../../support/size.ts';

/** From here on a number takes a block of its own in the core. */
const FAR = 2 ** 32 - 2;

const open = () =>
  new VersionedState({
    module: coreModule(),
    keys: new KeySpace<string>('utf8'),
    revision: 0,
    memoryBytesMax: 2 ** 24,
  });

const put = (text: string, modRevision: number, createRevision = modRevision): Change => ({
  text,
  type: 'put',
  cell: text,
  createRevision,
  modRevision,
  version: 1,
  lease: '0',
});

/** Whoever asks for what it needs is refused once, as in a store that is full. */
function refuse(state: VersionedState) {
  const error = new StoreFullError('commit', 2 ** 24);
  vi.spyOn(state.core, 'reserve').mockImplementation(() => {
    throw error;
  });
  return { error, exact: vi.spyOn(state.core, 'reserveExact') };
}

describe('the room that a commit asks for', () => {
  it('is that of its changes, of the keys that are new, and of deletes after a put', () => {
    const random = createSeededRandom(testSeed());
    const state = open();
    const asked = vi.spyOn(state.core, 'reserve');
    const known = new Set<string>();
    for (let revision = 1; revision <= 200; revision++) {
      const count = 1 + Math.floor(random() * 4);
      const texts = new Set(Array.from({ length: count }, () => 'é'.repeat(1 + Math.floor(random() * 30))));
      const isDelete = revision % 3 === 0;
      const changes = [...texts].map((text) => (isDelete ? tombstone(text, revision) : put(text, revision)));
      state.publish({ revision, changes }, 'commit');
      const lengths = [...texts].filter((text) => !known.has(text)).map((text) => 2 * text.length);
      const need = {
        events: changes.length + (isDelete ? (changes.length > 1 ? 1 : 0) : 7),
        newKeys: lengths.length,
        newKeyBytes: lengths.reduce((sum, length) => sum + length, 0),
        longestKeyBytes: Math.max(0, ...lengths),
      };
      expect(asked.mock.lastCall, reproduce('unit')).toEqual(['commit', need]);
      for (const text of texts) known.add(text);
    }
  });

  it('is told key by key where the store is full', () => {
    const state = open();
    state.publish({ revision: 1, changes: [put('a', 1), put('b', 1)] }, 'commit');
    const { exact } = refuse(state);
    state.publish({ revision: 2, changes: [put('b', 2), put('long', 2), put('c', 2)] }, 'commit');
    state.publish({ revision: 3, changes: [tombstone('a', 3)] }, 'commit');
    state.publish({ revision: 4, changes: [tombstone('b', 4), tombstone('c', 4)] }, 'commit');
    const [a, b, c] = ['a', 'b', 'c'].map((key) => state.core.findKey(key));
    expect(exact.mock.calls).toEqual([
      ['commit', { keyIds: [b], newKeys: ['long', 'c'], longestKeyBytes: 4, deletesAhead: 7 }],
      ['commit', { keyIds: [a], newKeys: [], longestKeyBytes: 0, deletesAhead: 0 }],
      // The two stay until another revision follows: there has to be room for one.
      ['commit', { keyIds: [b, c], newKeys: [], longestKeyBytes: 0, deletesAhead: 1 }],
    ]);
  });

  it.each([
    ['is far below its revision', tombstone('a', 1), false],
    ['was created far below its revision', put('a', FAR + 1, 1), false],
    ['is as near as it may be', tombstone('a', 2), true],
    ['was created as near as it may be', put('a', FAR + 1, 2), true],
  ])('cannot be told for a version that %s: %#', (_what, change, isTold) => {
    const state = open();
    const { exact } = refuse(state);
    // This core has no room at all yet, so it refuses the exact question, too: that it is asked is the point.
    expect(() => state.publish({ revision: FAR + 1, changes: [change] }, 'commit')).toThrow(StoreFullError);
    expect(exact).toHaveBeenCalledTimes(isTold ? 1 : 0);
  });

  it('cannot be told for a commit that writes a key twice', () => {
    const state = open();
    const { error, exact } = refuse(state);
    const changes = [put('a', 1), tombstone('a', 1)];
    expect(() => state.publish({ revision: 1, changes }, 'commit')).toThrow(error);
    expect(exact).not.toHaveBeenCalled();
  });
});
