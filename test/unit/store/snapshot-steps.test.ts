import { describe, expect, it, vi } from 'vitest';
import { coreModule } from '../../../src/core/module.ts';
import { checksumSteps } from '../../../src/store/snapshot-checksum.ts';
import { snapshotSteps } from '../../../src/store/snapshot-create.ts';
import { restoreSteps } from '../../../src/store/snapshot-restore.ts';
import { sortedPlaces } from '../../../src/store/snapshot-sort.ts';
import { StepLength, StepRunner } from '../../../src/store/snapshot-steps.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { SnapshotError } from '../../../src/types/errors.ts';
import type { LeaseDump } from '../../../src/types/lease-dump.ts';
import { reproduce, testSeed } from '../../support/size.ts';
import { Parts } from './fixture.ts';

/**
 * How much is done in one step of a snapshot. The unit is a row of a few bytes that is written, of which a step has 1024;
 * where a number of steps is exact here, it follows from that and from what the sources say a thing is worth.
 */

/** Runs all steps: how often they gave way, and what came out. `look` is called each time. */
function finish<T>(work: Generator<void, T>, look = () => {}): { readonly steps: number; readonly result: T } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next();
    if (done === true) return { steps, result: value };
    look();
  }
}

function leases(count: number): LeaseDump[] {
  return Array.from({ length: count }, (_, id) => ({ id: `${id + 1}`, ttlMs: 10, remainingMs: 5, keyed: false }));
}

function create(parts: Parts, dumps: LeaseDump[] = []) {
  return finish(snapshotSteps({ mvcc: parts.mvcc, identity: 'parts', wallTimeMs: 0, leases: dumps }));
}

describe('a step', () => {
  it('is over with its 1024th unit', () => {
    const length = new StepLength();
    expect([1023, 0.5, 0.5, 1024, 1023.5, 1].map((units) => length.isOver(units))).toEqual([
      false,
      false,
      true,
      true,
      false,
      true,
    ]);
  });
});

describe('running steps', () => {
  function* counting(): Generator<void, number> {
    for (let count = 0; count < 2; count++) yield;
    return 2;
  }

  it('does the first at once, each other in a task of its own, and says the end once', async () => {
    const tasks: (() => void)[] = [];
    const runner = new StepRunner({
      after: (_, task) => {
        tasks.push(task);
        return () => {};
      },
    });
    const seen: string[] = [];
    function* steps(): Generator<void, string> {
      for (const name of ['a', 'b']) yield void seen.push(name);
      return 'done';
    }
    const work = runner.run(steps(), { onEnd: () => seen.push('end') });
    expect([seen.join(), tasks.length]).toEqual(['a', 1]);
    tasks.shift()?.();
    expect([seen.join(), tasks.length]).toEqual(['a,b', 1]);
    tasks.shift()?.();
    expect([seen.join(), tasks.length, await work]).toEqual(['a,b,end', 0, 'done']);
    expect([runner.fail('late'), seen.join()]).toEqual([false, 'a,b,end']);
  });

  it('gives up what runs, and says whether anything did', async () => {
    const clock = createVirtualClock();
    const runner = new StepRunner(clock);
    const works = [runner.run(counting()), runner.run(counting())];
    expect([runner.fail('enough'), clock.pending, runner.fail('again')]).toEqual([true, 0, false]);
    expect((await Promise.allSettled(works)).map((one) => (one as PromiseRejectedResult).reason)).toEqual([
      'enough',
      'enough',
    ]);
  });

  it('a step that gives up the work is the last one', async () => {
    const clock = createVirtualClock();
    const runner = new StepRunner(clock);
    let ends = 0;
    function* failing(): Generator<void, void> {
      runner.fail('enough');
      yield;
    }
    await expect(runner.run(failing(), { onEnd: () => ends++ })).rejects.toBe('enough');
    expect([clock.pending, ends]).toEqual([0, 1]);
  });
});

describe('sorting in steps', () => {
  const sort = (ranks: readonly number[]) => finish(sortedPlaces(Float64Array.from(ranks), new StepLength()));

  it('gives the places in the order of their ranks, equal ones as they come', () => {
    expect([...sort([7, 2, 9, 4, 1, 8, 3]).result]).toEqual([4, 1, 6, 3, 0, 5, 2]);
    const random = createSeededRandom(testSeed());
    // Below, at and above a piece that is sorted as it is, and two and more of them.
    for (const count of [0, 1, 2, 255, 256, 257, 511, 512, 513, 768, 1025, 3000]) {
      for (const most of [1, 20, 1e9]) {
        const ranks = Array.from({ length: count }, () => Math.floor(random() * most));
        const places = ranks.map((_, place) => place).sort((a, b) => (ranks[a] as number) - (ranks[b] as number));
        expect([...sort(ranks).result].join(), `${reproduce('unit')}, ${count} below ${most}`).toBe(places.join());
      }
    }
  });

  it('a place is half a unit at first, and a twentieth each time that pieces of twice the length are made', () => {
    const steps = (count: number) => sort(Array.from({ length: count }, (_, at) => count - at)).steps;
    // 500; 2,000 and 4 * 200; 5,000 and 6 * 500; each in pieces of 1024.
    expect([1000, 4000, 10_000].map(steps)).toEqual([0, 2, 7]);
  });
});

describe('the checksum in steps', () => {
  it('is a step for each MiB', () => {
    const steps = (length: number) =>
      finish(checksumSteps(coreModule(), new Uint8Array(length), new StepLength())).steps;
    expect([0, 1_048_575, 1_048_576, 3_600_000].map(steps)).toEqual([0, 1, 1, 3]);
  });
});

describe('a snapshot in steps', () => {
  const many = Array.from({ length: 10_240 }, (_, index) => `key/${index}`);

  it('gives way while it looks at keys that are not in it', () => {
    const parts = new Parts({ retention: { events: 1e6 } });
    parts.commit(2, ...many.map((key) => ['put', key] as const));
    parts.commit(3, ...many.map((key) => ['delete', key] as const));
    parts.commit(4, ['put', 'a']);
    parts.applier.compact(4, 'compact');
    // A quarter of a unit for each.
    expect(create(parts).steps).toBe(2);
  });

  it('gives way while it writes and reads leases', () => {
    const { steps, result } = create(new Parts(), leases(3000));
    expect(steps).toBe(2);
    const { mvcc, applier } = new Parts();
    const opened = finish(restoreSteps(result, { mvcc, commit: (commit) => applier.commit(commit, 'open') }));
    expect([opened.steps, opened.result.leases.length]).toEqual([2, 3000]);
  });

  it('rows are opened in pieces, each once, and leave the log at once', () => {
    const old = new Parts({ retention: { events: 1e6 } });
    const rows = many.slice(0, 3000);
    for (const [index, key] of rows.entries()) old.commit(index + 2, ['put', key]);
    old.commit(3002, ['put', 'a']);
    old.applier.compact(3002, 'compact');
    const { result: snapshot } = create(old);

    const { mvcc, applier } = new Parts();
    const { state } = mvcc;
    const publish = vi.spyOn(state, 'publish');
    let entries = 0;
    const commit = (one: Parameters<typeof applier.commit>[0]) => {
      entries = Math.max(entries, state.entries());
      applier.commit(one, 'open');
    };
    const { steps } = finish(restoreSteps(snapshot, { mvcc, commit }), () => {
      entries = Math.max(entries, state.entries());
    });
    const pieces = publish.mock.calls.map(([{ changes }]) => changes.length);
    expect(pieces.reduce((sum, count) => sum + count, 0)).toBe(3001);
    expect([Math.max(...pieces) < 400, steps >= 3000 / 400, entries]).toEqual([true, true, 0]);
    expect(rows.map((key) => parts(mvcc, key)).join()).toBe(rows.map((key) => parts(old.mvcc, key)).join());
  });

  it("R70': bytes that change while they are read are found out, whenever that is", () => {
    const old = new Parts();
    old.commit(2, ...many.slice(0, 4096).map((key) => ['put', key] as const));
    const bytes = create(old).result;
    /** In the last rows. */
    const place = bytes.length - 40;
    const open = (changeAfter: number, flip = 1) => {
      const own = bytes.slice();
      const { mvcc, applier } = new Parts();
      let step = 0;
      const change = () => {
        if (++step === changeAfter) own[place] = (own[place] as number) ^ flip;
      };
      return finish(restoreSteps(own, { mvcc, commit: (commit) => applier.commit(commit, 'open') }), change).steps;
    };
    const steps = open(0);
    expect(steps).toBeGreaterThan(8);
    for (let after = 1; after < steps; after++) expect(() => open(after), `after step ${after}`).toThrow(SnapshotError);
    // Among so many checksums there are some that have a byte in common with that of what was checked.
    for (let flip = 1; flip <= 64; flip++) expect(() => open(1, flip), `flip ${flip}`).toThrow(SnapshotError);
  });

  it.each<[string, unknown, number, number]>([
    // A put of a value, or a delete; what its bytes count, and what it costs more to open.
    ['short values', 'x', 1, 0],
    ['with a lease', 'x', 1, 3],
    ['long values', 'x'.repeat(1000), 1, 0],
    ['data', ['x'.repeat(1000)], 2, 0],
    ['deletes', undefined, 1, 0],
  ])('a step has as many rows as their size allows: %s', (_, cell, factor, more) => {
    const old = new Parts({ retention: { events: 1e6 } });
    const rows = many.slice(0, 4096);
    old.commit(2, ...rows.map((key) => ['put', key] as const));
    const type = cell === undefined ? 'delete' : 'put';
    const changes = old.changes(
      3,
      rows.map((key) => [type, key]),
    );
    const lease = more > 0 ? '1' : '0';
    const own = changes.map((change) => (cell === undefined ? change : { ...change, cell, lease }));
    old.applier.commit({ revision: 3, changes: own }, 'commit');
    old.applier.compact(3, 'compact');
    const made = create(old, leases(1));
    const { mvcc, applier } = new Parts({ retention: { events: 1e6 } });
    const opened = finish(restoreSteps(made.result, { mvcc, commit: (commit) => applier.commit(commit, 'open') }));
    // 256 bytes are as much as a row. All are copied, and hashed, when opened before and after; each key was looked at.
    const { length } = made.result;
    const units = factor * (rows.length + length / 256);
    const writing = (units + length * 0.0015 + rows.length / 4) / 1024;
    const opening = (3 * units + more * rows.length + length * 0.002) / 1024;
    expect(Math.abs(made.steps - writing), `${made.steps}, not ${writing}`).toBeLessThan(2);
    // Compaction gives way too, every 1024 entries.
    expect(Math.abs(opened.steps - opening), `${opened.steps}, not ${opening}`).toBeLessThan(4);
  });
});

/** All that is known of a key now. */
function parts(mvcc: Parts['mvcc'], key: string): string {
  const slot = mvcc.state.slotOf(key, mvcc.window.revision);
  return slot < 0 ? 'none' : JSON.stringify(mvcc.kv(slot));
}
