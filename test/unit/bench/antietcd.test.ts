import { describe, expect, it } from 'vitest';
import { generateKeys } from '../../../bench/data/keys.mjs';
import { createRandom, shuffled } from '../../../bench/data/random.mjs';
import { measureCase } from '../../../bench/harness/measure.mjs';
import { antiEtcdContestant } from '../../../bench/store/antietcd.mjs';

type AntiEtcd = Parameters<typeof antiEtcdContestant>[0];
type Call = Parameters<typeof antiEtcdContestant>[1];
type KeyValue = Awaited<ReturnType<AntiEtcd['range']>>['kvs'][number];

const keys = generateKeys(200);
const order = shuffled(createRandom(1), keys);
const page = { prefix: '/registry/pods/', limit: 50 };

/** What the package promises of the calls that are measured; it stops a range once it has more than the limit. */
function fake(faults: (whole: AntiEtcd) => Partial<AntiEtcd> = () => ({})): AntiEtcd {
  const entries = new Map<string, KeyValue>();
  let revision = 0;
  const write = (key: string, value: string) => {
    entries.set(key, { key, value, mod_revision: ++revision });
    return { header: { revision } };
  };
  const whole: AntiEtcd = {
    put: async ({ key, value }) => write(key, value),
    range: async ({ key, range_end: end, limit = 0 }) => {
      const found = [...entries.values()].filter((kv) => (end === undefined ? kv.key === key : kv.key.startsWith(key)));
      return { kvs: limit === 0 ? found : found.slice(0, limit + 1) };
    },
    txn: async (request) => {
      const { compare, success } = request as {
        compare: [{ key: string; mod_revision: number }];
        success: [{ request_put: { key: string; value: string } }];
      };
      const [{ key, mod_revision: known }] = compare;
      const { request_put: put } = success[0];
      const succeeded = entries.get(key)?.mod_revision === known;
      return { ...(succeeded ? write(put.key, put.value) : { header: { revision } }), succeeded };
    },
    create_watch: async () => 1,
    cancel_watch: async () => {},
    stop: async () => {},
  };
  return { ...whole, ...faults(whole) };
}

async function measure(call: Call, etcd: AntiEtcd) {
  let time = 0;
  const tools = { rounds: 2, rate: () => 1, now: () => ++time, collectGarbage: () => {} };
  const contestant = await antiEtcdContestant(etcd, call, { keys, order, page });
  return measureCase({ name: call, n: keys.length, subject: contestant, peers: [] }, tools);
}

const FAULTS: readonly (readonly [string, (whole: AntiEtcd) => Partial<AntiEtcd>])[] = [
  [
    'answers old values',
    (whole) => ({
      range: async (request) => ({ kvs: (await whole.range(request)).kvs.map((kv) => ({ ...kv, value: 'old' })) }),
    }),
  ],
  [
    'answers other revisions',
    (whole) => ({
      range: async (request) => ({
        kvs: (await whole.range(request)).kvs.map((kv) => ({ ...kv, mod_revision: kv.mod_revision + 1 })),
      }),
    }),
  ],
  ['gives too short a page', (whole) => ({ range: async (request) => dropLast(request, await whole.range(request)) })],
  [
    'has keys of another prefix in its page',
    (whole) => ({ range: (request) => whole.range({ ...request, key: request.range_end ? '/' : request.key }) }),
  ],
  [
    'has a key twice in its page',
    (whole) => ({
      range: async (request) => {
        const { kvs } = await whole.range(request);
        return { kvs: request.range_end === undefined ? kvs : [...kvs.slice(1), ...kvs.slice(-1)] };
      },
    }),
  ],
];

function dropLast({ range_end: end }: { range_end?: string }, { kvs }: { kvs: KeyValue[] }) {
  return { kvs: end === undefined ? kvs : kvs.slice(0, -1) };
}

describe.each<Call>(['put', 'txn', 'get', 'range'])('antiEtcdContestant, %s', (call) => {
  it('measures one that answers rightly', async () => {
    expect((await measure(call, fake())).subject.rates.length).toBe(2);
  });

  it.each(FAULTS)('refuses one that %s', async (_, fault) => {
    await expect(measure(call, fake(fault))).rejects.toThrow('antietcd gives a wrong answer');
  });
});

describe('antiEtcdContestant', () => {
  it('gives up when a compare that has to hold does not', async () => {
    const lost = fake((whole) => ({ txn: async (request) => ({ ...(await whole.txn(request)), succeeded: false }) }));
    await expect(measure('txn', lost)).rejects.toThrow('Cannot measure transactions: the compare of');
  });

  it('gives up when reads find nothing', async () => {
    const empty = fake(() => ({ range: async () => ({ kvs: [] }) }));
    await expect(measure('get', empty)).rejects.toThrow('Cannot measure reads: nothing was found');
  });
});
