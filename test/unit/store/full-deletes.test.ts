import { describe, expect, it } from 'vitest';
import { coreModule } from '../../../src/core/module.ts';
import { putChange, tombstone } from '../../../src/store/commit.ts';
import { KeySpace } from '../../../src/store/keyspace.ts';
import { VersionedState } from '../../../src/store/state.ts';
import { StoreFullError } from '../../../src/types/errors.ts';

/** M37 at its edge: a commit of deletes alone leaves no room for others, so it is refused only if it does not fit itself. */
function fullState(): { state: VersionedState; texts: string[] } {
  const keys = new KeySpace<string>('utf8');
  const state = new VersionedState({ module: coreModule(), keys, revision: 1, memoryBytesMax: 1_048_576 });
  const texts: string[] = [];
  for (;;) {
    const revision = state.window.revision + 1;
    const text = `k${texts.length}`;
    try {
      state.publish({ revision, changes: [putChange({ text, cell: 1, lease: '0' }, revision, undefined)] }, 'put');
      texts.push(text);
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
      return { state, texts };
    }
  }
}

const fits = (run: () => void): boolean => {
  try {
    run();
    return true;
  } catch (error) {
    if (!(error instanceof StoreFullError)) throw error;
    return false;
  }
};

describe('deletes in a store that is full to the slot', () => {
  it.each([1, 2, 3])('M37: %d at a time are taken as long as the core has room for just them', (size) => {
    const { state, texts } = fullState();
    let taken = 0;
    for (let index = 0; index + size <= texts.length; index += size) {
      const chosen = texts.slice(index, index + size);
      const keyIds = chosen.map((text) => state.core.findKey(text));
      const need = { keyIds, newKeys: [], longestKeyBytes: 0, deletesAhead: 0 };
      const hasRoom = fits(() => state.core.reserveExact('delete', need));
      const revision = state.window.revision + 1;
      const changes = chosen.map((text) => tombstone(text, revision));
      expect([index, fits(() => state.publish({ revision, changes }, 'delete'))]).toEqual([index, hasRoom]);
      if (!hasRoom) break;
      taken++;
    }
    expect(taken).toBeGreaterThan(0);
    expect(taken * size).toBeLessThan(texts.length);
  });
});
