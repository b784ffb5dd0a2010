import { describe, expect, it } from 'vitest';
import { generateKeys, listQueries, type prefixQuery } from '../../../bench/data/keys.mjs';
import { measureCase, WrongAnswerError } from '../../../bench/harness/measure.mjs';
import { insertingPeers, readingPeers } from '../../../bench/index/database-peers.mjs';
import { DATABASES, loadDatabases } from '../../../bench/index/databases.mjs';
import { createChunkedArray } from '../../../bench/index/sorted-array.mjs';

type Contestant = ReturnType<typeof insertingPeers>['contestants'][number];
type Database = Awaited<ReturnType<Parameters<typeof insertingPeers>[0][number]['open']>>;
type Query = ReturnType<typeof prefixQuery>;

const SIZE = 500;
const keys = generateKeys(SIZE + 100);
const absent = keys.splice(SIZE);
const queries = listQueries(keys, 20);

/** A sorted array that answers lists later, as a database may. */
function database(faults: Partial<Database> = {}): Database {
  const index = createChunkedArray(keys);
  const whole: Database = {
    insertAll: (texts) => texts.forEach((text, id) => void index.insert(text, id)),
    get: (key) => index.get(key),
    list: async (query: Query) => Array.from(index.list(query)),
    close: () => {},
  };
  return { ...whole, ...faults };
}

async function measure(contestants: readonly Contestant[]) {
  let time = 0;
  const rate = ({ operation }: Contestant) => {
    operation?.();
    return 1;
  };
  const [subject, ...peers] = contestants as [Contestant, ...Contestant[]];
  const tools = { rounds: 2, rate, now: () => ++time, collectGarbage: () => {} };
  return measureCase({ name: 'databases', n: SIZE, subject, peers }, tools);
}

describe('loadDatabases', () => {
  it('names who does not load, with the first line of the reason, and loads the others', async () => {
    const load = async () => async () => database();
    const refuse = async () => {
      throw new Error('No native build was found\nfor this platform');
    };
    const {
      loaded,
      does,
      absent: missing,
    } = await loadDatabases([
      { name: 'here', does: 'more', load },
      { name: 'elsewhere', does: 'much more', load: refuse },
    ]);
    expect(loaded.map(({ name }) => name)).toEqual(['here']);
    expect(does).toEqual({ here: 'more' });
    expect(missing).toEqual({ elsewhere: 'No native build was found' });
  });

  it('says of every database either that it is there or why not, with or without the packages of bench/', async () => {
    const { loaded, absent: missing } = await loadDatabases();
    const names = [...loaded.map(({ name }) => name), ...Object.keys(missing)].sort();
    expect(names).toEqual(DATABASES.map(({ name }) => name).sort());
  });
});

describe.each([
  ['insert', (open: () => Database) => insertingPeers([{ name: 'db', open: async () => open() }], { keys, absent })],
  [
    'get',
    (open: () => Database) =>
      readingPeers([{ name: 'db', open: async () => open() }], { keys, absent, asked: [...keys].reverse() }),
  ],
  [
    'list',
    (open: () => Database) => readingPeers([{ name: 'db', open: async () => open() }], { keys, absent, queries }),
  ],
])('%s', (_, peers) => {
  it('measures a database that answers rightly, and closes what it opened', async () => {
    let opened = 0;
    let closed = 0;
    const { contestants, close } = await peers(() => {
      opened++;
      return database({ close: () => void closed++ });
    });
    expect((await measure(contestants)).subject.rates.length).toBe(2);
    await close();
    expect(opened).toBeGreaterThan(0);
    expect(closed).toBe(opened);
  });

  it.each<[string, Partial<Database>]>([
    ['forgets a key', { insertAll: () => {} }],
    ['finds what is not there', { get: () => 0 }],
    ['lists nothing', { list: async () => [] }],
    ['lists in no order', { list: async () => [...keys.keys()] }],
  ])('refuses one that %s', async (__, faults) => {
    const { contestants } = await peers(() => database(faults));
    await expect(measure(contestants)).rejects.toThrow(/gives a wrong answer|nothing was listed/);
  });
});

describe('the check of a database', () => {
  it('names it', async () => {
    const { contestants } = insertingPeers([{ name: 'db', open: async () => database({ get: () => 0 }) }], {
      keys,
      absent,
    });
    await expect(measure(contestants)).rejects.toThrow(WrongAnswerError);
    await expect(measure(contestants)).rejects.toThrow('db gives a wrong answer to "keys that are there"');
  });
});
