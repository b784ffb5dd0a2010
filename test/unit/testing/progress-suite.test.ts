import { describe, expect, it } from 'vitest';
import type { ProgressStore } from '../../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../../src/handlers/record.ts';
import { runBackendCases } from '../../../src/testing/backend-suite.ts';
import { ProgressAssertionError } from '../../../src/testing/progress-assertion.ts';
import type { ProgressSubject } from '../../../src/testing/progress-session.ts';
import { type ProgressSuiteOptions, testProgressStore } from '../../../src/testing/progress-suite.ts';
import { BackendError } from '../../../src/types/errors.ts';

/** A store that can be broken in one place: whatever is not given is as it should be. */
interface Parts {
  keyOf?(uid: string, name: string | undefined): string;
  read?(found: ProgressDocument | undefined, uid: string, by: number): ProgressDocument | undefined;
  isTaken?(found: ProgressDocument | undefined, gen: number): boolean;
  change?(next: ProgressDocument, found: ProgressDocument | undefined): ProgressDocument;
  /** Lets others in between the check and the write. */
  isSlow?: boolean;
  remove?(documents: Map<string, ProgressDocument>, key: string): void;
  list?(documents: readonly ProgressDocument[]): readonly ProgressDocument[];
  /** Of a write whose answer is lost. */
  lost?: 'applied' | 'dropped' | 'answered';
}

const turn = (): Promise<void> => Promise.resolve();

function open(parts: Parts): ProgressSubject {
  const documents = new Map<string, ProgressDocument>();
  const keyOf = parts.keyOf ?? ((uid) => uid);
  let doubt: boolean | undefined;
  const store = (by: number): ProgressStore => ({
    async get(uid, name) {
      await turn();
      const found = documents.get(keyOf(uid, name));
      return parts.read === undefined ? found : parts.read(found, uid, by);
    },
    async compareAndSet(uid, gen, next) {
      await turn();
      const key = keyOf(uid, next.name);
      const found = documents.get(key);
      const isTaken = parts.isTaken?.(found, gen) ?? (found?.gen ?? 0) === gen;
      if (!isTaken) return false;
      if (parts.isSlow === true) await turn();
      const isLost = doubt !== undefined;
      const isApplied = parts.lost === undefined ? doubt : parts.lost === 'applied';
      doubt = undefined;
      if (isApplied !== false || !isLost) {
        // As a store has it: a copy.
        documents.set(key, parts.change?.(next, documents.get(key)) ?? JSON.parse(JSON.stringify(next)));
      }
      if (isLost && parts.lost !== 'answered') throw new BackendError('write', 'no answer', { maybeCommitted: true });
      return true;
    },
    async delete(uid) {
      await turn();
      if (parts.remove === undefined) documents.delete(uid);
      else parts.remove(documents, uid);
    },
    async list() {
      await turn();
      const all = [...documents.values()];
      return parts.list === undefined ? all : parts.list(all);
    },
  });
  return {
    progress: store(0),
    other: store(1),
    loseAnswer: (isApplied) => {
      doubt = isApplied;
    },
  };
}

function options(parts: Parts = {}): ProgressSuiteOptions {
  return { open: () => open(parts), can: { loseAnswer: true }, settle: turn };
}

const copy = (document: ProgressDocument): ProgressDocument => JSON.parse(JSON.stringify(document));
const sizeOf = (document: ProgressDocument): number => JSON.stringify(document).length;

/** What each of them does wrong, and how. */
const BROKEN: Readonly<Record<string, () => Parts>> = {
  'makes up a document': () => ({
    read: (found, uid) =>
      found ?? { uid, name: '', gen: 0, writeId: '', tick: 0, resourceVersion: '', records: {}, bases: {} },
  }),
  'reads what was there before': () => {
    const seen = new Map<string, ProgressDocument | undefined>();
    return {
      read: (found, uid) => {
        const before = seen.get(uid);
        seen.set(uid, found);
        return before;
      },
    };
  },
  'has a cache that does not hear of others': () => {
    const cache = new Map<string, ProgressDocument | undefined>();
    return {
      read: (found, uid, by) => {
        const key = `${by} ${uid}`;
        if (!cache.has(key) || by === 0) cache.set(key, found);
        return cache.get(key);
      },
    };
  },
  'takes every write': () => ({ isTaken: () => true }),
  'takes any generation where there is none': () => ({ isTaken: (found, gen) => (found?.gen ?? gen) === gen }),
  'takes what is newer': () => ({ isTaken: (found, gen) => (found?.gen ?? 0) <= gen }),
  'checks first and writes later': () => ({ isSlow: true }),
  'has the records of one write and the bases of another': () => ({
    change: (next, found) => copy({ ...next, bases: found?.bases ?? next.bases }),
  }),
  'has one document for all': () => ({ keyOf: () => 'all' }),
  merges: () => ({
    change: (next, found) => copy({ ...next, records: { ...found?.records, ...next.records } }),
  }),
  'drops what is null': () => ({
    change: (next) => JSON.parse(JSON.stringify(next), (_key, part) => (part === null ? undefined : part)),
  }),
  'drops what it does not know': () => ({
    change: (next) => JSON.parse(JSON.stringify(next), (key, part) => (key === 'opened' ? undefined : part)),
  }),
  'cuts off what is large': () => ({
    change: (next) => copy(sizeOf(next) > 1_000_000 ? { ...next, bases: {} } : next),
  }),
  'breaks on what is large': () => ({
    change: (next) => {
      if (sizeOf(next) > 1_000_000) throw new TypeError('Cannot read properties of undefined');
      return copy(next);
    },
  }),
  'says that it took what is too large': () => ({
    change: (next, found) => copy(sizeOf(next) > 1_000_000 && found !== undefined ? found : next),
  }),
  'has uids without case': () => ({ keyOf: (uid) => uid.toLowerCase() }),
  'has uids as paths': () => ({ keyOf: (uid) => decodeURIComponent(uid.replace(/%(?![0-9a-f]{2})/gi, '%25')) }),
  'has short uids': () => ({ keyOf: (uid) => uid.slice(0, 1000) }),
  'cannot have every name': () => ({
    keyOf: (uid, name) => {
      if (name?.includes('/') === true) throw new RangeError('no "/" in names');
      return uid;
    },
  }),
  'keeps what is deleted': () => ({ remove: () => {} }),
  'deletes all': () => ({ remove: (documents) => documents.clear() }),
  'cannot delete what is not there': () => ({
    remove: (documents, key) => {
      if (!documents.delete(key)) throw new RangeError('not there');
    },
  }),
  'empties what is deleted': () => ({
    remove: (documents, key) => {
      const found = documents.get(key);
      if (found !== undefined) documents.set(key, { ...found, records: {}, bases: {} });
    },
  }),
  'lists one page': () => ({ list: (documents) => documents.slice(0, 100) }),
  'lists some twice': () => ({ list: (documents) => [...documents, ...documents.slice(0, 1)] }),
  'lists without versions': () => ({ list: (documents) => documents.map((one) => ({ ...one, resourceVersion: '' })) }),
  'answers what was lost': () => ({ lost: 'answered' }),
  'never applies what was lost': () => ({ lost: 'dropped' }),
  'applies what was not': () => ({ lost: 'applied' }),
};

describe('the suite for progress stores', () => {
  it('passes a store that is right', async () => {
    const { failed, passed } = await runBackendCases(testProgressStore(options()));
    expect(failed).toEqual([]);
    expect(passed).toBe(testProgressStore(options()).length);
  });

  const found = new Set<string>();
  for (const [name, make] of Object.entries(BROKEN)) {
    it(`finds a store that ${name}`, async () => {
      const { failed } = await runBackendCases(testProgressStore({ ...options(), open: () => open(make()) }));
      expect(failed.length).toBeGreaterThan(0);
      for (const { error, rule, name: one } of failed) {
        expect(error).toBeInstanceOf(ProgressAssertionError);
        expect(error).toMatchObject({ code: 'ASSERTION', rule });
        found.add(one);
      }
    });
  }

  it('has no case that nothing fails', () => {
    expect(
      testProgressStore(options())
        .map(({ name }) => name)
        .filter((name) => !found.has(name)),
    ).toEqual([]);
  });

  it('ends where a store never answers', async () => {
    const never = new Promise<never>(() => {});
    const cases = testProgressStore({
      open: () => ({
        progress: { get: () => never, compareAndSet: () => never, delete: () => never, list: () => never },
      }),
      settle: turn,
    });
    expect((await runBackendCases(cases)).passed).toBe(0);
  });

  it('leaves out what cannot be tested, and refuses options that are wrong', async () => {
    const all = testProgressStore(options()).length;
    expect(testProgressStore({ open: () => open({}) })).toHaveLength(all - 2);
    const wrong: object = { open: () => open({}), settel: turn };
    expect(() => testProgressStore(wrong as ProgressSuiteOptions)).toThrow(/unknown option settel/);
    const none: object = {};
    expect(() => testProgressStore(none as ProgressSuiteOptions)).toThrow(/open is not a function/);
    const [first] = testProgressStore({ open: () => open({}) });
    await expect(first?.run()).rejects.toThrow(/can.loseAnswer is not what open has made/);
  });
});
