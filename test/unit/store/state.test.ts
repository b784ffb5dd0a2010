import { describe, expect, it } from 'vitest';
import { coreModule } from '../../../src/core/module.ts';
import type { Change } from '../../../src/store/commit.ts';
import { tombstone } from '../../../src/store/commit.ts';
import { KeySpace } from '../../../src/store/keyspace.ts';
import { type StateOptions, VersionedState } from '../../../src/store/state.ts';
import { StoreFullError } from '../../../src/types/errors.ts';

/** The versioned state by itself, where it begins anew: everybody else looks at it through a store. */
function open(options: Partial<StateOptions> = {}): VersionedState {
  return new VersionedState({ module: coreModule(), keys: new KeySpace<string>('utf8'), revision: 0, ...options });
}

function put(text: string, revision: number, lease = '0', cell: unknown = text): Change {
  return { text, type: 'put', cell, createRevision: revision, modRevision: revision, version: 1, lease };
}

/** A key with its value, revision and lease, or none. */
function at(state: VersionedState, text: string): string {
  const slot = state.slotOf(text, state.window.revision);
  if (slot < 0) return 'none';
  return `${state.textAt(slot)}=${state.cellAt(slot)}@${state.core.modRevision(slot)}/${state.leaseAt(slot)}`;
}

/** 10 bytes of values are too many. */
const sizes = { max: 9, size: (cell: unknown) => String(cell).length };

describe('physical compaction', () => {
  const rewritten = (commits: number) => {
    const state = open();
    for (let revision = 1; revision <= commits; revision++) {
      state.publish({ revision, changes: [put('a', revision)] }, 'commit');
    }
    state.window.raise(commits, commits);
    return state;
  };

  // The core works on 1363 at once, which is its own affair.
  it.each([1, 100, 1362, 1363, 1364, 1365, 2000, 2999])('takes as many entries as it may: %i', (budget) => {
    const state = rewritten(3001);
    expect([state.compactStep(budget), state.entries()]).toEqual([false, 3001 - budget]);
    expect([state.compactStep(3001 - budget), state.entries()]).toEqual([true, 1]);
    expect(at(state, 'a')).toBe('a=a@3001/0');
  });

  it('keeps no value of what is gone', () => {
    const state = open();
    state.publish({ revision: 1, changes: [put('a', 1, '7', 'old')] }, 'commit');
    const slot = state.slotOf('a', 1);
    state.publish({ revision: 2, changes: [put('a', 2, '0', 'new')] }, 'commit');
    state.window.raise(2, 2);
    expect([state.cellAt(slot), state.leaseAt(slot)]).toEqual(['old', '7']);
    state.compactStep(10);
    expect([state.cellAt(slot), state.leaseAt(slot)]).toEqual([undefined, '0']);
  });
});

describe('whether a key was changed by a commit', () => {
  it('is known as long as the commit is', () => {
    const state = open();
    for (const revision of [3, 5]) state.publish({ revision, changes: [put('a', revision)] }, 'commit');
    expect([2, 3, 4, 5, 6].map((commit) => state.hasCommit('a', commit))).toEqual([false, true, false, true, false]);
    expect(state.hasCommit('b', 3)).toBe(false);
  });
});

describe('a state that is cleared', () => {
  it('has nothing of what was there: keys, values, leases, sizes', () => {
    const state = open({ sizes });
    state.publish({ revision: 5, changes: [put('long', 5, '7', 'valuevalu'), put('b', 5, '8', '')] }, 'commit');
    state.clear();
    expect([state.window.revision, state.entries(), state.keyIdsEnd, state.cellAt(0)]).toEqual([0, 0, 0, undefined]);
    expect([at(state, 'long'), at(state, 'b'), state.hasKey('b')]).toEqual(['none', 'none', false]);
    state.publish({ revision: 2, changes: [put('a', 2, '0', '123456789')] }, 'commit');
    expect(at(state, 'a')).toBe('a=123456789@2/0');
    expect(() => state.publish({ revision: 3, changes: [put('c', 3)] }, 'commit')).toThrow(StoreFullError);
  });

  it('leaves room for deletes as a new one does', () => {
    const state = open({ memoryBytesMax: 1_048_576 });
    const key = (index: number) => `${index}/`.padEnd(400, 'k');
    /** Puts so many keys, then some of them again and again; how often. */
    const fill = (keys: number) => {
      for (let revision = 1; ; revision++) {
        const text = key(revision <= keys ? revision : revision % 100);
        try {
          state.publish({ revision, changes: [put(text, revision)] }, 'commit');
        } catch (error) {
          expect(error).toBeInstanceOf(StoreFullError);
          return revision - 1;
        }
      }
    };
    const remove = (after: number) => {
      for (let count = 1; count <= 7; count++) {
        state.publish({ revision: after + count, changes: [tombstone(key(count), after + count)] }, 'commit');
      }
    };
    const first = fill(100);
    remove(first);
    state.clear();
    const second = fill(1200);
    expect(second).toBeLessThan(first / 2);
    remove(second);
  });
});

describe('a state that is started again with a list', () => {
  it('has the list only; one that does not fit changes nothing', () => {
    const state = open({ sizes });
    state.publish({ revision: 5, changes: [put('a', 5, '7', 'old'), put('b', 5, '0', 'old')] }, 'commit');
    const large = { revision: 9, changes: [put('b', 9, '8', 'too large'), put('c', 9)] };
    expect(() => state.restart(large, 'apply a list')).toThrow(StoreFullError);
    expect([at(state, 'a'), at(state, 'b'), at(state, 'c')]).toEqual(['a=old@5/7', 'b=old@5/0', 'none']);
    expect([state.window.revision, state.entries(), state.keyIdsEnd]).toEqual([5, 2, 2]);
    // 6 of 9 bytes are taken, as before.
    expect(() => state.publish({ revision: 6, changes: [put('d', 6, '0', '1234')] }, 'commit')).toThrow(StoreFullError);
    state.publish({ revision: 6, changes: [put('d', 6, '0', '123')] }, 'commit');
    state.restart({ revision: 9, changes: [put('b', 9, '8', 'all of it')] }, 'apply a list');
    expect([at(state, 'a'), at(state, 'b'), at(state, 'd')]).toEqual(['none', 'b=all of it@9/8', 'none']);
    expect([state.window.revision, state.window.compactRevision, state.window.watchFloor]).toEqual([9, 9, 10]);
  });
});

describe('a state that is full', () => {
  const change = (text: string, revision: number, more: Partial<Change> = {}): Change => ({
    text,
    type: 'put',
    cell: 1,
    createRevision: revision,
    modRevision: revision,
    version: 1,
    lease: '0',
    ...more,
  });

  /** Full, then three keys deleted and compacted: room for one key or another delete, and for nothing that is bounded. */
  function openFull() {
    const keys = new KeySpace<string>('utf8');
    const state = new VersionedState({ module: coreModule(), keys, revision: 1, memoryBytesMax: 1_048_576 });
    let revision = 2 ** 40;
    const publish = (changes: readonly Change[]) => state.publish({ revision: ++revision, changes }, 'test');
    const next = (text: string, more?: Partial<Change>) => change(text, revision + 1, more);
    const gone = { type: 'delete', createRevision: 0, version: 0, cell: undefined } as const;
    let count = 0;
    try {
      for (;;) publish([next(`key/${count++}`)]);
    } catch (error) {
      expect(error).toBeInstanceOf(StoreFullError);
    }
    const compact = () => {
      state.window.compact(state.window.revision, 'test');
      while (!state.compactStep(10_000));
    };
    compact();
    for (let number = 0; number < 20; number++) publish([next(`key/${number}`, gone)]);
    publish([next('key/21')]);
    compact();
    return { state, publish, next, gone, facts: () => [state.core.stats().versions, state.window.revision] };
  }

  it('takes a key where another was, and deletes of many at once', () => {
    const { publish, next, gone, state } = openFull();
    publish([next('key/0')]);
    publish([next('key/0', { version: 2 }), next('key/1'), next('key/30', gone)]);
    state.core.verify();
  });

  it.each<[string, (next: (text: string, more?: Partial<Change>) => Change, gone: Partial<Change>) => Change[]]>([
    ['a new key that is put and deleted', (next, gone) => [next('key/0'), next('key/0', gone)]],
    ['a key that is deleted and put', (next, gone) => [next('key/30', gone), next('key/30')]],
    ['a change of long ago', (next) => [next('key/0', { modRevision: 5, createRevision: 5 })]],
    ['a key made long ago', (next) => [next('key/0', { createRevision: 5 })]],
  ])('refuses at the door what might not fit: %s', (_, make) => {
    const { publish, next, gone, facts, state } = openFull();
    const before = facts();
    expect(() => publish(make(next, gone))).toThrow(StoreFullError);
    expect(facts()).toEqual(before);
    publish([next('key/0')]);
    state.core.verify();
  });

  it('a tombstone has no create revision that could be far', () => {
    const { publish, next, gone } = openFull();
    publish([next('key/30', { ...gone, createRevision: 0 })]);
  });
});

describe('at the memory limit', () => {
  it('pages that were cut from blocks are pages: every invariant of the core holds, and every byte is accounted for', () => {
    const state = open({ memoryBytesMax: 1_179_648 });
    let revision = 0;
    const commit = (change: (revision: number) => Change) => {
      revision++;
      state.publish({ revision, changes: [change(revision)] }, 'commit');
      state.window.raise(revision, revision);
      while (!state.compactStep(10_000));
    };
    const large = (index: number) => `${index}/`.padEnd(20_000, 'k');
    let count = 0;
    const fill = () => {
      for (; ; count++) commit((at) => put(large(count), at));
    };
    expect(fill).toThrow(StoreFullError);
    revision--;
    for (let index = 1; index < count; index++) commit((at) => tombstone(large(index), at));
    // Some pages of the log, one after the other; before, the second had none.
    for (let round = 0; round < 5_000; round++) commit((at) => put('x', at));
    state.core.verify();
    const { memory, claimedBytes } = state.core.stats();
    const sum = Object.values(memory).reduce((all, part) => all + part, 0);
    expect(sum).toBe(claimedBytes);
    expect(at(state, 'x')).toBe(`x=x@${revision}/0`);
  });
});
