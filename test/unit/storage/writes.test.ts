import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { createStorage } from '../../../src/storage/create-storage.ts';
import { ConflictError, NotReadyError, StaleError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { brief, KINDS, openRig, PREFIX, type Rig, type RigOptions, type Thing, thing, withRig } from './rig.ts';

const KEY = '/pods/ns1/a';
const bump = (object: Thing | undefined): Thing => ({ ...object, spec: Number(object?.spec ?? 0) + 1 });

/** Somebody else writes the object, behind the storage's back. */
async function outside(rig: Rig, spec: number, uid?: string): Promise<number> {
  const metadata = { name: 'a', ...(uid === undefined ? {} : { uid }) };
  return rig.truth.put(`${PREFIX}${KEY}`, { metadata, spec });
}

/** The same test on an embedded store and on a replica of one. */
function both(title: string, test: (rig: Rig) => Promise<void>, options: RigOptions = {}): void {
  it.each(KINDS)(`${title} (%s)`, (kind) => withRig(kind, test, options));
}

describe('writes of a storage', () => {
  both(
    'K23: an object with a version is not created, one that exists neither, and its version is told',
    async (rig) => {
      const { storage } = rig;
      const withVersion = { metadata: { name: 'a', resourceVersion: '7' } };
      expect(await rig.refusal(storage.create(KEY, withVersion))).toMatchObject({
        code: 'BAD_REQUEST',
        httpStatus: 400,
      });
      expect(brief(await rig.run(storage.create(KEY, thing('a'))))).toBe('a=1@2');
      await outside(rig, 5);
      await rig.truth.put('/elsewhere', 1);
      expect(await rig.refusal(storage.create(KEY, thing('a')))).toMatchObject({
        code: 'KEY_EXISTS',
        httpStatus: 409,
        reason: 'AlreadyExists',
        key: KEY,
        resourceVersion: '3',
      });
      expect(brief(await rig.run(storage.get(KEY)))).toBe('a=5@3');
    },
  );

  both('K23: an object with a TTL goes after it', async (rig) => {
    const { storage, clock } = rig;
    await rig.run(storage.create(KEY, thing('a'), { ttlMs: 5000 }));
    await clock.advance(4000);
    expect(brief(await rig.run(storage.get(KEY)))).toBe('a=1@2');
    await clock.advance(2000);
    expect(await rig.refusal(storage.get(KEY))).toMatchObject({ code: 'OBJECT_NOT_FOUND', httpStatus: 404, key: KEY });
    // An update without one makes it last.
    await rig.run(storage.create(KEY, thing('a'), { ttlMs: 5000 }));
    await rig.run(storage.guaranteedUpdate(KEY, bump));
    await clock.advance(20_000);
    expect(brief(await rig.run(storage.get(KEY)))).toMatch(/^a=2@/);
    await rig.run(storage.guaranteedUpdate(KEY, bump, { ttlMs: 5000 }));
    await clock.advance(6000);
    expect(await rig.refusal(storage.get(KEY))).toMatchObject({ code: 'OBJECT_NOT_FOUND' });
  });

  both('K23: the version is not stored, and what is read of it is the revision', async (rig) => {
    await rig.run(rig.storage.create(KEY, thing('a')));
    await rig.run(rig.storage.guaranteedUpdate(KEY, bump));
    const stored = rig.store.get(`${PREFIX}${KEY}`);
    expect(stored?.value).toEqual({ metadata: { name: 'a' }, spec: 2 });
    expect(stored?.modRevision).toBe(3);
    const read = await rig.run(rig.storage.get(KEY));
    expect(Object.isFrozen(read) && Object.isFrozen(read.metadata)).toBe(true);
    expect(brief(read)).toBe('a=2@3');
  });

  both('K24: an update from a stale suggestion reads and tries again', async (rig) => {
    const { storage } = rig;
    const created = await rig.run(storage.create(KEY, thing('a')));
    await outside(rig, 10);
    const seen: (number | null | undefined)[] = [];
    const count = (object: Thing | undefined) => {
      seen.push(object?.spec);
      return bump(object);
    };
    const updated = await rig.run(storage.guaranteedUpdate(KEY, count, { cachedExistingObject: created }));
    expect(seen).toEqual([1, 10]);
    expect(brief(updated)).toBe('a=11@4');
    // One that is right costs no second call.
    seen.length = 0;
    const again = await rig.run(storage.guaranteedUpdate(KEY, count, { cachedExistingObject: updated }));
    expect(seen).toEqual([11]);
    expect(brief(again)).toBe('a=12@5');
  });

  both('K24: what refuses a suggestion is asked again about the truth', async (rig) => {
    const { storage } = rig;
    const created = await rig.run(storage.create(KEY, thing('a')));
    await outside(rig, 10);
    const refuseSmall = (object: Thing | undefined) => {
      if (Number(object?.spec) < 10) throw new Error('too small');
      return bump(object);
    };
    const updated = await rig.run(storage.guaranteedUpdate(KEY, refuseSmall, { cachedExistingObject: created }));
    expect(brief(updated)).toBe('a=11@4');
    await outside(rig, 3);
    expect((await rig.refusal(storage.guaranteedUpdate(KEY, refuseSmall))).message).toBe('too small');
    // What it throws is its own affair, also when it is a conflict.
    const conflict = new ConflictError('try', { key: `${PREFIX}${KEY}`, expectedRevision: 1, actualRevision: 2 });
    let calls = 0;
    const thrown = await rig.refusal(
      storage.guaranteedUpdate(KEY, () => {
        calls++;
        throw conflict;
      }),
    );
    expect(thrown).toBe(conflict);
    expect(calls).toBe(1);
  });

  both('K24: another uid or version than the one meant', async (rig) => {
    const { storage } = rig;
    const created = await rig.run(storage.create(KEY, { metadata: { name: 'a', uid: 'u1' }, spec: 1 }));
    await outside(rig, 2, 'u2');
    const wrongUid = { preconditions: { uid: 'u1' }, cachedExistingObject: created };
    expect(await rig.refusal(storage.guaranteedUpdate(KEY, bump, { preconditions: { uid: 'u1' } }))).toMatchObject({
      code: 'PRECONDITION',
      httpStatus: 409,
      reason: 'Conflict',
      precondition: 'uid',
      expected: 'u1',
      actual: 'u2',
    });
    expect(await rig.refusal(storage.guaranteedUpdate(KEY, bump, wrongUid))).toMatchObject({ code: 'PRECONDITION' });
    const stale = { preconditions: { resourceVersion: '2' } };
    expect(await rig.refusal(storage.guaranteedUpdate(KEY, bump, stale))).toMatchObject({
      precondition: 'resourceVersion',
      actual: '3',
    });
    // A suggestion that does not hold is no reason to refuse.
    const right = { preconditions: { uid: 'u2', resourceVersion: '3' }, cachedExistingObject: created };
    expect(brief(await rig.run(storage.guaranteedUpdate(KEY, bump, right)))).toBe('a=3@4');
  });

  both('K24: no change is no write, whatever the order of members', async (rig) => {
    const { storage, store } = rig;
    const created = await rig.run(storage.create(KEY, thing('a', 1, { x: '1', y: '2' })));
    const same = (): Thing => ({ spec: 1, metadata: { labels: { y: '2', x: '1' }, name: 'a', resourceVersion: '99' } });
    expect(brief(await rig.run(storage.guaranteedUpdate(KEY, same)))).toBe('a=1@2');
    expect(brief(await rig.run(storage.guaranteedUpdate(KEY, same, { cachedExistingObject: created })))).toBe('a=1@2');
    expect(store.revision).toBe(2);
    // No change of a state that is gone is none of the one that is there.
    await outside(rig, 4);
    const updated = await rig.run(storage.guaranteedUpdate(KEY, same, { cachedExistingObject: created }));
    expect(brief(updated)).toBe('a=1@4');
    // And what is no JSON is no "same": the store is asked, and refuses.
    await rig.run(storage.guaranteedUpdate(KEY, (object) => ({ ...object, extra: {} }) as Thing));
    const date = () => ({ ...same(), extra: new Date(0) }) as Thing;
    expect(await rig.refusal(storage.guaranteedUpdate(KEY, date))).toMatchObject({ code: 'VALUE' });
  });

  both('K24: what is not there is made only on request', async (rig) => {
    const { storage } = rig;
    expect(await rig.refusal(storage.guaranteedUpdate(KEY, bump))).toMatchObject({ code: 'OBJECT_NOT_FOUND' });
    const made = await rig.run(
      storage.guaranteedUpdate(KEY, (object) => ({ ...bump(object), metadata: { name: 'a' } }), {
        ignoreNotFound: true,
      }),
    );
    expect(brief(made)).toBe('a=1@2');
    await rig.run(storage.delete(KEY));
    const uid = { ignoreNotFound: true, preconditions: { uid: 'u1' } };
    expect(await rig.refusal(storage.guaranteedUpdate(KEY, bump, uid))).toMatchObject({
      code: 'PRECONDITION',
      actual: '',
    });
  });

  both('K24: two who count at once lose no count', async (rig) => {
    const { storage } = rig;
    await rig.run(storage.create(KEY, thing('a', 0)));
    const slow = async (object: Thing | undefined) => {
      await Promise.resolve();
      return bump(object);
    };
    await rig.run(Promise.all(Array.from({ length: 8 }, () => storage.guaranteedUpdate(KEY, slow))));
    expect((await rig.run(storage.get(KEY))).spec).toBe(8);
  });

  both(
    'K24: who is overtaken again and again gives up',
    async (rig) => {
      await rig.run(rig.storage.create(KEY, thing('a', 0)));
      let calls = 0;
      const overtaken = async (object: Thing | undefined) => {
        await outside(rig, 100 + ++calls);
        return bump(object);
      };
      expect(await rig.refusal(rig.storage.guaranteedUpdate(KEY, overtaken))).toMatchObject({
        code: 'UPDATE_CONFLICT',
        httpStatus: 409,
        reason: 'Conflict',
        attempts: 4,
      });
      expect(calls).toBe(4);
      expect((await rig.run(rig.storage.get(KEY))).spec).toBe(104);
    },
    { storage: { attemptsMax: 4 } },
  );

  both('K25: a delete from a stale suggestion reads and judges again', async (rig) => {
    const { storage } = rig;
    const created = await rig.run(storage.create(KEY, { metadata: { name: 'a', uid: 'u1' }, spec: 1 }));
    await outside(rig, 7, 'u1');
    const judged: (number | null | undefined)[] = [];
    const validateDeletion = ({ spec }: Thing) => {
      judged.push(spec);
      if (spec === 1) throw new Error('not this one');
    };
    const deleted = await rig.run(storage.delete(KEY, { cachedExistingObject: created, validateDeletion }));
    expect(judged).toEqual([1, 7]);
    expect(brief(deleted)).toBe('a=7@4');
    expect(await rig.refusal(storage.delete(KEY, { cachedExistingObject: created }))).toMatchObject({
      code: 'OBJECT_NOT_FOUND',
    });
  });

  both('K25: and refuses for what is true', async (rig) => {
    const { storage } = rig;
    const created = await rig.run(storage.create(KEY, { metadata: { name: 'a', uid: 'u1' }, spec: 1 }));
    await outside(rig, 7, 'u2');
    // The suggestion is what is meant, the truth is not.
    const meant = { cachedExistingObject: created, preconditions: { uid: 'u1', resourceVersion: '2' } };
    expect(await rig.refusal(storage.delete(KEY, meant))).toMatchObject({
      code: 'PRECONDITION',
      precondition: 'uid',
      actual: 'u2',
    });
    const refused = { validateDeletion: async () => Promise.reject(new Error('never')) };
    expect((await rig.refusal(storage.delete(KEY, refused))).message).toBe('never');
    // The other way round: the suggestion is not what is meant, the truth is.
    const other = { cachedExistingObject: created, preconditions: { uid: 'u2', resourceVersion: '3' } };
    expect(brief(await rig.run(storage.delete(KEY, other)))).toBe('a=7@4');
  });
});

describe('wrong input of a storage', () => {
  it('is refused at the door', async () => {
    const rig = await openRig('embedded');
    const { storage } = rig;
    const any = <T>(value: unknown) => value as T;
    for (const key of ['', '/', '/a/../b', '..', './a', '/a/.', '\ud800']) {
      expect(await rig.refusal(storage.get(key))).toMatchObject({ code: 'BAD_REQUEST' });
      expect(() => storage.watch(key)).toThrow(/key/);
    }
    await expect(storage.get(any(7))).rejects.toThrow(TypeError);
    await expect(storage.get(KEY, any({ resourceversion: '1' }))).rejects.toThrow('unknown option resourceversion');
    await expect(storage.get(KEY, any({ resourceVersion: 1 }))).rejects.toThrow(TypeError);
    await expect(storage.list(KEY, any({ limit: -1 }))).rejects.toThrow(RangeError);
    await expect(storage.list(KEY, any({ predicate: 'x' }))).rejects.toThrow(TypeError);
    await expect(storage.list(KEY, any({ recursive: true, continue: 7 }))).rejects.toThrow(TypeError);
    await expect(storage.create(KEY, any('text'))).rejects.toThrow(TypeError);
    await expect(storage.create(KEY, any({ metadata: [] }))).rejects.toThrow(TypeError);
    await expect(storage.create(KEY, {}, { ttlMs: 0 })).rejects.toThrow(RangeError);
    await expect(storage.guaranteedUpdate(KEY, any(7))).rejects.toThrow(TypeError);
    await expect(storage.guaranteedUpdate(KEY, () => any(7), { ignoreNotFound: true })).rejects.toThrow(TypeError);
    await expect(storage.delete(KEY, { cachedExistingObject: {} })).rejects.toThrow('has no resourceVersion');
    await expect(storage.delete(KEY, { preconditions: any({ uid: 7 }) })).rejects.toThrow(TypeError);
    await expect(storage.delete(KEY, { validateDeletion: any(7) })).rejects.toThrow(TypeError);
    await rig.truth.put(`${PREFIX}/pods/number`, 7);
    expect(await rig.refusal(storage.get('/pods/number'))).toMatchObject({
      code: 'VALUE',
      key: `${PREFIX}/pods/number`,
    });
    expect(await rig.refusal(storage.list('/pods', { recursive: true }))).toMatchObject({ code: 'VALUE' });
    await storage.close();
    await storage.close();
    await expect(storage.get(KEY)).rejects.toMatchObject({ code: 'CLOSED' });
    expect(() => storage.watch(KEY)).toThrow('closed');
  });
});

describe('a write of a storage', () => {
  /** The store of the storage, some of whose members are others. */
  async function openOver(replace: (store: Store<Thing>) => Partial<Store<Thing>>) {
    const store = await openStore<Thing>();
    const other = replace(store);
    const get = (_: object, name: string | symbol): unknown => {
      const member: unknown = Reflect.get(name in other ? other : store, name);
      return typeof member === 'function' ? member.bind(name in other ? other : store) : member;
    };
    const over = new Proxy({}, { get, has: (_, name) => name in store }) as Store<Thing>;
    return { store, storage: createStorage<Thing>(over, { attemptsMax: 2 }) };
  }

  it.each([new NotReadyError('get a key', { epoch: 2 }), new StaleError('get a key', { ageMs: 9, maxStaleMs: 5 })])(
    'is asked for again later where the state went between the question and the read: %s',
    async (cause) => {
      const { store, storage } = await openOver(() => ({
        get: () => {
          throw cause;
        },
      }));
      await expect(storage.guaranteedUpdate(KEY, bump)).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS', cause });
      await storage.close();
      await store.close();
    },
  );

  it('reads as often as it tries, and no more', async () => {
    let reads = 0;
    const { store, storage } = await openOver((own) => ({
      get: (key: string) => {
        reads++;
        return own.get(key);
      },
    }));
    const overtaken = async (object: Thing | undefined) => {
      await store.put(KEY, { metadata: { name: 'a' }, spec: store.revision });
      return bump(object);
    };
    const update = storage.guaranteedUpdate(KEY, overtaken, { ignoreNotFound: true });
    await expect(update).rejects.toMatchObject({ code: 'UPDATE_CONFLICT', attempts: 2 });
    expect(reads).toBe(2);
    await storage.close();
    await store.close();
  });
});
