import { readFileSync } from 'node:fs';
import { xxhash128 } from 'hash-wasm';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { SnapshotError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { brief, openTestStore, Reader } from './fixture.ts';

/**
 * The format as docs/snapshots.md says it, by a writer of our own and the XXH3 of another library; then all that can be wrong
 * with it, checksum and all.
 */
type Part = number | string | Uint8Array | readonly Part[];

const BLOCK = 1_048_576;
const MAGIC = Uint8Array.of(0x89, 0x50, 0x4c, 0x4d, 0x53, 0x4e, 0x41, 0x50);

/** LEB128 of a number; text and bytes with their length in front; lists one behind the other. */
function encode(part: Part): number[] {
  if (typeof part === 'number') {
    const bytes: number[] = [];
    let rest = BigInt(part);
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    return [...bytes, Number(rest)];
  }
  if (typeof part === 'string') return encode(new TextEncoder().encode(part));
  if (part instanceof Uint8Array) return [...encode(part.length), ...part];
  return part.flatMap(encode);
}

async function digest(bytes: Uint8Array): Promise<number[]> {
  return [...Buffer.from(await xxhash128(bytes), 'hex')];
}

async function seal(body: Uint8Array): Promise<Uint8Array> {
  const digests: number[] = [];
  for (let at = 0; at < body.length; at += BLOCK) digests.push(...(await digest(body.subarray(at, at + BLOCK))));
  const sealed = new Uint8Array(body.length + 16);
  sealed.set(body);
  sealed.set(await digest(Uint8Array.from(digests)), body.length);
  return sealed;
}

interface Content {
  readonly version?: number;
  readonly keys?: number;
  readonly form?: number;
  readonly identity?: string;
  readonly floors?: readonly [revision: number, compactedPlus1: number, watchFloor: number];
  readonly leases?: Part;
  readonly rows?: Part;
  readonly commits?: Part;
  readonly rest?: readonly number[];
}

/** Two rows, three commits and a lease: the example of the page. */
const EXAMPLE = {
  keys: 0,
  form: 0,
  identity: '0123456789abcdef',
  floors: [9, 7, 6],
  leases: [['7', 10_000, 6000, 0], 0],
  rows: [[2, 'bar', 3, 3, 1, '', 'x'], [4, 'cfg', 2, 5, 3, '7', '{"a":[1]}'], 0],
  commits: [
    [6, [1, 'foo'], 0],
    [8, [3, 'raw', 8, 1, '', Uint8Array.of(1, 2)], [1, 'bar'], 0],
    [9, [2, 'cfg', 2, 4, '', 'y'], 0],
    0,
  ],
} as const satisfies Content;

function body(content: Content): Uint8Array {
  const { version = 1, keys, form, identity, floors, leases, rows, commits, rest = [] } = { ...EXAMPLE, ...content };
  const numbers = encode([keys, form, identity, 1_700_000_000_000, floors, leases, rows, commits] as readonly Part[]);
  return Uint8Array.from([...MAGIC, version & 255, (version >>> 8) & 255, 0, 0, ...numbers, ...rest]);
}

const make = (content: Content) => seal(body(content));

const open = (snapshot: Uint8Array, options: object = {}) =>
  openStore<unknown>({ clock: createVirtualClock(), snapshot, ...options });

describe('the format', () => {
  it('is that of the page, byte for byte, and what it says is what is opened', async () => {
    const page = readFileSync(new URL('../../../docs/snapshots.md', import.meta.url), 'utf8');
    const dump = /```text\n((?:[0-9a-f]{2}.*\n)+)```/.exec(page)?.[1] ?? '';
    const bytes = dump.split('\n').flatMap((line) => line.slice(0, 48).match(/\b[0-9a-f]{2}\b/g) ?? []);
    const snapshot = await make(EXAMPLE);
    expect(bytes.join(' ')).toBe(
      Buffer.from(snapshot)
        .toString('hex')
        .replace(/..(?!$)/g, '$& '),
    );
    const store = await open(snapshot, { keepIdentity: true });
    const rows = (revision: number) =>
      store
        .range({ prefix: '', revision })
        .kvs.map((kv) => brief(kv))
        .join(' ');
    expect([6, 7, 8, 9].map(rows)).toEqual([
      'bar(3,3,1) cfg(2,5,3)',
      'bar(3,3,1) cfg(2,5,3)',
      'cfg(2,5,3) raw(8,8,1)',
      'cfg(2,9,4) raw(8,8,1)',
    ]);
    const watch = store.watch({ prefix: '' }, { fromRevision: 6, prevKv: true });
    expect(await new Reader(watch).take()).toEqual([
      '6: delete foo@6',
      '8: put raw(8,8,1), delete bar@8 <bar(3,3,1)',
      '9: put cfg(2,9,4) <cfg(2,5,3)',
    ]);
    expect(store.get('cfg', { revision: 6 })).toMatchObject({ value: { a: [1] }, lease: '7' });
    expect(store.get('raw')?.value).toEqual(Uint8Array.of(1, 2));
    expect(await store.leaseTimeToLive('7', { keys: true })).toEqual({
      id: '7',
      grantedTtlMs: 10_000,
      remainingMs: 6000,
      keys: [],
    });
    expect(await store.createSnapshot()).toEqual(snapshot);
  });

  it('hashes blocks of a MiB by themselves', async () => {
    const sizeOf = async (length: number) => {
      const store = await openStore<string>({ limits: { valueBytes: 1e7 } });
      await store.put('a', 'x'.repeat(length));
      const snapshot = await store.createSnapshot();
      await store.close();
      const restored = await openStore<string>({ snapshot });
      expect(restored.get('a')?.value.length).toBe(length);
      await restored.close();
      return snapshot;
    };
    const around = (await sizeOf(BLOCK)).length - BLOCK - 16;
    for (const length of [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK]) {
      const snapshot = await sizeOf(length - around - (length > 2 * BLOCK ? 1 : 0));
      // Compared as one: element by element takes seconds.
      expect(Buffer.compare(await seal(snapshot.subarray(0, -16)), snapshot)).toBe(0);
      expect(snapshot.length).toBe(length + 16);
    }
  });

  it('has a base where the watch floor is one above', async () => {
    const store = await open(await make({ floors: [9, 7, 7] }));
    expect(await new Reader(store.watch({ prefix: '' }, { fromRevision: 6 })).take()).toEqual(['CompactedError']);
  });

  it('may have the highest revision and version that leave the store room to go on', async () => {
    const rows: Part = [[2, 'a', 1, 1, VERSION_TOP, '', 'x'], 0];
    const floors = [REVISION_TOP, REVISION_TOP + 1, REVISION_TOP] as const;
    const store = await open(await make({ floors, leases: 0, rows, commits: 0 }));
    await open(await store.createSnapshot());
    const revisions = [(await store.put('a', 'y')).revision, (await store.put('a', 'z')).revision];
    expect(revisions).toEqual([REVISION_TOP + 1, REVISION_TOP + 2]);
    expect(store.get('a')?.version).toBe(VERSION_TOP + 2);
    // Nobody could open it.
    const tooHigh = (reason: string) => ({ code: 'SNAPSHOT', message: `Cannot create a snapshot: ${reason}` });
    await expect(store.createSnapshot()).rejects.toMatchObject(
      tooHigh('the revision of the store is above 9007194959773695'),
    );
    const low = await open(await make({ leases: 0, rows, commits: 0 }));
    const snapshot = await low.createSnapshot();
    await low.put('a', 'y');
    await expect(low.createSnapshot()).rejects.toMatchObject(
      tooHigh('a key has the version 4293918721, allowed is up to 4293918720'),
    );
    await open(snapshot);
  });

  it('of a row that the first commit replaces nothing is kept', async () => {
    const rows: Part = [[2, 'a', 2, 3, 1, '', 'x'], 0];
    const store = await open(await make({ leases: 0, rows, commits: [[6, [2, 'a', 2, 2, '', 'y'], 0], 0] }));
    expect([store.get('a')?.value, store.stats().storedVersions]).toEqual(['y', 1]);
  });

  it('may have the longest key', async () => {
    const key = 'k'.repeat(65_535);
    const store = await open(await make({ leases: 0, rows: [[2, key, 2, 3, 1, '', 'x'], 0], commits: 0 }));
    expect(store.get(key)?.value).toBe('x');
  });

  it('may have a commit at revision 1', async () => {
    const first: Part = [1, [2, 'a', 1, 1, '', 'x'], 0];
    for (const commits of [
      [first, [2, [1, 'a'], 0], 0],
      [first, 0],
    ] as const) {
      const snapshot = await make({ floors: [2, 0, 0], leases: 0, rows: 0, commits });
      const store = await open(snapshot, { keepIdentity: true });
      expect(store.get('a', { revision: 1 })?.value).toBe('x');
      expect(await store.createSnapshot()).toEqual(snapshot);
    }
  });

  it('counts the wall time from 1970', async () => {
    const at = async (wallTimeMs: number) => {
      const clock = createVirtualClock({ wallTimeMs });
      return (await openStore({ clock, random: createSeededRandom(1) })).createSnapshot();
    };
    const zero = await at(0);
    expect(await at(0.5)).toEqual(zero);
    expect(await at(-5)).toEqual(zero);
    expect(await at(1)).not.toEqual(zero);
  });

  it('may have a revision above all commits, and rows alone', async () => {
    const rows: Part = [[2, 'a', 1, 1, 1, '', 'x'], 0];
    const store = await open(await make({ floors: [100, 101, 101], leases: 0, rows, commits: 0 }));
    expect([store.revision, store.compactRevision, store.get('a')?.value]).toEqual([100, 100, 'x']);
    expect((await store.put('a', 'y')).revision).toBe(101);
    expect(brief(store.get('a'))).toBe('a(1,101,2)');
    await store.compact(101);
    expect(store.get('a')?.value).toBe('y');
  });
});

const BIG = Number.MAX_SAFE_INTEGER;
const REVISION_TOP = BIG - 2 ** 32;
const VERSION_TOP = 2 ** 32 - 2 ** 20;
const put = (...part: Part[]): Part => [2, 'a', ...part];

describe('what cannot be is refused, whatever the checksum says', () => {
  it.each<[string, Content, RegExp]>([
    ['a newer version', { version: 2 }, /version 2, known is 1/],
    ['version 0', { version: 0 }, /version 0/],
    ['version 257', { version: 257 }, /version 257/],
    ['other keys', { keys: 2 }, /keys of the snapshot are of no known type/],
    ['another form', { form: 2 }, /no known form/],
    ['no identity', { identity: '' }, /no identity/],
    ['revision 0', { floors: [0, 0, 0] }, /revision of the snapshot is 0/],
    ['C above the revision', { floors: [5, 7, 6] }, /compacted above/],
    ['W below C', { floors: [9, 7, 5] }, /cannot start/],
    ['W far above C', { floors: [9, 7, 8] }, /cannot start/],
    ['a row at C', { rows: [put(2, 6, 1, '', 'x'), 0] }, /not older than its history/],
    ['rows of a store that was not compacted', { floors: [9, 0, 0] }, /not older than its history/],
    ['rows out of order', { rows: [put(3, 3, 1, '', 'x'), [2, 'b', 2, 2, 1, '', 'x'], 0] }, /rows.* order/],
    ['a key twice', { rows: [put(2, 2, 1, '', 'x'), put(2, 3, 2, '', 'x'), 0] }, /two rows/],
    ['a key twice at once', { rows: [put(2, 2, 1, '', 'x'), put(2, 2, 1, '', 'x'), 0] }, /two rows/],
    ['a delete as row', { rows: [[1, 'a'], 0] }, /is a delete/],
    ['created after it was put', { rows: [put(4, 3, 1, '', 'x'), 0] }, /created after/],
    ['created at 0', { rows: [put(0, 3, 1, '', 'x'), 0] }, /created after/],
    ['version 0 of a row', { rows: [put(2, 3, 0, '', 'x'), 0] }, /version 0/],
    ['a version above 32 bits', { rows: [put(2, 3, 2 ** 32, '', 'x'), 0] }, /version 4294967296/],
    ['a version that leaves too few', { rows: [put(2, 3, VERSION_TOP + 1, '', 'x'), 0] }, /version 4293918721/],
    ['the version 2^32 - 1', { rows: [put(2, 3, 2 ** 32 - 1, '', 'x'), 0] }, /version 4294967295/],
    ['the same of a change', { commits: [[8, put(8, 2 ** 32 - 1, '', 'x'), 0], 0] }, /version 4294967295/],
    ['a revision that leaves too few', { floors: [REVISION_TOP + 1, 7, 6] }, /is above 9007194959773695/],
    ['the revision 2^53 - 1', { floors: [BIG, 7, 6] }, /is above 9007194959773695/],
    ['an empty key', { rows: [[2, '', 2, 3, 1, '', 'x'], 0] }, /key of the snapshot is empty/],
    ['a long key', { rows: [[2, 'a'.repeat(65_536), 2, 3, 1, '', 'x'], 0] }, /longer than 65535/],
    ['a key that is not UTF-8', { rows: [[2, Uint8Array.of(0xff), 2, 3, 1, '', 'x'], 0] }, /not UTF-8/],
    ['a part of a character', { rows: [[2, Uint8Array.of(0x80), 2, 3, 1, '', 'x'], 0] }, /not UTF-8/],
    ['half a pair as key', { rows: [[2, Uint8Array.of(0xed, 0xa0, 0x80), 2, 3, 1, '', 'x'], 0] }, /not UTF-8/],
    ['a value that is not UTF-8', { rows: [put(2, 3, 1, '', new Uint8Array(99).fill(255)), 0] }, /not UTF-8/],
    ['no JSON', { rows: [[4, 'a', 2, 3, 1, '', '{'], 0] }, /not JSON data/],
    ['a number that JSON has not', { rows: [[4, 'a', 2, 3, 1, '', '[1e999]'], 0] }, /not JSON data/],
    ['half a pair in JSON', { rows: [[4, 'a', 2, 3, 1, '', '"\\ud800"'], 0] }, /not JSON data/],
    ['JSON too deep', { rows: [[4, 'a', 2, 3, 1, '', '['.repeat(2000) + ']'.repeat(2000)], 0] }, /not JSON data/],
    ['JSON far too deep', { rows: [[4, 'a', 2, 3, 1, '', '['.repeat(1e6) + ']'.repeat(1e6)], 0] }, /not JSON data/],
    ['a value of a codec', { rows: [[5, 'a', 2, 3, 1, '', 'x'], 0] }, /another form/],
    ['an unknown kind', { rows: [[6, 'a', 2, 3, 1, '', 'x'], 0] }, /unknown kind 6/],
    ['a lease id that is none', { rows: [put(2, 3, 1, '007', 'x'), 0] }, /lease id that is none/],
    ['a lease that is not there', { rows: [put(2, 3, 1, '8', 'x'), 0] }, /lease 8/],
    ['a commit below C', { commits: [[5, put(5, 1, '', 'x'), 0], 0] }, /commits.* order/],
    ['commits out of order', { commits: [[8, put(8, 1, '', 'x'), 0], [7, [1, 'a'], 0], 0] }, /commits.* order/],
    ['a commit twice', { commits: [[8, put(8, 1, '', 'x'), 0], [8, [1, 'a'], 0], 0] }, /commits.* order/],
    ['a commit above the revision', { commits: [[10, put(8, 1, '', 'x'), 0], 0] }, /above its revision 9/],
    ['an empty commit', { commits: [[8, 0], 0] }, /is empty/],
    ['a put from the future', { commits: [[8, put(9, 1, '', 'x'), 0], 0] }, /created after/],
    ['an unknown change', { commits: [[8, [9, 'a', 8, 1, '', 'x'], 0], 0] }, /unknown kind 9/],
    ['something behind the end', { rest: [0] }, /behind the end/],
    ['two leases of one id', { leases: [['7', 10, 5, 0], ['7', 10, 5, 0], 0] }, /lease of the snapshot cannot be/],
    ['a lease that is none', { leases: [['x', 10, 5, 0], 0] }, /lease of the snapshot cannot be/],
    ['a lease without TTL', { leases: [['7', 0, 0, 0], 0] }, /lease of the snapshot cannot be/],
    ['a lease for ever', { leases: [['7', BIG, 5, 0], 0] }, /lease of the snapshot cannot be/],
    ['more left than granted', { leases: [['7', 10, 11, 0], 0] }, /lease of the snapshot cannot be/],
    ['a lease of two minds', { leases: [['7', 10, 5, 2], 0] }, /neither of one key/],
    ['no end of the leases', { leases: [['7', 10, 5, 0]], rows: [], commits: [] }, /too early/],
    ['no end of the rows', { rows: [], commits: [] }, /too early/],
    ['no end of the commits', { commits: [[8, [1, 'a'], 0]] }, /too early/],
    ['a length that lies', { rows: [2, BIG] }, /length.* more than there is/],
    ['a length that lies by little', { rows: [], commits: [2, 2, 97] }, /length.* more than there is/],
    ['a number too large', { commits: [], rest: [255, 255, 255, 255, 255, 255, 255, 31] }, /above 9007199254740991/],
    [
      'a number without end',
      { commits: [], rest: [255, 255, 255, 255, 255, 255, 255, 255, 1] },
      /above 9007199254740991/,
    ],
    ['a number with zeros', { commits: [], rest: [0x88, 0] }, /longer than it has to be/],
  ])('%s', async (_name, content, message) => {
    const clock = createVirtualClock();
    const opening = openStore({ clock, snapshot: await make(content) }).catch((error: unknown) => error);
    // A large one is read in steps.
    while (await clock.advanceToNext());
    const failure = await opening;
    expect(failure).toBeInstanceOf(SnapshotError);
    expect((failure as SnapshotError).reason).toMatch(message);
    expect(failure).toMatchObject({ code: 'SNAPSHOT' });
    expect(clock.pending).toBe(0);
  });
});

describe('the cause', () => {
  it('of a value that is not JSON data says that it was read', async () => {
    const snapshot = await make({ rows: [[4, 'a', 2, 3, 1, '', '"\\ud800"'], 0] });
    const failure = await openStore({ snapshot }).catch((error: unknown) => error);
    expect((failure as Error).cause).toMatchObject({ message: expect.stringMatching(/^Cannot open a store from a/) });
  });
});

describe('damage', () => {
  let snapshot: Uint8Array;

  beforeAll(async () => {
    const { store } = await openTestStore<unknown>();
    await store.grantLease({ id: '5', ttlMs: 1e6 });
    for (const value of ['text', Uint8Array.of(1), { json: [1] }]) {
      for (const key of ['a', 'b']) await store.put(key, value, { lease: '5' });
    }
    await store.compact(4);
    await store.delete('a');
    snapshot = await store.createSnapshot();
    await open(snapshot);
  });

  it('cut off anywhere', async () => {
    for (let length = 0; length < snapshot.length; length++) {
      await expect(open(snapshot.slice(0, length)), `${length} bytes`).rejects.toBeInstanceOf(SnapshotError);
    }
  });

  it.each([
    [0, 7, /^the bytes are no snapshot of a store$/],
    [8, 27, /^the snapshot is cut off$/],
    [28, 60, /^the snapshot is damaged or cut off: its checksum does not match$/],
  ])('what is said of the first %i to %i bytes', async (from, to, reason) => {
    for (let length = from; length <= to; length++) {
      const cut = snapshot.slice(0, length);
      await expect(open(cut), `${length} bytes`).rejects.toMatchObject({ reason: expect.stringMatching(reason) });
    }
  });

  it('what is no snapshot is known by each of its first eight bytes', async () => {
    for (let at = 0; at < 8; at++) {
      const other = snapshot.slice();
      other[at] = (other[at] as number) ^ 1;
      const reason = 'the bytes are no snapshot of a store';
      await expect(open(other), `byte ${at}`).rejects.toMatchObject({ reason });
    }
  });

  it('any bit flipped', async () => {
    for (let bit = 0; bit < snapshot.length * 8; bit++) {
      const damaged = snapshot.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
      await expect(open(damaged), `bit ${bit}`).rejects.toBeInstanceOf(SnapshotError);
    }
  });

  it('bytes behind the end, in front, swapped, none, and other files', async () => {
    const swapped = snapshot.slice();
    swapped.set([snapshot[31] as number, snapshot[30] as number], 30);
    const files = [
      [],
      [0],
      [...snapshot, 0],
      [0, ...snapshot],
      [...snapshot, ...snapshot],
      [...snapshot.slice(0, -16)],
    ];
    for (const file of [...files.map((bytes) => Uint8Array.from(bytes)), swapped, new Uint8Array(1e6)]) {
      await expect(open(file)).rejects.toBeInstanceOf(SnapshotError);
    }
  });

  it('any byte changed and the checksum made anew: an error of ours, or a store that works', async () => {
    const random = createSeededRandom(Number(process.env.PLIMSOLL_TEST_SEED));
    const inner = snapshot.slice(0, -16);
    const seen = new Set<string>();
    for (let round = 0; round < 1500; round++) {
      const changed = inner.slice();
      for (let count = 1 + Math.floor(random() * 2); count > 0; count--) {
        changed[12 + Math.floor(random() * (changed.length - 12))] = Math.floor(random() * 256);
      }
      const store: Store<unknown> | unknown = await open(await seal(changed)).catch((error: unknown) => error);
      if (store instanceof Error) {
        expect(store).toBeInstanceOf(SnapshotError);
        seen.add((store as SnapshotError).reason);
        continue;
      }
      const opened = store as Store<unknown>;
      seen.add('opened');
      const { revision } = opened;
      for (let at = Math.max(opened.compactRevision, revision - 20, 1); at <= revision; at++)
        opened.range({ prefix: '', revision: at });
      await opened.put('new', 1);
      await opened.compact(revision + 1);
      expect(opened.range({ prefix: '' }).count).toBe(opened.stats().keys);
      await opened.close();
    }
    expect(seen.size).toBeGreaterThan(10);
  });
});
