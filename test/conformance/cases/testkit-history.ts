import { type BackendWatchItem, CompactedError, FutureRevisionError } from 'plimsoll';
import { type CommitHistory, createCommitHistory, createReferenceModel } from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';
import { bytes } from './replica-support.ts';

const ALL = { start: new Uint8Array(0), end: new Uint8Array(0) };
const text = (part: Uint8Array): string => new TextDecoder().decode(part);

async function keysOf(history: CommitHistory, revision?: number): Promise<string> {
  const { kvs } = await history.range(revision === undefined ? { ranges: [ALL] } : { ranges: [ALL], revision });
  return kvs.map(({ key, value }) => `${text(key)}=${text(value)}`).join(' ');
}

function describe(item: BackendWatchItem): string {
  if (item.type !== 'change') return `${item.type} ${item.revision}`;
  const events = item.events.map((event) => `${event.type} ${text(event.type === 'put' ? event.kv.key : event.key)}`);
  return `change ${item.revision}: ${events.join(', ')}`;
}

test('commit history: what is held back holds back what came after it', async () => {
  const history = createCommitHistory();
  equal([history.identity, history.revision, history.compactRevision], ['history', 1, 0]);
  equal(history.commit([{ key: 'a', value: '1' }]), 2);
  const held = history.hold([{ key: 'b', value: '1' }]);
  equal([held.revision, history.commit([{ key: 'c', value: '1' }]), history.revision], [3, 4, 2]);
  equal(await keysOf(history), 'a=1');
  held.release();
  equal([history.revision, await keysOf(history), await keysOf(history, 3)], [4, 'a=1 b=1 c=1', 'a=1 b=1']);
  history.skip(3);
  equal([history.revision, history.commit([{ key: 'a' }]), await keysOf(history)], [7, 8, 'b=1 c=1']);
});

test('commit history: keeps every state and every event', () => {
  const history = createCommitHistory({ identity: 'mine', revision: 10 });
  history.commit([
    { key: 'a', value: '1' },
    { key: 'b', value: '1', lease: '7' },
  ]);
  history.commit([{ key: 'a', value: '2' }, { key: 'b' }, { key: 'none' }]);
  equal(
    history
      .stateAt(11)
      .map(({ key, createRevision, modRevision, version, lease }) => [
        text(key),
        createRevision,
        modRevision,
        version,
        lease,
      ]),
    [
      ['a', 11, 11, 1, '0'],
      ['b', 11, 11, 1, '7'],
    ],
  );
  equal(
    history
      .stateAt(12)
      .map(({ key, createRevision, modRevision, version }) => [text(key), createRevision, modRevision, version]),
    [['a', 11, 12, 2]],
  );
  equal(
    history.eventsOf(11, 12).map(({ revision, events }) => [revision, events.map(({ type }) => type)]),
    [
      [11, ['put', 'put']],
      [12, ['put', 'delete']],
    ],
  );
});

test('commit history: is a backend', async () => {
  const history = createCommitHistory();
  for (const value of ['1', '2', '3']) history.commit([{ key: 'a', value }]);
  equal(await history.status({}), { identity: 'history', revision: 4 });
  const stream = history.watch({ ranges: [ALL], fromRevision: 3 });
  stream.requestProgress?.();
  const items: string[] = [];
  for await (const item of stream) if (items.push(describe(item)) === 4) break;
  equal(items, ['open 4', 'change 3: put a', 'change 4: put a', 'progress 4']);
  const put = { type: 'put', key: bytes('a'), value: bytes('4') } as const;
  const compare = [{ key: bytes('a'), target: 'mod', result: '=', value: 4 } as const];
  const done = await history.txn({ compare, then: [put], else: [] });
  const refused = await history.txn({ compare, then: [put], else: [{ type: 'range', range: ALL }] });
  equal([done.revision, done.succeeded, refused.revision, refused.succeeded], [5, true, 5, false]);
  await history.compact({ revision: 4 });
  await rejects(history.range({ ranges: [ALL], revision: 3 }), { class: CompactedError, code: 'COMPACTED' });
  await rejects(history.range({ ranges: [ALL], revision: 9 }), { class: FutureRevisionError, code: 'FUTURE_REVISION' });
  await rejects(history.compact({ revision: 9 }), { class: FutureRevisionError });
  const late = history.watch({ ranges: [ALL], fromRevision: 2 })[Symbol.asyncIterator]();
  equal(describe((await late.next()).value as BackendWatchItem), 'open 5');
  equal((await rejects(late.next(), { class: CompactedError })).minRevision, 4);
  await history[Symbol.asyncDispose]();
});

test('commit history: unordered shows a commit at once, whatever is held below it', async () => {
  const history = createCommitHistory({ unordered: true });
  const held = history.hold([{ key: 'a', value: '1' }]);
  history.commit([{ key: 'b', value: '1' }]);
  equal(history.revision, 3);
  held.release();
  const items: string[] = [];
  for await (const item of history.watch({ ranges: [ALL], fromRevision: 1 })) {
    if (items.push(describe(item)) === 3) break;
  }
  equal(items, ['open 3', 'change 3: put b', 'change 2: put a']);
});

test('reference model: answers and refuses as a store does', () => {
  const model = createReferenceModel<string>({ retention: { events: 3 } });
  equal([model.revision, model.compactRevision, model.get('a')], [1, 0, undefined]);
  const watch = model.watch({ prefix: '' });
  equal(model.put('a', '1'), { revision: 2 });
  const kv = { key: 'a', value: '1', createRevision: 2, modRevision: 2, version: 1, lease: '0' };
  equal(model.put('a', '2', { prevKv: true }), { revision: 3, prevKv: kv });
  equal(model.get('a', { revision: 2 }), kv);
  equal(
    model.txn({
      then: [
        { type: 'delete', key: 'a' },
        { type: 'put', key: 'b', value: '1' },
      ],
    }).revision,
    4,
  );
  equal([model.compactRevision, model.range({ prefix: '' }).kvs.map(({ key }) => key)], [3, ['b']]);
  throws(() => model.get('a', { revision: 2 }), { class: CompactedError, code: 'COMPACTED' });
  throws(() => model.get('a', { revision: 9 }), { class: FutureRevisionError, code: 'FUTURE_REVISION' });
  throws(() => watch.next(), { class: CompactedError });
  equal([watch.isDone, watch.next()], [true, undefined]);
  equal(model.delete('none'), { revision: 4, deleted: 0 });
  equal(model.compact(4), { requested: 4, compactRevision: 4 });
});
