import { describe, expect, it } from 'vitest';
import { ChangeLog, LOG_ITEMS_MAX } from '../../../src/cli/demo/change-log.ts';
import { StreamBackend } from '../../../src/cli/demo/stream-backend.ts';
import { parseStreamEvent, type StreamEvent } from '../../../src/cli/demo/stream-event.ts';
import { createEssenceHasherWith } from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';
import type { BackendWatchItem } from '../../../src/types/backend.ts';
import { BackendError, CompactedError, FutureRevisionError, UnsupportedError } from '../../../src/types/errors.ts';
import { bookmark, line } from './stream-text.ts';

const scanner = createEssenceHasherWith(coreModule(), { defaults: false });
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const ALL = [{ start: new Uint8Array(0), end: new Uint8Array(0) }];

function event(text: string): StreamEvent {
  return parseStreamEvent({ bytes: encoder.encode(text), line: 3, offset: 40 }, 'read', scanner);
}

function listed(...lines: readonly string[]): StreamBackend {
  const backend = new StreamBackend('read');
  for (const text of lines) backend.ingest(event(text));
  backend.endList();
  return backend;
}

async function rows(backend: StreamBackend): Promise<string[]> {
  const { revision, kvs } = await backend.range({ ranges: ALL });
  const texts = kvs.map(({ key, createRevision, modRevision, version }) => {
    return `${decoder.decode(key)} ${createRevision} ${modRevision} ${version}`;
  });
  return [`at ${revision}`, ...texts];
}

function describeItem(item: BackendWatchItem | undefined): string {
  if (item?.type !== 'change') return `${item?.type} ${item?.revision}`;
  const [change] = item.events;
  const key = change?.type === 'put' ? change.kv.key : change?.key;
  return `${change?.type} ${decoder.decode(key)} ${item.revision}`;
}

/** Reads so many items. */
async function take(items: AsyncIterator<BackendWatchItem>, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) texts.push(describeItem((await items.next()).value));
  return texts;
}

function watch(backend: StreamBackend, fromRevision: number): AsyncIterator<BackendWatchItem> {
  return backend.watch({ ranges: ALL, fromRevision })[Symbol.asyncIterator]();
}

const added = (name: string, revision: number, uid = `uid-${name}`) => line({ type: 'ADDED', name, revision, uid });

describe('StreamBackend', () => {
  it('answers the first list once it is complete, at the largest of its revisions', async () => {
    const backend = new StreamBackend('read');
    const reading = rows(backend);
    for (const text of [added('b', 9), added('a', 4), added('c', 7)]) backend.ingest(event(text));
    backend.endList();
    expect(await reading).toEqual(['at 9', 'v1/Pod/ns/a 4 4 1', 'v1/Pod/ns/b 9 9 1', 'v1/Pod/ns/c 7 7 1']);
  });

  it('takes the newer state of an object that is listed twice, in any order', async () => {
    for (const order of [
      [4, 6],
      [6, 4],
    ]) {
      expect(await rows(listed(...order.map((revision) => added('a', revision))))).toEqual([
        'at 6',
        'v1/Pod/ns/a 6 6 1',
      ]);
    }
    expect(() => listed(added('a', 4), added('a', 4))).toThrow(
      'Cannot read: line 3, byte 40: the first list has v1/Pod/ns/a at revision 4 twice',
    );
  });

  it('folds changes: versions rise, another uid is another object, an unknown one is added', async () => {
    const backend = listed(added('a', 1), added('b', 2));
    const lines = [
      line({ name: 'a', revision: 5 }),
      line({ name: 'c', revision: 6 }),
      line({ type: 'DELETED', name: 'b', revision: 8 }),
      added('b', 9, 'uid-b2'),
      added('a', 11, 'uid-a2'),
      line({ type: 'DELETED', name: 'x', revision: 12 }),
    ];
    const items = watch(backend, 3);
    for (const text of [...lines, bookmark(15)]) backend.ingest(event(text));
    expect(await take(items, 8)).toEqual([
      'open 15',
      'put v1/Pod/ns/a 5',
      'put v1/Pod/ns/c 6',
      'delete v1/Pod/ns/b 8',
      'put v1/Pod/ns/b 9',
      'put v1/Pod/ns/a 11',
      'progress 12',
      'progress 15',
    ]);
    expect(await rows(backend)).toEqual(['at 15', 'v1/Pod/ns/a 11 11 1', 'v1/Pod/ns/b 9 9 1', 'v1/Pod/ns/c 6 6 1']);
    await items.return?.();
  });

  it.each([
    ['the same revision', line({ name: 'a', revision: 9 })],
    ['a smaller one', line({ name: 'a', revision: 8 })],
    ['a bookmark of the past', bookmark(9)],
  ])('refuses %s behind the first list, with nothing changed', async (_what, text) => {
    const backend = listed(added('a', 9));
    const before = await rows(backend);
    expect(() => backend.ingest(event(text))).toThrow(
      /^Cannot read: line 3, byte 40: the revision goes back: \d comes after 9$/,
    );
    expect(await rows(backend)).toEqual(before);
    expect(backend.undelivered).toBe(0);
  });

  it('says what is undelivered, and lets the feed go on when the replica has asked past it', async () => {
    const backend = listed(added('a', 1));
    const items = watch(backend, 2);
    expect(await take(items, 1)).toEqual(['open 1']);
    for (const revision of [2, 3, 4]) backend.ingest(event(line({ revision })));
    let hasRoom = false;
    const room = backend.untilRoom(1, new AbortController().signal).then(() => {
      hasRoom = true;
    });
    await take(items, 2);
    expect([backend.undelivered, hasRoom]).toEqual([2, false]);
    await take(items, 1);
    await room;
    expect(backend.undelivered).toBe(1);
    await items.return?.();
  });

  it('answers a request for progress when everything was sent', async () => {
    const backend = listed(added('a', 1));
    backend.ingest(event(line({ revision: 5 })));
    const stream = backend.watch({ ranges: ALL, fromRevision: 2 });
    const items = stream[Symbol.asyncIterator]();
    stream.requestProgress?.();
    expect(await take(items, 3)).toEqual(['open 5', 'put v1/Pod/ns/a 5', 'progress 5']);
    await items.return?.();
  });

  it('ends streams and calls when the connection is lost, and has no history after it', async () => {
    const backend = listed(added('a', 1));
    const items = watch(backend, 2);
    await take(items, 1);
    const waiting = items.next();
    backend.disconnect();
    await expect(waiting).rejects.toThrow(BackendError);
    await expect(backend.range({ ranges: ALL })).rejects.toThrow('Cannot list: the connection was dropped');
    await expect(watch(backend, 2).next()).rejects.toThrow(BackendError);
    await expect(backend.compact({ revision: 1 })).rejects.toThrow(BackendError);
    backend.ingest(event(line({ revision: 5 })));
    backend.reconnect();
    expect(backend.lost).toEqual({ after: 1, revision: 5 });
    const again = watch(backend, 2);
    expect(await take(again, 1)).toEqual(['open 5']);
    await expect(again.next()).rejects.toThrow(CompactedError);
    expect(await rows(backend)).toEqual(['at 5', 'v1/Pod/ns/a 1 5 2']);
    const behind = watch(backend, 6);
    expect(await take(behind, 1)).toEqual(['open 5']);
    await behind.return?.();
  });

  it('ends a call that waits for the first list when the connection is lost', async () => {
    const backend = new StreamBackend('read');
    const waiting = backend.range({ ranges: ALL });
    backend.disconnect();
    await expect(waiting).rejects.toThrow(BackendError);
  });

  it('is read-only, keeps no old states, and compacts its own log', async () => {
    const backend = listed(added('a', 1), added('b', 2));
    backend.ingest(event(line({ revision: 5 })));
    expect(backend.capabilities).toEqual({ progress: true, writable: false });
    await expect(backend.txn()).rejects.toThrow(UnsupportedError);
    await expect(backend.range({ ranges: ALL, revision: 2 })).rejects.toThrow(CompactedError);
    await expect(backend.range({ ranges: ALL, revision: 6 })).rejects.toThrow(FutureRevisionError);
    await backend.compact({ revision: 5 });
    const items = watch(backend, 5);
    expect(await take(items, 2)).toEqual(['open 5', 'put v1/Pod/ns/a 5']);
    await items.return?.();
    const late = watch(backend, 4);
    await late.next();
    await expect(late.next()).rejects.toMatchObject({ minRevision: 5 });
  });

  it('keeps to ranges, limits and filters', async () => {
    const backend = listed(added('a', 1), added('b', 2), added('c', 3));
    const start = encoder.encode('v1/Pod/ns/b');
    expect((await backend.range({ ranges: [{ start }] })).kvs).toHaveLength(1);
    expect(await backend.range({ ranges: [{ start, end: new Uint8Array(0) }], limit: 1 })).toMatchObject({ count: 2 });
    expect(await backend.range({ ranges: ALL, minModRevision: 3, keysOnly: true })).toMatchObject({
      count: 3,
      kvs: [{ modRevision: 3, value: new Uint8Array(0) }],
    });
    expect(await backend.range({ ranges: ALL, countOnly: true })).toMatchObject({ count: 3, kvs: [] });
  });
});

describe('ChangeLog', () => {
  it('keeps at least the newest items and at most half as many more', () => {
    const log = new ChangeLog();
    for (let revision = 1; revision <= LOG_ITEMS_MAX * 4; revision++) {
      log.append({ type: 'progress', revision });
      expect(log.countFrom(0)).toBeLessThanOrEqual(LOG_ITEMS_MAX * 1.5);
    }
    expect(log.countFrom(0)).toBeGreaterThanOrEqual(LOG_ITEMS_MAX);
    expect(log.from(0)?.revision).toBe(log.floor);
    expect(log.from(LOG_ITEMS_MAX * 4)?.revision).toBe(LOG_ITEMS_MAX * 4);
    expect(log.from(LOG_ITEMS_MAX * 4 + 1)).toBeUndefined();
  });
});
