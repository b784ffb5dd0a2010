import { byteText } from '../core/key-order.ts';
import type { BackendTxnResponse } from '../types/backend.ts';
import type { BackendCaseSpec } from './backend-session.ts';
import { ALL, bytes, del, get, point, put, rowText, when } from './backend-terms.ts';

/** Commits that are sent at the same time, where their number matters. */
const COMMITS = 24;

/** Revisions, and what an answer says about the moment. */
export const POSITION_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'status and range are not older than what was acknowledged',
    rule: 'B2',
    async run(session) {
      for (let count = 0; count < 5; count++) {
        const revision = await session.write({ k: `${count}` });
        const [status, list] = [await session.status(), await session.range([ALL])];
        session.check('the revision of status', status.revision >= revision, `${revision} or above`, status.revision);
        session.check('the revision of a list', list.revision >= status.revision, 'that of status', list.revision);
        session.equal('the list behind an acknowledged write', list.kvs.map(pairText), [`k=${count}`]);
      }
    },
  },
  {
    name: 'every answer names the same data',
    rule: 'M24',
    needs: ['writable'],
    async run(session) {
      const { identity } = await session.status();
      session.check('the identity', typeof identity === 'string', 'a string', identity);
      session.equal('that of a transaction', (await session.txn([put('a', '1')])).identity, identity);
      session.equal('that of a list', (await session.range([ALL])).identity, identity);
      const reader = session.watch(1);
      await session.until(
        'an item',
        () => reader.items.length > 0,
        'open',
        () => reader.end?.error,
      );
      const [first] = reader.items;
      session.equal('that of an open item', first?.type === 'open' && first.identity, identity);
    },
  },
  {
    name: 'each commit has a revision of its own, above the ones before',
    rule: 'B1',
    needs: ['writable'],
    async run(session) {
      const calls = Array.from({ length: COMMITS }, (_, index) => session.txn([put(`k${index % 5}`, `${index}`)]));
      const revisions = (await Promise.all(calls)).map(({ revision }) => revision);
      session.equal('the number of revisions used', new Set(revisions).size, COMMITS);
      const last = await session.write({ last: '1' });
      const [min, max] = [Math.min(...revisions), Math.max(...revisions)];
      session.check('the next revision', last > max, `above ${max}`, last);
      const reader = session.watch(min);
      await session.seen(reader, last);
      const told = reader.changes.map(({ revision }) => revision);
      session.equal(
        'the revisions of the stream',
        told,
        [...revisions, last].sort((a, b) => a - b),
      );
    },
  },
  {
    name: 'a transaction is acknowledged when nothing below it can still commit',
    rule: 'B3',
    needs: ['writable'],
    async run(session) {
      const lists: Promise<{ readonly revision: number; readonly rows: readonly string[] }>[] = [];
      const write = async (index: number): Promise<void> => {
        const { revision } = await session.txn([put(`k${index % 7}`, `${index}`)]);
        lists.push(session.rows({ revision }).then((rows) => ({ revision, rows: rows.map(rowText) })));
      };
      await Promise.all(Array.from({ length: COMMITS }, (_, index) => write(index)));
      for (const { revision, rows } of await Promise.all(lists)) {
        const later = await session.rows({ revision });
        session.equal(`the state at ${revision}, then and now`, rows, later.map(rowText));
        const isThere = later.some(({ modRevision }) => modRevision === revision);
        session.check(`the write acknowledged at ${revision}`, isThere, 'a row', rows);
      }
    },
  },
  {
    name: 'what changes nothing uses no revision, and answers the present one',
    rule: 'store:R4',
    needs: ['writable'],
    async run(session) {
      const revision = await session.write({ a: '1' });
      const no = when('a', 'version', '=', 9);
      const answers: BackendTxnResponse[] = [
        await session.txn([]),
        await session.txn([get(ALL)]),
        await session.txn([del('none')]),
        await session.txn([put('b', '1')], { compare: [no] }),
      ];
      session.equal(
        'the revisions of the answers',
        answers.map((answer) => answer.revision),
        [revision, revision, revision, revision],
      );
      session.equal('the revision behind them', (await session.status()).revision, revision);
    },
  },
  {
    name: 'a call whose signal has aborted has no effect and rejects with its reason',
    rule: 'B11',
    async run(session) {
      const { backend } = session;
      const revision = await session.write({ a: '1' });
      const reason = new Error('enough');
      const signal = AbortSignal.abort(reason);
      const calls: Record<string, () => Promise<unknown>> = {
        range: () => backend.range({ ranges: [ALL], signal }),
        status: () => backend.status({ signal }),
        compact: () => backend.compact({ revision, signal }),
      };
      if (backend.capabilities.writable) {
        const operation = { type: 'put', key: bytes('a'), value: bytes('2') } as const;
        calls.txn = () => backend.txn({ compare: [], then: [operation], else: [], signal });
      }
      if (backend.capabilities.leases === true) {
        calls.grant = () => session.leases.grant({ ttlMs: 60_000, id: '7', signal });
        calls.list = () => session.leases.list({ signal });
      }
      for (const [name, call] of Object.entries(calls)) {
        const outcome = await session.outcome(name, call());
        const isReason = 'error' in outcome && outcome.error === reason;
        session.check(`${name} with a signal that has aborted`, isReason, 'its reason', outcome);
      }
      session.equal('the revision behind it', (await session.status()).revision, revision);
      session.equal('the rows behind it', (await session.rows()).map(pairText), ['a=1']);
    },
  },
  {
    name: "answers are the caller's, requests stay the caller's",
    rule: 'store:R38',
    needs: ['writable'],
    async run(session) {
      const [key, value] = [bytes('key'), bytes('value')];
      await session.txn([{ type: 'put', key, value }]);
      key.fill(0);
      value.fill(0);
      const list = await session.range([ALL]);
      session.equal('a row after its request was changed', list.kvs.map(pairText), ['key=value']);
      for (const row of list.kvs) row.value.fill(0);
      session.equal('a row after an answer was changed', (await session.range([point('key')])).kvs.map(pairText), [
        'key=value',
      ]);
    },
  },
];

function pairText({ key, value }: { readonly key: Uint8Array; readonly value: Uint8Array }): string {
  return `${byteText(key)}=${byteText(value)}`;
}
