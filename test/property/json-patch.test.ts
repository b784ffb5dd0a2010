import fc from 'fast-check';
import { applyPatch as peerApply, createPatch as peerDiff } from 'rfc6902';
import { describe, expect, it } from 'vitest';
import { applyPatch } from '../../src/handlers/apply-patch.ts';
import { diffJson } from '../../src/handlers/json-diff.ts';
import { mergePatchOf } from '../../src/handlers/merge-diff.ts';
import { PlimsollError } from '../../src/types/errors.ts';
import type { JsonPatch, JsonPatchOperation, MergePatch } from '../../src/types/patch.ts';
import { sized } from '../support/size.ts';
import { jsonDocument } from './essence-documents.ts';

/** Two documents that have much in common: the second is the first, changed here and there. */
function pairOfDocuments(): fc.Arbitrary<readonly [unknown, unknown]> {
  const names = fc.constantFrom('a', 'b', 'c', '1', '0', 'a/b', '~', '');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthIdentifier: 'patch', maxDepth: 4 },
      fc.constantFrom<unknown>(0, 1, 2, '', 'x', '1', true, null, [], {}),
      fc.array(tie('value'), { maxLength: 8, depthIdentifier: 'patch' }),
      fc
        .array(fc.tuple(names, tie('value')), { maxLength: 6, depthIdentifier: 'patch' })
        .map((all) => Object.fromEntries(all)),
    ),
  }));
  const changes = fc.array(fc.tuple(fc.nat(30), fc.constantFrom('drop', 'set', 'double', 'turn'), value), {
    maxLength: 5,
  });
  return fc.oneof(
    fc.tuple(value, changes).map(([first, all]) => [first, changed(first, all)] as const),
    fc.tuple(value, value),
    fc.tuple(jsonDocument(), jsonDocument()),
  );
}

type Change = readonly [place: number, what: string, value: unknown];

/** Walks the parts in order and changes those that are counted out. */
function changed(root: unknown, changes: readonly Change[]): unknown {
  let place = 0;
  const walk = (value: unknown): unknown => {
    const change = changes.find(([at]) => at === place);
    place++;
    if (change?.[1] === 'set') return change[2];
    if (Array.isArray(value)) {
      const parts: unknown[] = value.map(walk);
      if (change?.[1] === 'drop') return parts.slice(1);
      if (change?.[1] === 'double') return [...parts, change[2], ...parts.slice(0, 2)];
      return change === undefined ? parts : parts.reverse();
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, part]): [string, unknown] => [name, walk(part)]);
    if (change?.[1] === 'drop') entries.shift();
    if (change?.[1] === 'double') entries.unshift(['new', change[2]]);
    if (change?.[1] === 'turn') entries.reverse();
    return Object.fromEntries(entries);
  };
  return walk(root);
}

/** By RFC 7386, section 2. */
function mergeByTheBook(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result = new Map<string, unknown>(isObject ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, mergeByTheBook(result.get(name), value));
  }
  return Object.fromEntries(result);
}

/** -0 is 0 in JSON. */
function data(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function kept<T>(value: T, work: (value: T) => unknown): unknown {
  const before = JSON.stringify(value);
  const result = work(value);
  expect(JSON.stringify(value)).toBe(before);
  return result;
}

describe('JSON patches', () => {
  it('of a difference make the other value, by ours and by another program', () => {
    const property = fc.property(pairOfDocuments(), ([before, after]) => {
      const patch = kept(before, (value) => kept(after, (other) => diffJson(value, other))) as JsonPatch;
      expect(data(kept(before, (value) => applyPatch(value, patch)))).toEqual(data(after));
      const root = { root: data(before) };
      const moved = patch.map((operation) => ({
        ...(data(operation) as JsonPatchOperation),
        path: `/root${operation.path}`,
      }));
      if (hasPlainNames(before) && hasPlainNames(after)) {
        expect(peerApply(root, moved).every((error) => error === null)).toBe(true);
        expect(data(root.root)).toEqual(data(after));
      }
    });
    fc.assert(property, { numRuns: sized({ smoke: 3_000, full: 100_000 }) });
  });

  it('make it to the letter, the order of members included, if asked for', () => {
    const property = fc.property(pairOfDocuments(), ([before, after]) => {
      const patch = diffJson(before, after, { keyOrder: 'exact' });
      expect(JSON.stringify(applyPatch(before, patch))).toBe(JSON.stringify(after));
    });
    fc.assert(property, { numRuns: sized({ smoke: 3_000, full: 100_000 }) });
  });

  it('are empty for what is equal, and of no part that is', () => {
    const property = fc.property(pairOfDocuments(), ([before, after]) => {
      expect(diffJson(before, structuredClone(before))).toEqual([]);
      // Nothing is replaced by what is there already.
      let value = before;
      for (const operation of diffJson(before, after)) {
        const next = applyPatch(value, [operation]);
        if (operation.op === 'replace') expect(data(next)).not.toEqual(data(value));
        value = next;
      }
    });
    fc.assert(property, { numRuns: sized({ smoke: 2_000, full: 30_000 }) });
  });

  it('that fit here fit there, and make the same', () => {
    const property = fc.property(pairOfDocuments(), operations(), ([document], patch) => {
      const root = { root: document };
      if (!hasPlainNames(document)) return;
      let ours: unknown;
      try {
        ours = kept(root, (value) => applyPatch(value, patch));
      } catch (error) {
        if (!(error instanceof PlimsollError)) throw error;
        ours = 'refused';
      }
      const theirs = data(root);
      // That one goes on after an error, and throws at what is no container; ours is all or nothing.
      let isRefused: boolean;
      try {
        isRefused = peerApply(theirs, data(patch) as JsonPatchOperation[]).some((error) => error !== null);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        isRefused = true;
      }
      // It also lets names pass as members of arrays, where ours refuses.
      if (ours === 'refused') return;
      expect(isRefused).toBe(false);
      expect(data(ours)).toEqual(data(theirs));
    });
    fc.assert(property, { numRuns: sized({ smoke: 3_000, full: 60_000 }) });
  });

  it('of another program make here what they make there', () => {
    const property = fc.property(pairOfDocuments(), ([before, after]) => {
      if (!hasPlainNames(before) || !hasPlainNames(after)) return;
      const patch = peerDiff(before, after) as JsonPatch;
      expect(data(applyPatch(before, patch))).toEqual(data(after));
    });
    fc.assert(property, { numRuns: sized({ smoke: 2_000, full: 30_000 }) });
  });
});

describe('merge patches', () => {
  it('of a difference make the other value, by ours and by the book; there is none only where null is to be set', () => {
    const property = fc.property(pairOfDocuments(), ([before, after]) => {
      const patch = kept(before, (value) => kept(after, (other) => mergePatchOf(value, other)));
      if (patch === undefined) {
        expect(
          typeof after !== 'object' || after === null || Array.isArray(after) || JSON.stringify(after).includes('null'),
        ).toBe(true);
        return;
      }
      expect(data(applyPatch(before, patch as MergePatch))).toEqual(data(after));
      expect(data(mergeByTheBook(before, patch))).toEqual(data(after));
    });
    fc.assert(property, { numRuns: sized({ smoke: 3_000, full: 60_000 }) });
  });

  it('of any kind do what the book says', () => {
    const patch = jsonDocument().filter(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    );
    const property = fc.property(jsonDocument(), patch, (document, change) => {
      expect(data(applyPatch(document, change as MergePatch))).toEqual(data(mergeByTheBook(document, change)));
    });
    fc.assert(property, { numRuns: sized({ smoke: 2_000, full: 60_000 }) });
  });
});

/** Names that the other program refuses or loses, since it assigns them. */
function hasPlainNames(value: unknown): boolean {
  return !/"(?:__proto__|constructor|prototype|toString|toJSON)"/.test(JSON.stringify(value));
}

/** Operations with a chance to fit. `-` and indexes are for arrays only; the other program lets a `-` pass elsewhere. */
function operations(): fc.Arbitrary<JsonPatch> {
  const segment = fc.constantFrom('a', 'b', 'c', '0', '1', '2', 'a~1b', '~0');
  const pointer = fc.array(segment, { maxLength: 3 }).map((segments) => ['/root', ...segments].join('/'));
  const value = fc.constantFrom<unknown>(0, 'x', null, [], { a: 1 }, [1, 2]);
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
    fc.record({ op: fc.constant('remove'), path: pointer }),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
  );
  return fc.array(operation as fc.Arbitrary<JsonPatchOperation>, { minLength: 1, maxLength: 3 });
}
