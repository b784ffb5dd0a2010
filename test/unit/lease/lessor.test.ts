import { describe, expect, it } from 'vitest';
import { LeaseWalk } from '../../../src/lease/lease-walk.ts';
import { Lessor } from '../../../src/lease/lessor.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { InvariantError, LeaseExistsError, LeaseNotFoundError, LimitExceededError } from '../../../src/types/errors.ts';
import type { LeaseId } from '../../../src/types/lease.ts';
import type { LeaseDump } from '../../../src/types/lease-dump.ts';
import { reproduce, testSeed } from '../../support/size.ts';

/** What a put does to a key: from the lease that it had to the one that it gets. */
function move(lessor: Lessor, text: string, from: LeaseId | undefined, to: LeaseId | undefined): boolean {
  if (to !== undefined) lessor.attach(to, text);
  return from !== undefined && from !== to && lessor.detach(from, text);
}

const GRANT = 'grant a lease';
const KEEP = 'keep a lease alive';
const TTL_MAX = 9e12;

interface Books {
  readonly clock: VirtualClock;
  readonly lessor: Lessor;
}

/** Books whose due leases stay until the test removes them. */
function open({ leasesMax = 1000, startMs = 0 } = {}): Books {
  const clock = createVirtualClock({ startMs });
  const random = createSeededRandom(testSeed());
  return { clock, lessor: new Lessor({ clock, random, leasesMax, onDue: () => {} }) };
}

/** Removes what is due, and says which. */
function expire({ clock, lessor }: Books): string[] {
  const gone: string[] = [];
  for (let most = lessor.size; most > 0; most--) {
    const due = lessor.next(clock.now());
    if (due === undefined) break;
    gone.push(due.id);
    lessor.remove(due.id);
  }
  return gone;
}

describe('grant', () => {
  it('C58: an id once, no id 0, no TTL above the largest', () => {
    const { lessor } = open();
    expect(lessor.grant(1, '1', GRANT)).toMatchObject({ id: '1', ttlMs: 1, deadline: 1, keyed: false });
    expect(() => lessor.grant(1, '1', GRANT)).toThrow(new LeaseExistsError(GRANT, '1'));
    expect(() => lessor.grant(1, '0', GRANT)).toThrow(RangeError);
    const facts = { limit: 'leaseTtlMs', max: TTL_MAX, actual: TTL_MAX + 1 };
    expect(() => lessor.grant(TTL_MAX + 1, '2', GRANT)).toThrow(new LimitExceededError(GRANT, facts));
    expect(lessor.grant(TTL_MAX, '2', GRANT).ttlMs).toBe(TTL_MAX);
    expect(lessor.ids()).toEqual(['1', '2']);
  });

  it('R39: makes an id where none is given', () => {
    const { lessor } = open();
    const ids = new Set(Array.from({ length: 500 }, () => lessor.grant(5, undefined, GRANT).id));
    expect([ids.size, lessor.size, ids.has('0')], reproduce('unit')).toEqual([500, 500, false]);
  });

  it.each([0, -1, -0, 0.5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses a TTL of %d ms',
    (ttlMs) => {
      const { lessor, clock } = open();
      expect(() => lessor.grant(ttlMs, '1', GRANT)).toThrow(
        new RangeError(`Cannot grant a lease: ttlMs is ${ttlMs}, allowed is an integer from 1 to 9000000000000`),
      );
      expect([lessor.size, clock.pending]).toEqual([0, 0]);
    },
  );

  it.each([['1000'], [undefined], [null], [10n]])('refuses %o for a TTL, and the type says so', (ttlMs) => {
    const { lessor } = open();
    expect(() => lessor.grant(ttlMs as unknown as number, '1', GRANT)).toThrow(TypeError);
    expect(() => lessor.grant(1, 1 as unknown as string, GRANT)).toThrow(TypeError);
    expect(lessor.size).toBe(0);
  });

  it('enters nothing above the largest number of leases', () => {
    const { lessor } = open({ leasesMax: 2 });
    lessor.grant(10, '1', GRANT);
    lessor.grant(10, '2', GRANT);
    const error = new LimitExceededError(GRANT, { limit: 'leases', max: 2, actual: 3 });
    expect(() => lessor.grant(10, '3', GRANT)).toThrow(error);
    expect(() => lessor.grant(10, '2', GRANT)).toThrow(LeaseExistsError);
    lessor.remove('1');
    expect(lessor.grant(10, '3', GRANT).id).toBe('3');
  });
});

describe('the deadline', () => {
  it('R42: is not before the TTL has passed, and is at the TTL', async () => {
    const { clock, lessor } = open({ startMs: 500 });
    lessor.grant(100, '1', GRANT);
    await clock.advance(99);
    expect(lessor.next(clock.now())).toBe(undefined);
    await clock.advance(1);
    expect(lessor.next(clock.now())?.id).toBe('1');
  });

  it('R40: is a whole TTL away again after a renewal', async () => {
    const { clock, lessor } = open();
    lessor.grant(100, '1', GRANT);
    await clock.advance(99);
    expect(lessor.keepAlive('1', KEEP)).toMatchObject({ ttlMs: 100, deadline: 199 });
    await clock.advance(99);
    expect(lessor.next(clock.now())).toBe(undefined);
    await clock.advance(1);
    expect(lessor.next(clock.now())?.id).toBe('1');
  });

  it('R40: never moves again once it is reached, removed or not', async () => {
    const { clock, lessor } = open();
    lessor.grant(100, '1', GRANT);
    const error = new LeaseNotFoundError(KEEP, '1');
    await clock.advance(100);
    expect(() => lessor.keepAlive('1', KEEP)).toThrow(error);
    expect(lessor.next(clock.now())).toMatchObject({ id: '1', deadline: 100 });
    lessor.remove('1');
    expect(() => lessor.keepAlive('1', KEEP)).toThrow(error);
    expect(() => lessor.require('1', KEEP)).toThrow(error);
    expect([lessor.get('1'), lessor.size, lessor.next(1e15)]).toEqual([undefined, 0, undefined]);
  });

  it('M31: decides the order, then the id as a number', async () => {
    const books = open();
    for (const id of ['10', '9', '100', '9223372036854775807', '2']) books.lessor.grant(50, id, GRANT);
    books.lessor.grant(20, '99', GRANT);
    await books.clock.advance(50);
    expect(expire(books)).toEqual(['99', '2', '9', '10', '100', '9223372036854775807']);
  });

  it('R43: what is left is whole ms, never below 0 and never above what was granted', async () => {
    const { clock, lessor } = open({ startMs: 0.1 });
    const lease = lessor.grant(3, '1', GRANT);
    const left: number[] = [lessor.remaining(lease)];
    for (const step of [0.5, 0.5, 1.5, 0.4, 0.2, 68_272_000]) {
      await clock.advance(step);
      left.push(lessor.remaining(lease));
    }
    expect(left).toEqual([3, 3, 2, 1, 1, 0, 0]);
    // 5.3 + 3 - 5.3 is a bit more than 3.
    const other = open({ startMs: 5.3 });
    expect(other.lessor.remaining(other.lessor.grant(3, '1', GRANT))).toBe(3);
  });
});

describe('keys', () => {
  it('are those that were attached and not detached', () => {
    const { lessor } = open();
    const lease = lessor.grant(10, '1', GRANT);
    for (const key of ['b', 'a', 'b', '']) lessor.attach('1', key);
    expect(lessor.keys(lease).sort()).toEqual(['', 'a', 'b']);
    expect([lessor.detach('1', 'b'), lessor.detach('1', 'b'), lessor.detach('2', 'a')]).toEqual([false, false, false]);
    expect(lessor.keys(lease).sort()).toEqual(['', 'a']);
  });

  it('R44: survive the lease that they have left', () => {
    const { lessor } = open();
    const [a, b] = [lessor.grant(10, '1', GRANT), lessor.grant(20, '2', GRANT)];
    expect([move(lessor, 'x', undefined, '1'), move(lessor, 'y', undefined, '1')]).toEqual([false, false]);
    expect([move(lessor, 'x', '1', '2'), move(lessor, 'y', '1', undefined)]).toEqual([false, false]);
    expect([lessor.keys(a), lessor.keys(b), lessor.size]).toEqual([[], ['x'], 2]);
    expect([lessor.keyCount(a), lessor.keyCount(b)]).toEqual([0, 1]);
  });

  it('are forgotten with their lease, also when its id is used again', () => {
    const { lessor } = open();
    const old = lessor.grant(10, '1', GRANT);
    lessor.attach('1', 'x');
    lessor.remove('1');
    expect([lessor.keys(old), lessor.keyCount(old), lessor.detach('1', 'x')]).toEqual([[], 0, false]);
    expect(lessor.keys(lessor.grant(10, '1', GRANT))).toEqual([]);
  });

  it('cannot be attached to what is not there', () => {
    expect(() => open().lessor.attach('1', 'x')).toThrow(InvariantError);
  });
});

describe('a keyed lease', () => {
  it('goes with its last key, and says so once', () => {
    const { lessor } = open();
    lessor.grant(10, '1', GRANT, { keyed: true });
    lessor.attach('1', 'x');
    lessor.attach('1', 'y');
    expect([lessor.detach('1', 'z'), lessor.detach('1', 'x'), lessor.size]).toEqual([false, false, 1]);
    expect([lessor.detach('1', 'y'), lessor.size, lessor.detach('1', 'y')]).toEqual([true, 0, false]);
    expect(() => lessor.keepAlive('1', KEEP)).toThrow(LeaseNotFoundError);
  });

  it('stays where its key is put with it again', () => {
    const { lessor } = open();
    const lease = lessor.grant(10, '1', GRANT, { keyed: true });
    move(lessor, 'x', undefined, '1');
    expect([move(lessor, 'x', '1', '1'), lessor.keys(lease)]).toEqual([false, ['x']]);
  });

  it('does not pile up when one key is put again and again', () => {
    const { clock, lessor } = open({ leasesMax: 2 });
    let last: string | undefined;
    for (let round = 0; round < 10_000; round++) {
      const { id } = lessor.grant(1000, undefined, 'put a key', { keyed: true });
      expect(move(lessor, 'x', last, id)).toBe(round > 0);
      last = id;
    }
    expect([lessor.size, clock.pending]).toEqual([1, 1]);
  });
});

describe('a dump', () => {
  it('has all leases, with what is left of each', async () => {
    const { clock, lessor } = open();
    lessor.grant(100, '10', GRANT);
    lessor.grant(30, '9', GRANT, { keyed: true });
    await clock.advance(40.5);
    expect([...lessor.dump()]).toEqual([
      { id: '10', ttlMs: 100, remainingMs: 60, keyed: false },
      { id: '9', ttlMs: 30, remainingMs: 0, keyed: true },
    ]);
  });

  it('R45: is of the moment it was begun, whatever happens while it is read', async () => {
    const random = createSeededRandom(testSeed());
    const pick = (below: number) => Math.floor(random() * below);
    for (let round = 0; round < 200; round++) {
      const { clock, lessor } = open();
      for (let id = 1; id <= 12; id++) lessor.grant(500 + pick(1000), String(id), GRANT, { keyed: pick(2) === 0 });
      await clock.advance(pick(100));
      const byId = (a: LeaseDump, b: LeaseDump) => Number(a.id) - Number(b.id);
      const expected = [...lessor.dump()].sort(byId);
      const [seen, walk] = [[] as LeaseDump[], lessor.dump()];
      for (let step = 0; step < 40; step++) {
        const id = String(1 + pick(14));
        const what = pick(5);
        await clock.advance(pick(2));
        if (what === 0) lessor.remove(id);
        else if (what === 1 && lessor.get(id) === undefined) lessor.grant(5000, id, GRANT);
        else if (what === 2 && lessor.get(id) !== undefined) lessor.keepAlive(id, KEEP);
        else if (what > 2) {
          const { value, done } = walk.next();
          if (done !== true) seen.push(value);
        }
      }
      seen.push(...walk);
      expect(seen.sort(byId), reproduce('unit')).toEqual(expected);
      expect(walk.next()).toEqual({ done: true, value: undefined });
    }
  });

  it('given up before its end gives nothing more, and nothing is kept for it; ending it twice is ending it once', () => {
    for (const end of ['next', 'return'] as const) {
      const { lessor } = open();
      for (const id of ['1', '2', '3']) lessor.grant(100, id, GRANT);
      const walk = lessor.dump();
      walk.next();
      lessor.remove('3');
      if (end === 'return') walk.return?.();
      else while (walk.next().done !== true);
      expect([end, walk.return?.(), walk.next(), walk.next()]).toEqual([
        end,
        { done: true, value: undefined },
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
    }
    const walked = [1, 2, 3].map((serial) => ({ serial }));
    let ends = 0;
    const walk = new LeaseWalk({
      entries: walked,
      end: 4,
      dump: ({ serial }) => ({ id: String(serial), ttlMs: 1, remainingMs: 1, keyed: false }),
      onEnd: () => ends++,
    });
    expect([[...walk].length, ends]).toEqual([3, 1]);
    walk.return();
    expect([walk.next().done, ends]).toEqual([true, 1]);
  });

  it('ends although leases come faster than they are read', () => {
    const { lessor } = open();
    for (let id = 1; id <= 3; id++) lessor.grant(100, String(id), GRANT);
    let count = 0;
    for (const { id } of lessor.dump()) {
      expect(Number(id)).toBeLessThan(4);
      for (let more = 0; more < 5; more++) lessor.grant(100, String(10 + 10 * count + more), GRANT);
      count++;
    }
    expect([count, lessor.size]).toEqual([3, 18]);
  });

  it('C63: restored leases go when what was left has passed: not before, and not after a whole TTL (R45)', async () => {
    const random = createSeededRandom(testSeed());
    const from = open({ startMs: 1e6 });
    for (let index = 1; index <= 200; index++) from.lessor.grant(index <= 100 ? 10_000 : 11_000, String(index), GRANT);
    for (let step = 0; step < 100; step++) {
      await from.clock.advance(Math.floor(random() * 90));
      from.lessor.keepAlive(String(1 + Math.floor(random() * 200)), KEEP);
    }
    const dump = [...from.lessor.dump()];
    const to = open({ startMs: 77 });
    to.lessor.restore(dump, 'open a store');
    expect([...to.lessor.dump()]).toEqual(dump);
    const left = new Map(dump.map(({ id, remainingMs }) => [id, remainingMs]));
    while (await to.clock.advanceToNext()) {
      for (const id of expire(to)) expect(to.clock.now() - 77, reproduce('unit')).toBe(left.get(id));
    }
    expect([new Set(left.values()).size > 20, to.lessor.size, to.clock.pending]).toEqual([true, 0, 0]);
  });

  it('keeps what a keyed lease is, and a renewal after it is worth what was granted', async () => {
    const { clock, lessor } = open({ leasesMax: 1 });
    lessor.restore(
      [
        { id: '1', ttlMs: 100, remainingMs: 5, keyed: true },
        { id: '2', ttlMs: 100, remainingMs: 5, keyed: false },
      ],
      'open a store',
    );
    expect(lessor.keepAlive('2', KEEP).deadline).toBe(100);
    expect(() => lessor.grant(1, '3', GRANT)).toThrow(LimitExceededError);
    lessor.attach('1', 'x');
    expect([lessor.detach('1', 'x'), lessor.ids()]).toEqual([true, ['2']]);
    await clock.advance(99);
    expect(lessor.next(clock.now())).toBe(undefined);
  });

  const good = { id: '1', ttlMs: 100, remainingMs: 5, keyed: true };
  it.each([
    ['an id twice', good, RangeError],
    ['no id', { ...good, id: '0' }, RangeError],
    ['an id that is no text', { ...good, id: 2 }, TypeError],
    ['a TTL of 0', { ...good, id: '2', ttlMs: 0, remainingMs: 0 }, RangeError],
    ['a TTL above the largest', { ...good, id: '2', ttlMs: TTL_MAX + 1 }, LimitExceededError],
    ['more left than was granted', { ...good, id: '2', remainingMs: 101 }, RangeError],
    ['less than nothing left', { ...good, id: '2', remainingMs: -1 }, RangeError],
    ['what is left as text', { ...good, id: '2', remainingMs: '5' as never }, RangeError],
    ['what is left unsaid', { ...good, id: '2', remainingMs: Number.NaN }, RangeError],
    ['keyed that is no boolean', { ...good, id: '2', keyed: 1 }, TypeError],
  ])('with %s is refused whole', (_, bad, error) => {
    const { clock, lessor } = open();
    expect(() => lessor.restore([good, bad as typeof good], 'open a store')).toThrow(error);
    expect([lessor.size, clock.pending]).toEqual([0, 0]);
  });

  it('goes into empty books only', () => {
    const { lessor } = open();
    lessor.grant(1, '1', GRANT);
    expect(() => lessor.restore([], 'open a store')).toThrow(InvariantError);
  });
});
