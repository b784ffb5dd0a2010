import { byteText } from '../core/key-order.ts';
import { LeaseExistsError, LeaseNotFoundError } from '../types/errors.ts';
import type { BackendCaseSpec, BackendSession } from './backend-session.ts';
import { ALL, eventText, get, itemText, keyTexts, nested, put, rowText, when } from './backend-terms.ts';

/** Of leases that shall not expire in a case. */
const LONG_MS = 600_000;
/** Of those that shall: as short as what a server grants at least. */
const SHORT_MS = 4_000;
/** Keys of one lease: more than a transaction has to take operations (store:R21), so they are attached in parts. */
const MANY_KEYS = 300;
const PUTS = 100;

/** Leases: grants, attachment, the end of one. */
export const LEASE_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'a lease is granted for at least what was asked, under an id of its own',
    rule: 'store:R39',
    needs: ['leases'],
    async run(session) {
      const { leases } = session;
      const { revision, identity } = await session.status();
      const own = await session.within('grant', leases.grant({ ttlMs: LONG_MS, id: '7' }));
      session.equal('the id that was asked for', [own.id, own.identity], ['7', identity]);
      session.check('the TTL', own.ttlMs >= LONG_MS, `${LONG_MS} or above`, own.ttlMs);
      session.check('the revision', own.revision >= revision, `${revision} or above`, own.revision);
      const ids = new Set(['7']);
      for (let count = 0; count < 5; count++) {
        const { id } = await session.within('grant', leases.grant({ ttlMs: LONG_MS }));
        session.check('an id', /^[1-9]\d{0,18}$/.test(id), 'a decimal from 1 to 9223372036854775807', id);
        ids.add(id);
      }
      session.equal('the number of ids', ids.size, 6);
      await session.refused('an id in use', leases.grant({ ttlMs: LONG_MS, id: '7' }), LeaseExistsError);
      const list = await session.within('list', leases.list({}));
      const sorted = [...ids].sort((a, b) => Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b)));
      session.equal('the ids of all leases', list.leases, sorted);
    },
  },
  {
    name: 'a put attaches, moves and detaches its key',
    rule: 'store:R16',
    needs: ['leases'],
    async run(session) {
      await grant(session, '9', '10');
      const steps = [
        [put('k', '1', { lease: '9' }), '9'],
        [put('k', '2', { lease: '10' }), '10'],
        [put('k', '3', { ignoreLease: true }), '10'],
        [put('k', '', { ignoreValue: true, lease: '9' }), '9'],
        [put('k', '4', { lease: '0' }), '0'],
        [put('k', '5', { lease: '9' }), '9'],
        [put('k', '6'), '0'],
      ] as const;
      for (const [operation, expected] of steps) {
        await session.txn([operation]);
        session.equal(
          'the lease of the row',
          (await session.rows()).map(({ lease }) => lease),
          [expected],
        );
        session.equal('the keys of 9', await keysOf(session, '9'), expected === '9' ? ['k'] : []);
        session.equal('the keys of 10', await keysOf(session, '10'), expected === '10' ? ['k'] : []);
      }
    },
  },
  {
    name: 'a put that ignores value and lease keeps both',
    rule: 'store:R15',
    needs: ['leases'],
    run: keptBoth,
  },
  {
    name: 'an unknown lease is refused where it runs, and nothing is written',
    rule: 'B12',
    needs: ['leases'],
    async run(session) {
      const revision = await session.write({ k: '1' });
      const bad = put('x', '1', { lease: '999' });
      await session.refused('an unknown lease', session.send([put('k', '2'), bad]), LeaseNotFoundError);
      await session.refused('a nested one', session.send([put('k', '2'), nested([], [bad])]), LeaseNotFoundError);
      await session.txn([bad], { compare: [when('k', 'version', '=', 9)] });
      session.equal('the revision behind them', (await session.status()).revision, revision);
      session.equal('the keys behind them', keyTexts(await session.rows()), ['k']);
    },
  },
  {
    name: 'leases are compared as numbers',
    rule: 'store:R17',
    needs: ['leases'],
    async run(session) {
      await grant(session, '9', '10');
      await session.txn([put('k', '1', { lease: '10' })]);
      const cases = [
        ['=', '10', true],
        ['>', '9', true],
        ['<', '9', false],
        ['<', '9223372036854775807', true],
        ['!=', '9', true],
      ] as const;
      for (const [result, value, expected] of cases) {
        const { succeeded } = await session.txn([], { compare: [when('k', 'lease', result, value)] });
        session.equal(`whether lease 10 ${result} ${value}`, succeeded, expected);
      }
    },
  },
  {
    name: 'a revoked lease takes its keys along, in one commit, in key order',
    rule: 'store:R41',
    needs: ['leases'],
    async run(session) {
      await grant(session, '5', '6');
      await session.txn([put('c', '1', { lease: '5' }), put('a', '1', { lease: '5' }), put('b', '1', { lease: '6' })]);
      const from = (await session.txn([put('B', '1', { lease: '5' })])).revision;
      const reader = session.watch(from + 1);
      const { revision, deleted } = await session.within('revoke', session.leases.revoke({ id: '5' }));
      session.equal('the number of deleted keys', deleted, 3);
      session.check('the revision of the deletes', revision > from, `above ${from}`, revision);
      await session.seen(reader, revision);
      session.equal('the changes', reader.items.slice(1).map(itemText), [
        `change ${revision} delete B (${revision}), delete a (${revision}), delete c (${revision})`,
      ]);
      session.equal('the keys behind it', keyTexts(await session.rows()), ['b']);
      session.equal('the leases behind it', (await session.within('list', session.leases.list({}))).leases, ['6']);
      await isGone(session, '5');
      const none = await session.within('revoke', session.leases.revoke({ id: '6' }));
      session.equal('the keys of the other', none.deleted, 1);
    },
  },
  {
    name: 'a lease of many keys is revoked in one commit too',
    rule: 'store:R41',
    needs: ['leases'],
    run: manyKeys,
  },
  {
    name: 'a lease without keys is revoked without a revision',
    rule: 'store:R4',
    needs: ['leases'],
    async run(session) {
      const revision = await session.write({ k: '1' });
      await grant(session, '5');
      const answer = await session.within('revoke', session.leases.revoke({ id: '5' }));
      session.equal('revision and deleted keys', [answer.revision, answer.deleted], [revision, 0]);
      await isGone(session, '5');
    },
  },
  {
    name: 'a key that left a lease survives it',
    rule: 'store:R44',
    needs: ['leases'],
    async run(session) {
      await grant(session, '5', '6');
      for (const key of ['moved', 'free', 'again', 'gone']) await session.txn([put(key, '1', { lease: '5' })]);
      await session.txn([put('moved', '2', { lease: '6' }), put('free', '2')]);
      await session.write({ again: undefined, gone: undefined });
      await session.write({ again: '2' });
      session.equal('the keys of the lease', await keysOf(session, '5'), []);
      const { deleted } = await session.within('revoke', session.leases.revoke({ id: '5' }));
      session.equal('the deleted keys', deleted, 0);
      session.equal('the keys behind it', keyTexts(await session.rows()), ['again', 'free', 'moved']);
    },
  },
  {
    name: 'what is left of a lease is told with its keys, and renewed',
    rule: 'store:R43',
    needs: ['leases'],
    async run(session) {
      const { leases } = session;
      const { ttlMs } = await session.within('grant', leases.grant({ ttlMs: LONG_MS, id: '5' }));
      for (const key of ['b', 'a', '\xff']) await session.txn([put(key, '1', { lease: '5' })]);
      const { status } = await session.within('timeToLive', leases.timeToLive({ id: '5', keys: true }));
      session.equal('id and granted TTL', [status?.id, status?.grantedTtlMs], ['5', ttlMs]);
      session.equal('its keys', status?.keys?.map(byteText), ['a', 'b', '\xff']);
      const left = status?.remainingMs ?? 0;
      session.check('what is left', left > 0 && left <= ttlMs, `above 0, at most ${ttlMs}`, left);
      const brief = await session.within('timeToLive', leases.timeToLive({ id: '5' }));
      session.equal('keys that were not asked for', brief.status?.keys, undefined);
      const renewed = await session.within('keepAlive', leases.keepAlive({ id: '5' }));
      session.equal('the TTL after keepAlive', [renewed.id, renewed.ttlMs], ['5', ttlMs]);
      await isGone(session, '6');
    },
  },
  {
    name: 'what a lease was granted stays the same while what is left of it becomes less',
    rule: 'store:R43',
    needs: ['leases', 'advance'],
    async run(session) {
      const { leases } = session;
      const { ttlMs } = await session.within('grant', leases.grant({ ttlMs: SHORT_MS, id: '5' }));
      await session.advance(ttlMs / 2);
      const { status } = await session.within('timeToLive', leases.timeToLive({ id: '5' }));
      session.equal('the granted TTL when half of it has passed', status?.grantedTtlMs, ttlMs);
      const left = status?.remainingMs ?? 0;
      session.check('what is left then', left > 0 && left < ttlMs, `above 0, below ${ttlMs}`, left);
      const renewed = await session.within('keepAlive', leases.keepAlive({ id: '5' }));
      session.equal('the TTL that a renewal tells then', renewed.ttlMs, ttlMs);
    },
  },
  {
    name: 'each renewal gives a lease its whole TTL again, not the first alone',
    rule: 'store:R40',
    needs: ['leases', 'advance'],
    async run(session) {
      const { leases } = session;
      const { ttlMs } = await session.within('grant', leases.grant({ ttlMs: SHORT_MS, id: '5' }));
      await session.txn([put('k', '1', { lease: '5' })]);
      for (const nth of ['first', 'second', 'third']) {
        await session.advance(ttlMs * 0.75);
        await session.within(`the ${nth} keepAlive`, leases.keepAlive({ id: '5' }));
      }
      await session.advance(ttlMs * 0.75);
      session.equal('the keys after three renewals', keyTexts(await session.rows()), ['k']);
    },
  },
  {
    name: 'a lease expires after its TTL, not before, and never revives',
    rule: 'store:R42',
    needs: ['leases', 'advance'],
    run: expiry,
  },
];

/** In each place where a put can stand: the branches may be read by different code. */
async function keptBoth(session: BackendSession): Promise<void> {
  await grant(session, '5');
  const kept = put('k', '', { ignoreValue: true, ignoreLease: true });
  const no = [when('k', 'version', '<', 0)];
  const places = {
    then: () => session.txn([kept]),
    else: () => session.txn([], { compare: no, else: [kept] }),
    'a nested then': () => session.txn([nested([], [kept])]),
    'a nested else': () => session.txn([nested(no, [], [kept])]),
  };
  for (const [place, run] of Object.entries(places)) {
    const first = (await session.txn([put('k', 'kept', { lease: '5' })])).revision;
    const { revision } = await run();
    session.equal(`the row behind a put in ${place}`, (await session.rows()).map(rowText), [
      `k=kept (${first},${revision},2) lease 5`,
    ]);
    session.equal('the keys of the lease', await keysOf(session, '5'), ['k']);
    await session.write({ k: undefined });
  }
}

async function manyKeys(session: BackendSession): Promise<void> {
  await grant(session, '5');
  const keys = Array.from({ length: MANY_KEYS }, (_, index) => `k${index}`);
  for (let from = 0; from < MANY_KEYS; from += PUTS) {
    await session.txn(keys.slice(from, from + PUTS).map((key) => put(key, '1', { lease: '5' })));
  }
  const { revision: before } = await session.status();
  const reader = session.watch(before + 1);
  const { revision, deleted } = await session.within('revoke', session.leases.revoke({ id: '5' }));
  session.equal('the number of deleted keys', deleted, MANY_KEYS);
  const { kvs } = await session.range([ALL], { limit: 1 });
  session.equal('the keys behind it', keyTexts(kvs), []);
  await session.seen(reader, revision);
  session.equal('the number of commits', reader.changes.length, 1);
  session.equal(
    'the deletes',
    reader.changes[0]?.events.map(eventText),
    [...keys].sort().map((key) => `delete ${key} (${revision})`),
  );
}

async function expiry(session: BackendSession): Promise<void> {
  const { ttlMs } = await session.within('grant', session.leases.grant({ ttlMs: SHORT_MS, id: '5' }));
  await session.txn([put('b', '1', { lease: '5' }), put('a', '1', { lease: '5' }), put('kept', '1')]);
  const from = (await session.status()).revision;
  const reader = session.watch(from + 1);
  const isThere = async (moment: string): Promise<void> => {
    session.equal(`the keys ${moment}`, keyTexts(await session.rows()), ['a', 'b', 'kept']);
    const { status } = await session.within('timeToLive', session.leases.timeToLive({ id: '5' }));
    session.check(`what is left ${moment}`, (status?.remainingMs ?? 0) > 0, 'above 0', status?.remainingMs);
  };
  await session.advance(ttlMs * 0.75);
  await isThere('before the TTL has passed');
  await session.within('keepAlive', session.leases.keepAlive({ id: '5' }));
  await session.advance(ttlMs * 0.75);
  await isThere('after a renewal');
  let rows = await session.rows();
  for (let turn = 0; turn < 40 && rows.length > 1; turn++) {
    await session.advance(ttlMs / 4);
    const [response] = (await session.txn([get(ALL)])).responses;
    rows = response?.type === 'range' ? response.kvs : [];
    session.check('the keys of an expired lease', rows.length !== 2, 'none or all of them', rows.map(rowText));
  }
  session.equal('the keys when it has expired', keyTexts(rows), ['kept']);
  const { revision } = await session.status();
  await session.seen(reader, revision);
  session.equal('the changes', reader.items.slice(1).map(itemText), [
    `change ${revision} delete a (${revision}), delete b (${revision})`,
  ]);
  await isGone(session, '5');
  await session.refused('a put with it', session.send([put('a', '2', { lease: '5' })]), LeaseNotFoundError);
}

async function grant(session: BackendSession, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await session.within('grant', session.leases.grant({ ttlMs: LONG_MS, id }));
}

async function keysOf(session: BackendSession, id: string): Promise<readonly string[] | undefined> {
  const { status } = await session.within('timeToLive', session.leases.timeToLive({ id, keys: true }));
  return status?.keys?.map(byteText);
}

async function isGone(session: BackendSession, id: string): Promise<void> {
  const { leases } = session;
  const { status } = await session.within('timeToLive', leases.timeToLive({ id }));
  session.equal('the status of a lease that is gone', status, undefined);
  await session.refused('keepAlive of a lease that is gone', leases.keepAlive({ id }), LeaseNotFoundError);
  await session.refused('revoke of a lease that is gone', leases.revoke({ id }), LeaseNotFoundError);
}
