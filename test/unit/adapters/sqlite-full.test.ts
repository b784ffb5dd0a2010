import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteBackend, type SqliteDriver } from '../../../src/adapters/sqlite/mod.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend } from '../../../src/types/backend.ts';
import { LeaseNotFoundError } from '../../../src/types/errors.ts';
import { ALL, close, commit, errorOf, keysOf, leasesOf, ownDriver, put, remove } from './sqlite-support.ts';

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-sqlite-full-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const LEASE = '7';
const TTL_MS = 10_000;
const KEYS = 1000;
const FULL = { code: 'BACKEND', permanent: false, maybeCommitted: false };
const long = 'x'.repeat(100);

const leaseKeys = async (backend: Backend) => (await keysOf(backend)).filter((key) => key.startsWith('lease/')).length;

/** Full of what compaction would take, beside the keys of a lease, whose deletes need more than is left. */
async function openFull(clock = createVirtualClock()) {
  const options = { file: join(folder, `${++files}.db`), fileBytesMax: 1_048_576, clock };
  const backend = await openSqliteBackend(options);
  await leasesOf(backend).grant({ id: LEASE, ttlMs: TTL_MS });
  for (let key = 0; key < KEYS; key += 100) {
    const some = Array.from({ length: 100 }, (_, index) => put(`lease/${key + index}/${long}`, '', { lease: LEASE }));
    await commit(backend, ...some);
  }
  let error: unknown;
  while (error === undefined) error = await errorOf(commit(backend, put('a', long.repeat(300))));
  expect(error).toMatchObject(FULL);
  return { backend, clock, options };
}

describe('a full file and a lease that falls due', () => {
  it('store:R42: reads go on, with the lease and its keys; so does what opens it anew', async () => {
    const full = await openFull();
    const { clock, options } = full;
    let { backend } = full;
    const { revision } = await backend.status({});
    await clock.advance(TTL_MS + 5000);
    for (let turn = 0; turn < 2; turn++) {
      expect((await backend.status({})).revision).toBe(revision);
      expect(await leaseKeys(backend)).toBe(KEYS);
      expect((await leasesOf(backend).list({})).leases).toEqual([LEASE]);
      const { status } = await leasesOf(backend).timeToLive({ id: LEASE, keys: true });
      expect(status?.keys?.length).toBe(KEYS);
      expect(status?.remainingMs).toBe(1);
      const stream = backend.watch({ ranges: [ALL], fromRevision: revision })[Symbol.asyncIterator]();
      expect((await stream.next()).value).toMatchObject({ type: 'open', revision });
      expect((await stream.next()).value).toMatchObject({ type: 'change', revision });
      await close(backend);
      backend = await openSqliteBackend(options);
    }
    await close(backend);
  });

  it('refuses what does not fit, and does what fits', async () => {
    const { backend, clock } = await openFull();
    await clock.advance(TTL_MS + 5000);
    const { revision } = await backend.status({});
    const large = put('b', long.repeat(1000));
    expect(await errorOf(commit(backend, large))).toMatchObject(FULL);
    expect(await errorOf(leasesOf(backend).revoke({ id: LEASE }))).toMatchObject(FULL);
    expect((await commit(backend, remove('a'))).revision).toBe(revision + 1);
    expect((await commit(backend, put('c', ''))).revision).toBe(revision + 2);
    expect(await leaseKeys(backend)).toBe(KEYS);
    await close(backend);
  });

  it('is compacted, also together with a write that does not fit; then the lease expires', async () => {
    const { backend, clock } = await openFull();
    await clock.advance(TTL_MS + 5000);
    const { revision } = await backend.status({});
    const large = () => errorOf(commit(backend, put('b', long.repeat(1000))));
    const [first, compacted, deleted, last] = await Promise.all([
      large(),
      errorOf(backend.compact({ revision })),
      commit(backend, remove('a')),
      large(),
    ]);
    for (const error of [first, last]) expect(error).toMatchObject(FULL);
    expect(compacted).toBeUndefined();
    expect(deleted.revision).toBe(revision + 1);
    // Nobody calls: the timer tries again.
    await clock.advance(5000);
    expect(await leaseKeys(backend)).toBe(0);
    expect((await backend.status({})).revision).toBe(revision + 2);
    expect((await leasesOf(backend).list({})).leases).toEqual([]);
    expect(await errorOf(leasesOf(backend).keepAlive({ id: LEASE }))).toBeInstanceOf(LeaseNotFoundError);
    await close(backend);
  });

  it('store:R40: a lease that is still there can be renewed and used; then it is not due any more', async () => {
    const { backend, clock } = await openFull();
    await clock.advance(TTL_MS + 5000);
    const { revision } = await backend.status({});
    const [renewed, used] = await Promise.all([
      leasesOf(backend).keepAlive({ id: LEASE }),
      commit(backend, put('lease/new', '', { lease: LEASE })),
    ]);
    expect(renewed).toMatchObject({ id: LEASE, ttlMs: TTL_MS, revision });
    expect(used.revision).toBe(revision + 1);
    await backend.compact({ revision });
    await clock.advance(TTL_MS - 1);
    expect(await leaseKeys(backend)).toBe(KEYS + 1);
    await clock.advance(1);
    expect(await leaseKeys(backend)).toBe(0);
    await close(backend);
  });
});

describe('an expiry that cannot be written', () => {
  /** Writes of `plimsoll_key` are those of the expiry here. */
  async function openBroken() {
    const clock = createVirtualClock();
    const state = { message: '', tries: 0, commits: 0 };
    const driver = await ownDriver(
      ({ run, write }): Partial<SqliteDriver> => ({
        run: (sql, ...parameters) => {
          if (state.message !== '' && sql.startsWith('DELETE FROM plimsoll_key')) {
            state.tries++;
            throw new Error(state.message);
          }
          run(sql, ...parameters);
        },
        write: (work) => {
          state.commits++;
          return write(work);
        },
      }),
    );
    const backend = await openSqliteBackend({ driver, clock });
    await leasesOf(backend).grant({ id: LEASE, ttlMs: TTL_MS });
    await commit(backend, put('a', '', { lease: LEASE }));
    return { backend, clock, state };
  }

  it.each(['database or disk is full', 'disk I/O error', 'attempt to write a readonly database'])(
    'is no obstacle to reads (%s), and is tried again once a second, not at each call',
    async (message) => {
      const { backend, clock, state } = await openBroken();
      state.message = message;
      await clock.advance(TTL_MS);
      const { tries } = state;
      expect(tries).toBeGreaterThan(0);
      for (let count = 0; count < 20; count++) expect(await keysOf(backend)).toEqual(['a']);
      expect(state.tries).toBe(tries);
      state.commits = 0;
      await clock.advance(10_000);
      expect(state.tries - tries).toBeGreaterThanOrEqual(10);
      expect(state.commits, 'the timer does not spin').toBeLessThan(60);
      state.message = '';
      await clock.advance(1001);
      expect(await keysOf(backend)).toEqual([]);
      await close(backend);
    },
  );

  it('because nothing can be written is no obstacle to reads either', async () => {
    const clock = createVirtualClock();
    let isReadonly = false;
    let tries = 0;
    const driver = await ownDriver(({ write }) => ({
      write: (work) => {
        if (!isReadonly) return write(work);
        tries++;
        throw new Error('attempt to write a readonly database');
      },
    }));
    const backend = await openSqliteBackend({ driver, clock });
    await leasesOf(backend).grant({ id: LEASE, ttlMs: TTL_MS });
    await commit(backend, put('a', '', { lease: LEASE }));
    isReadonly = true;
    await clock.advance(TTL_MS);
    for (let count = 0; count < 20; count++) expect(await keysOf(backend)).toEqual(['a']);
    expect(tries).toBeLessThan(6);
    const error = await errorOf(commit(backend, put('b', '')));
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true, maybeCommitted: false });
    await close(backend);
  });

  it('for another reason is an error', async () => {
    const { backend, clock, state } = await openBroken();
    state.message = 'database disk image is malformed';
    await clock.advance(TTL_MS);
    expect(await errorOf(keysOf(backend))).toMatchObject({ code: 'BACKEND', permanent: true });
    await close(backend);
  });

  it('only together with a write that does not fit is a commit of its own', async () => {
    const clock = createVirtualClock();
    let isFull = false;
    const driver = await ownDriver(({ run }) => ({
      run: (sql, ...parameters) => {
        if (isFull && sql.startsWith('INSERT OR REPLACE INTO plimsoll_key'))
          throw new Error('database or disk is full');
        run(sql, ...parameters);
      },
    }));
    const backend = await openSqliteBackend({ driver, clock });
    let outcome: Promise<unknown> | undefined;
    // Before the timer of the expiry, and in one group with it.
    clock.after(TTL_MS, () => {
      isFull = true;
      outcome = errorOf(commit(backend, put('b', '')));
    });
    await leasesOf(backend).grant({ id: LEASE, ttlMs: TTL_MS });
    await commit(backend, put('a', '', { lease: LEASE }));
    await clock.advance(TTL_MS);
    expect(await outcome).toMatchObject(FULL);
    expect(await keysOf(backend)).toEqual([]);
    await close(backend);
  });
});
