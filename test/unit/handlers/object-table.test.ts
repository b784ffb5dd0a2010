import { describe, expect, it } from 'vitest';
import { ObjectTable } from '../../../src/handlers/object-table.ts';
import { defaultViewBy } from '../../../src/handlers/view.ts';
import type { SourceObject } from '../../../src/types/source.ts';

function createTable() {
  const changes: string[] = [];
  const table = new ObjectTable(
    (a, b) => Number(a) - Number(b),
    { process: 'p', defaultView: defaultViewBy(undefined, undefined), onFault: () => {} },
    (name) => changes.push(name),
  );
  const versionOf = (name: string): string | undefined => {
    const newest = table.get(name)?.newest;
    return newest === undefined ? undefined : `${newest.uid} v${newest.resourceVersion}`;
  };
  return { table, changes, versionOf };
}

function state(uid: string, version: number, name = 'o'): SourceObject {
  return { name, uid, resourceVersion: String(version), deleting: false, object: {} };
}

describe("the newest state (A1')", () => {
  it('counts only if its version is higher', () => {
    const { table, changes, versionOf } = createTable();
    for (const version of [5, 3, 5, 7, 6]) table.observe(state('u', version));
    expect(versionOf('o')).toBe('u v7');
    expect(changes).toEqual(['o', 'o']);
  });

  it('compares versions by the source, not as text', () => {
    const { table, versionOf } = createTable();
    for (const version of [9, 10, 8]) table.observe(state('u', version));
    expect(versionOf('o')).toBe('u v10');
  });

  it('another uid makes the one before dead; a late item of it is refused, whatever its version', () => {
    const { table, versionOf } = createTable();
    table.observe(state('u', 5));
    table.observe(state('w', 8));
    table.observe(state('u', 99));
    expect(versionOf('o')).toBe('w v8');
    expect(table.get('o')?.garbage).toEqual(['u']);
  });

  it('an old item of an unknown uid does not come to life where something newer has gone', () => {
    const { table, changes, versionOf } = createTable();
    table.observe(state('w', 8));
    table.observeDeletion({ type: 'deleted', name: 'o', uid: 'w', resourceVersion: '9' });
    table.forget('o');
    changes.length = 0;
    for (const version of [1, 5, 8, 9]) table.observe(state('u', version));
    table.observe(state('other', 1, 'p'));
    expect([versionOf('o'), versionOf('p'), changes]).toEqual([undefined, 'other v1', ['p']]);
    table.observe(state('x', 10));
    expect(versionOf('o')).toBe('x v10');
    // A deletion that nobody had heard of the object of, and one that comes late.
    table.observeDeletion({ type: 'deleted', name: 'q', uid: 'never', resourceVersion: '20' });
    table.observeDeletion({ type: 'deleted', name: 'q', uid: 'before', resourceVersion: '15' });
    for (const version of [16, 20]) table.observe(state('u', version, 'q'));
    expect(versionOf('q')).toBeUndefined();
    table.observe(state('u', 21, 'q'));
    expect(versionOf('q')).toBe('u v21');
  });

  it('what was replaced begins anew, at whatever version', () => {
    const { table, versionOf } = createTable();
    table.observe(state('w', 8));
    table.vanishAll();
    table.observe(state('u', 2));
    expect(versionOf('o')).toBe('u v2');
  });

  it('remembers 10,000 names under which nothing lives, the last ones', () => {
    const { table, versionOf } = createTable();
    for (let n = 0; n <= 10_000; n++) {
      table.observeDeletion({ type: 'deleted', name: `o${n}`, uid: `u${n}`, resourceVersion: '9' });
    }
    for (const name of ['o0', 'o1', 'o10000']) table.observe(state(`late-${name}`, 5, name));
    expect(['o0', 'o1', 'o10000'].map(versionOf)).toEqual(['late-o0 v5', undefined, undefined]);
  });

  it('an old item of an unknown uid is older than what is there', () => {
    const { table, versionOf } = createTable();
    table.observe(state('w', 8));
    table.observe(state('u', 5));
    expect(versionOf('o')).toBe('w v8');
  });

  it('a deletion with a uid is about that uid only, however late', () => {
    const { table, versionOf } = createTable();
    table.observe(state('w', 8));
    table.observeDeletion({ type: 'deleted', name: 'o', uid: 'u', resourceVersion: '99' });
    expect(versionOf('o')).toBe('w v8');
    table.observeDeletion({ type: 'deleted', name: 'o', uid: 'w', resourceVersion: '1' });
    expect(versionOf('o')).toBe(undefined);
    table.observe(state('w', 100));
    expect(versionOf('o')).toBe(undefined);
  });

  it('a deletion without a uid is about what is older than itself', () => {
    const { table, versionOf } = createTable();
    table.observe(state('w', 8));
    table.observeDeletion({ type: 'deleted', name: 'o', uid: undefined, resourceVersion: '8' });
    expect(versionOf('o')).toBe('w v8');
    table.observeDeletion({ type: 'deleted', name: 'o', uid: undefined, resourceVersion: '9' });
    expect(versionOf('o')).toBe(undefined);
    table.observeDeletion({ type: 'deleted', name: 'unknown', uid: undefined, resourceVersion: '9' });
  });

  it("a list is a difference; one older than what is known proves nothing (A1')", () => {
    const { table, versionOf } = createTable();
    table.observe(state('a', 5, 'a'));
    table.observe(state('b', 9, 'b'));
    table.observeList({ resourceVersion: '7', items: [state('c', 6, 'c')] });
    expect([versionOf('a'), versionOf('b'), versionOf('c')]).toEqual([undefined, 'b v9', 'c v6']);
    table.observeList({ resourceVersion: '20', items: [] });
    expect([versionOf('b'), versionOf('c')]).toEqual([undefined, undefined]);
  });

  it('remembers a bounded number of dead uids', () => {
    const { table } = createTable();
    for (let n = 0; n < 20_001; n++) table.vanish('nothing here', `u${n}`);
    table.observe(state('u20000', 1));
    expect(table.size).toBe(0);
    table.observe(state('u0', 1));
    expect(table.size).toBe(1);
  });
});
