import { describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/types/backend.ts';
import { brief, KINDS, openRig, PREFIX, type Rig, type RigOptions, type Thing, thing, withRig } from './rig.ts';

const POD = '/pods/ns1/';

/** Creates pods a, b, ... at revisions 2, 3, ... */
async function create(rig: Rig, names: string): Promise<void> {
  for (const name of names) await rig.run(rig.storage.create(`${POD}${name}`, thing(name)));
}

async function listed(rig: Rig, options: Parameters<Rig['storage']['list']>[1] = {}): Promise<string> {
  const { items, metadata } = await rig.run(rig.storage.list('/pods', { recursive: true, ...options }));
  return `@${metadata.resourceVersion} ${items.map(brief).join(' ')}`.trim();
}

/** A token from outside. */
function tokenOf(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** The same test on an embedded store and on a replica of one. */
function both(title: string, test: (rig: Rig) => Promise<void>, options: RigOptions = {}): void {
  it.each(KINDS)(`${title} (%s)`, (kind) => withRig(kind, test, options));
}

describe('lists of a storage: which state', () => {
  both('K01: without a version everything that was completed, at the revision of now', async (rig) => {
    expect(await listed(rig)).toBe('@1');
    await create(rig, 'a');
    await rig.truth.put('/elsewhere', 1);
    await rig.truth.put(`${PREFIX}${POD}b`, thing('b'));
    const now = await rig.truth.put('/elsewhere', 2);
    expect(now).toBe(5);
    expect(await listed(rig)).toBe('@5 a=1@2 b=1@4');
    expect(await listed(rig, { resourceVersion: '' })).toBe('@5 a=1@2 b=1@4');
    expect(await rig.run(rig.storage.getCurrentResourceVersion())).toBe('5');
  });

  both('K02: version 0 is what is here, which a consistent read moves on', async (rig) => {
    await create(rig, 'a');
    await rig.truth.put(`${PREFIX}${POD}b`, thing('b'));
    const any = await listed(rig, { resourceVersion: '0' });
    expect(['@2 a=1@2', '@3 a=1@2 b=1@3']).toContain(any);
    expect(await listed(rig)).toBe('@3 a=1@2 b=1@3');
    expect(await listed(rig, { resourceVersion: '0' })).toBe('@3 a=1@2 b=1@3');
    expect(await listed(rig, { resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' })).toBe('@3 a=1@2 b=1@3');
    // With a limit too: the legacy Exact is not about 0.
    expect(await listed(rig, { resourceVersion: '0', limit: 5 })).toBe('@3 a=1@2 b=1@3');
  });

  both('K03: NotOlderThan waits up to 3 s, then the version is too large', async (rig) => {
    await create(rig, 'ab');
    expect(await listed(rig, { resourceVersion: '2', resourceVersionMatch: 'NotOlderThan' })).toBe('@3 a=1@2 b=1@3');
    expect(await listed(rig, { resourceVersion: '2' })).toBe('@3 a=1@2 b=1@3');
    const early = rig.storage.list('/pods', { recursive: true, resourceVersion: '4' });
    await rig.clock.advance(2000);
    expect(rig.storage.stats().waiters).toBe(1);
    await rig.truth.put(`${PREFIX}${POD}c`, thing('c'));
    expect((await rig.run(early)).items.map(brief)).toEqual(['a=1@2', 'b=1@3', 'c=1@4']);
    expect(rig.clock.now()).toBe(2000);
    const begun = rig.clock.now();
    const late = await rig.refusal(rig.storage.list('/pods', { recursive: true, resourceVersion: '99' }));
    expect(rig.clock.now() - begun).toBe(3000);
    expect(late).toMatchObject({
      code: 'RESOURCE_VERSION_TOO_LARGE',
      httpStatus: 504,
      reason: 'Timeout',
      resourceVersion: '99',
      currentResourceVersion: '4',
      retryAfterSeconds: 1,
    });
    expect(rig.storage.stats().waiters).toBe(0);
    const status = (late as unknown as { toStatus(): { details: object } }).toStatus();
    expect(status).toMatchObject({ kind: 'Status', code: 504, reason: 'Timeout' });
    expect(status.details).toEqual({
      retryAfterSeconds: 1,
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    });
  });

  both('K03: a change elsewhere is new enough, too', async (rig) => {
    await create(rig, 'a');
    const list = rig.storage.list('/pods', { recursive: true, resourceVersion: '4' });
    await rig.truth.put('/elsewhere', 1);
    await rig.truth.put('/elsewhere', 2);
    const { metadata } = await rig.run(list);
    expect(metadata.resourceVersion).toBe('4');
    expect(rig.clock.now()).toBeLessThanOrEqual(100);
  });

  both('K04: Exact is that state, too old below the window, too large above the newest', async (rig) => {
    await create(rig, 'abc');
    await rig.run(rig.storage.delete(`${POD}a`));
    const exact = { resourceVersionMatch: 'Exact' } as const;
    expect(await listed(rig, { resourceVersion: '3', ...exact })).toBe('@3 a=1@2 b=1@3');
    await rig.run(rig.store.compact(4));
    expect(await listed(rig, { resourceVersion: '4', ...exact })).toBe('@4 a=1@2 b=1@3 c=1@4');
    expect(await rig.refusal(listed(rig, { resourceVersion: '3', ...exact }))).toMatchObject({
      code: 'EXPIRED',
      httpStatus: 410,
      reason: 'Expired',
      resourceVersion: '3',
      continue: undefined,
    });
    expect(await rig.refusal(listed(rig, { resourceVersion: '6', ...exact }))).toMatchObject({
      code: 'RESOURCE_VERSION_TOO_LARGE',
      currentResourceVersion: '5',
    });
    // As large as a version can be, and no revision of a store.
    const huge = String(2n ** 64n - 1n);
    expect(await rig.refusal(listed(rig, { resourceVersion: huge, ...exact }))).toMatchObject({
      code: 'RESOURCE_VERSION_TOO_LARGE',
      resourceVersion: huge,
    });
  });

  both('K05: Exact at each of nine writes is the state of each', async (rig) => {
    const states: string[] = [];
    const alive = new Map<string, number>();
    const state = (revision: number) =>
      `@${revision} ${[...alive].map(([name, at]) => `${name}=1@${at}`).join(' ')}`.trim();
    for (const name of 'abcde') {
      await create(rig, name);
      alive.set(name, states.length + 2);
      states.push(state(states.length + 2));
    }
    for (const name of 'aceb') {
      await rig.run(rig.storage.delete(`${POD}${name}`));
      alive.delete(name);
      states.push(state(states.length + 2));
    }
    expect(states).toHaveLength(9);
    for (const [index, expected] of states.entries()) {
      const resourceVersion = String(index + 2);
      expect(await listed(rig, { resourceVersion, resourceVersionMatch: 'Exact' })).toBe(expected);
    }
  });

  both('K06: a limit with a version and no match is Exact', async (rig) => {
    await create(rig, 'abc');
    expect(await listed(rig, { resourceVersion: '3', limit: 10 })).toBe('@3 a=1@2 b=1@3');
    expect(await listed(rig, { resourceVersion: '3', limit: 10, resourceVersionMatch: 'NotOlderThan' })).toBe(
      '@4 a=1@2 b=1@3 c=1@4',
    );
    const single = rig.storage.list(`${POD}a`, { resourceVersion: '3', limit: 10 });
    expect((await rig.run(single)).metadata.resourceVersion).toBe('4');
  });

  both('K07: what no request can be', async (rig) => {
    await create(rig, 'ab');
    const bad = async (options: object) => {
      const error = await rig.refusal(rig.storage.list('/pods', { recursive: true, ...options }));
      expect(error).toMatchObject({ code: 'BAD_REQUEST', httpStatus: 400, reason: 'BadRequest' });
    };
    for (const resourceVersion of ['x', '-1', '1.5', ' 1', '1e3', '0x10', String(2n ** 64n), '9'.repeat(40)]) {
      await bad({ resourceVersion });
    }
    for (const resourceVersionMatch of ['Newest', 'exact']) {
      await bad({ resourceVersion: '2', resourceVersionMatch });
      await bad({ resourceVersionMatch });
    }
    await bad({ resourceVersion: '0', resourceVersionMatch: 'Exact' });
    const { metadata } = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1 }));
    const token = metadata.continue;
    await bad({ continue: token, resourceVersion: '3' });
    const good = { v: 'meta.k8s.io/v1', rv: 3, start: 'ns1/b' };
    await bad({ continue: tokenOf({ ...good, start: '' }) });
    await bad({ continue: tokenOf({ ...good, rv: 0 }) });
    await bad({ continue: tokenOf({ ...good, rv: 1.5 }) });
    await bad({ continue: tokenOf({ ...good, v: 'v2' }) });
    await bad({ continue: tokenOf({ ...good, start: '\ud800' }) });
    await bad({ continue: tokenOf({ ...good, id: 7 }) });
    await bad({ continue: tokenOf(null) });
    await bad({ continue: '%%%' });
    expect(await listed(rig, { continue: tokenOf(good) })).toBe('@3 b=1@3');
    // Version 0 beside a token counts for nothing; a match without a version is the layer's above.
    expect(await listed(rig, { continue: token as string, resourceVersion: '0' })).toBe('@3 b=1@3');
    expect(await listed(rig, { resourceVersionMatch: 'Exact' })).toBe('@3 a=1@2 b=1@3');
    await expect(rig.run(rig.storage.list(POD, { continue: token as string }))).rejects.toThrow(
      'continue needs recursive',
    );
  });
});

describe('lists of a storage: pages', () => {
  both('K08: one of two, how many are left, and where it goes on', async (rig) => {
    await create(rig, 'ab');
    const page = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1 }));
    expect(page.items.map(brief)).toEqual(['a=1@2']);
    expect(page.metadata).toMatchObject({ resourceVersion: '3', remainingItemCount: 1 });
    const token = JSON.parse(Buffer.from(String(page.metadata.continue), 'base64url').toString());
    expect(token).toMatchObject({ v: 'meta.k8s.io/v1', rv: 3, start: 'ns1/a\0' });
    const filtered = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1, predicate: () => true }));
    expect(filtered.metadata.continue).toBeDefined();
    expect(filtered.metadata).not.toHaveProperty('remainingItemCount');
    const whole = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 2 }));
    expect(whole.metadata).toEqual({ resourceVersion: '3' });
  });

  both('K09: a later page is of the state of the first', async (rig) => {
    await create(rig, 'abcd');
    const first = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 2 }));
    await rig.run(rig.storage.delete(`${POD}c`));
    await rig.run(rig.storage.guaranteedUpdate(`${POD}d`, (object) => ({ ...object, spec: 9 })));
    await rig.truth.put(`${PREFIX}${POD}e`, thing('e'));
    expect(await listed(rig, { limit: 2, continue: first.metadata.continue as string })).toBe('@5 c=1@4 d=1@5');
    expect(await listed(rig)).toBe('@8 a=1@2 b=1@3 d=9@7 e=1@8');
  });

  both(
    'K10: a page after compaction is too old, and its token reads the rest as it is now',
    async (rig) => {
      await create(rig, 'abcdef');
      const first = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 2 }));
      await rig.run(rig.storage.delete(`${POD}c`));
      await create(rig, 'g');
      await rig.run(rig.store.compact(9));
      const error = await rig.refusal(listed(rig, { limit: 2, continue: first.metadata.continue as string }));
      expect(error).toMatchObject({ code: 'EXPIRED', httpStatus: 410, reason: 'Expired', resourceVersion: '7' });
      const token = (error as unknown as { continue: string }).continue;
      expect((error as unknown as { toStatus(): object }).toStatus()).toMatchObject({
        code: 410,
        metadata: { continue: token },
      });
      expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toEqual({
        v: 'meta.k8s.io/v1',
        rv: -1,
        start: 'ns1/b\0',
      });
      const second = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 2, continue: token }));
      expect(second.metadata.resourceVersion).toBe('9');
      expect(second.items.map(brief)).toEqual(['d=1@5', 'e=1@6']);
      await create(rig, 'h');
      expect(await listed(rig, { limit: 5, continue: second.metadata.continue as string })).toBe('@9 f=1@7 g=1@9');
    },
    { storage: { pinsMax: 0 } },
  );

  both('K09: a page keeps the next one readable for a while', async (rig) => {
    await create(rig, 'abc');
    const first = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1 }));
    expect(rig.storage.stats().pins).toBe(1);
    await create(rig, 'd');
    await rig.run(rig.store.compact(5));
    await rig.clock.advance(50_000);
    const second = await rig.run(
      rig.storage.list('/pods', { recursive: true, limit: 1, continue: first.metadata.continue as string }),
    );
    // Each page begins the time anew.
    await rig.clock.advance(50_000);
    const next = { recursive: true, limit: 5, continue: second.metadata.continue as string };
    expect((await rig.run(rig.storage.list('/pods', next))).items.map(brief)).toEqual(['c=1@4']);
    await rig.clock.advance(10_001);
    expect(rig.storage.stats().pins).toBe(0);
    expect(await rig.refusal(rig.storage.list('/pods', next))).toMatchObject({ code: 'EXPIRED' });
  });

  both('K11: a predicate that answers with a promise selects nothing: it is refused when it answers', async (rig) => {
    const { storage } = rig;
    await rig.run(storage.create('/pods/a/x', thing('x')));
    const later = (async () => false) as never;
    const message = /^Cannot (list|watch) objects: predicate answered with a promise$/;
    await expect(rig.run(storage.list('/pods', { recursive: true, predicate: later }))).rejects.toThrow(message);
    const watch = storage.watch('/pods', { recursive: true, predicate: later });
    await expect(rig.run(watch.next())).rejects.toThrow(message);
    for (const cachedExistingObject of [null, 5, 'x']) {
      const options = { cachedExistingObject } as never;
      const update = storage.guaranteedUpdate('/pods/a/x', (object) => object as never, options);
      await expect(rig.run(update)).rejects.toThrow(
        /^Cannot update an object: the object is (null|5|x), not a record$/,
      );
    }
  });

  both('K11: a predicate with a limit looks on until the page is full', async (rig) => {
    const names = 'abcdefghij';
    for (const [index, name] of [...names].entries()) {
      await rig.run(rig.storage.create(`${POD}${name}`, thing(name, index)));
    }
    const seen: number[] = [];
    const every3rd = ({ spec }: Thing) => {
      seen.push(Number(spec));
      return Number(spec) % 3 === 2;
    };
    const page = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 2, predicate: every3rd }));
    expect(page.items.map(({ spec }) => spec)).toEqual([2, 5]);
    expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
    const rest = await rig.run(
      rig.storage.list('/pods', {
        recursive: true,
        limit: 2,
        predicate: every3rd,
        continue: page.metadata.continue as string,
      }),
    );
    expect(rest.items.map(({ spec }) => spec)).toEqual([8]);
    expect(rest.metadata).toEqual({ resourceVersion: '11' });
    // Full with the very last row: there is nothing behind it.
    const last = await rig.run(
      rig.storage.list('/pods', { recursive: true, limit: 1, predicate: ({ spec }) => spec === 9 }),
    );
    expect(last.metadata).toEqual({ resourceVersion: '11' });
    const none = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 3, predicate: () => false }));
    expect(none).toMatchObject({ items: [], metadata: { resourceVersion: '11' } });
  });

  both('K12: ns1 is not ns11', async (rig) => {
    for (const key of ['/pods/ns1/a', '/pods/ns11/b', '/pods/ns1/c/d', '/pods/ns1', '/pods/ns0/e']) {
      await rig.run(rig.storage.create(key, thing(key)));
    }
    const { items } = await rig.run(rig.storage.list('/pods/ns1', { recursive: true }));
    expect(items.map(({ metadata }) => metadata?.name)).toEqual(['/pods/ns1/a', '/pods/ns1/c/d']);
    const slashed = await rig.run(rig.storage.list('/pods/ns1/', { recursive: true }));
    expect(slashed.items).toHaveLength(2);
  });

  both('K13: not recursive is the one object, not what shares its beginning', async (rig) => {
    for (const key of ['/pods/a', '/pods/a/b', '/pods/ab']) await rig.run(rig.storage.create(key, thing(key)));
    const one = await rig.run(rig.storage.list('/pods/a'));
    expect(one.items.map(brief)).toEqual(['/pods/a=1@2']);
    expect((await rig.run(rig.storage.list('/pods'))).items).toEqual([]);
    expect((await rig.run(rig.storage.list('/pods/a', { predicate: () => false }))).items).toEqual([]);
    const below = await rig.run(rig.storage.list('/pods/a', { recursive: true }));
    expect(below.items.map(brief)).toEqual(['/pods/a/b=1@3']);
  });

  both('K26: what is compacted away is too old, and the storage says from where on it can be read', async (rig) => {
    await create(rig, 'a');
    const old = (await rig.run(rig.storage.list('/pods', { recursive: true }))).metadata.resourceVersion;
    await rig.truth.put('/elsewhere', 1);
    await rig.run(rig.storage.getCurrentResourceVersion());
    await rig.run(rig.store.compact(Number(old) + 1));
    expect(rig.storage.compactRevision).toBe(Number(old) + 1);
    expect(await rig.refusal(listed(rig, { resourceVersion: old, resourceVersionMatch: 'Exact' }))).toMatchObject({
      code: 'EXPIRED',
    });
  });
});

describe('lists of a storage before its store is ready, and below its window', () => {
  it('K27: nothing is empty because nothing is known: it waits, then says to come again', async () => {
    const rig = await openRig('replica', { isNotReady: true, wrap: hanging });
    for (const options of [{}, { resourceVersion: '0' }, { limit: 5 }, { resourceVersion: '3' }]) {
      const begun = rig.clock.now();
      expect(await rig.refusal(rig.storage.list('/pods', { recursive: true, ...options }))).toMatchObject({
        code: 'TOO_MANY_REQUESTS',
        httpStatus: 429,
        reason: 'TooManyRequests',
        retryAfterSeconds: 1,
      });
      expect(rig.clock.now() - begun).toBe(3000);
    }
    expect(await rig.refusal(rig.storage.get('/pods/a'))).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    const list = rig.storage.list('/pods', { recursive: true });
    await rig.truth.put(`${PREFIX}/pods/a`, thing('a'));
    release();
    expect((await rig.run(list)).items.map(brief)).toEqual(['a=1@2']);
    await rig.store.close();
  });

  it('K27: with the backend at hand a limited list is served by it', async () => {
    const rig = await openRig('replica', { isNotReady: true, wrap: hanging, isBackendGiven: true });
    for (const name of 'abc') await rig.truth.put(`${PREFIX}${POD}${name}`, thing(name));
    passOnce(2);
    const first = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 2 }));
    expect(first.items.map(brief)).toEqual(['a=1@2', 'b=1@3']);
    expect(first.metadata).toMatchObject({ resourceVersion: '4', remainingItemCount: 1 });
    await rig.truth.delete(`${PREFIX}${POD}c`);
    const token = first.metadata.continue as string;
    const rest = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 2, continue: token }));
    expect(rest.items.map(brief)).toEqual(['c=1@4']);
    expect(rest.metadata).toEqual({ resourceVersion: '4' });
    expect(rig.clock.now()).toBe(0);
    // Whole lists are not: they wait.
    expect(await rig.refusal(rig.storage.list('/pods', { recursive: true }))).toMatchObject({ httpStatus: 429 });
    release();
    await rig.store.close();
  });

  it('K04: a state that only the backend has is read there, until it is gone there too', async () => {
    const rig = await openRig('replica', { isBackendGiven: true, store: { retention: { events: 2 } } });
    await create(rig, 'abcdef');
    expect(rig.storage.compactRevision).toBeGreaterThan(3);
    const exact = { resourceVersion: '3', resourceVersionMatch: 'Exact' } as const;
    expect(await listed(rig, exact)).toBe('@3 a=1@2 b=1@3');
    const page = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1, ...exact }));
    expect(page.metadata.remainingItemCount).toBe(1);
    await rig.truth.compact(5);
    expect(await rig.refusal(listed(rig, exact))).toMatchObject({ code: 'EXPIRED', continue: undefined });
    const gone = await rig.refusal(listed(rig, { continue: page.metadata.continue as string }));
    expect(gone).toMatchObject({ code: 'EXPIRED' });
    expect(await listed(rig, { continue: (gone as unknown as { continue: string }).continue })).toContain('@7 b=1@3');
    await rig.store.close();
  });
});

/** A backend whose ranges wait, but for as many as are let through. */
let waiting: (() => void)[] = [];
let passes = 0;

function hanging(backend: Backend) {
  waiting = [];
  passes = 0;
  return new Proxy(backend, {
    get(target, name) {
      if (name !== 'range') {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      }
      return async (request: Parameters<typeof target.range>[0]) => {
        if (request.limit === undefined || passes-- <= 0) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
          });
        }
        return target.range(request);
      };
    },
  });
}

function passOnce(times: number): void {
  passes = times;
}

function release(): void {
  passes = Number.POSITIVE_INFINITY;
  for (const go of waiting) go();
}
