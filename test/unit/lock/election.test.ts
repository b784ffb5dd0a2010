import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { ClosedError, LockTimeoutError, NotLeaderError, ValueError } from '../../../src/types/errors.ts';
import type { KeyValue } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import { probe } from '../../support/replica-rig.ts';
import { KINDS, openMutexRig } from './mutex-rig.ts';

/** Collects what an observer sees, for as long as it goes. */
function observed(store: Store<string>, name: string, signal?: AbortSignal) {
  const seen: string[] = [];
  const tokens: number[] = [];
  const stream = store.observe(name, signal === undefined ? {} : { signal });
  const ended = (async () => {
    for await (const { value, createRevision } of stream) {
      seen.push(value);
      tokens.push(createRevision);
    }
  })();
  return { seen, tokens, stream, ended };
}

describe.each(KINDS)('an election in %s', (kind) => {
  it('C67: an observer sees A, A:v2, then B, in order; the value of who waits is no leader’s', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const early = observed(two, 'e');
    expect(one.leader('e')).toBeUndefined();
    const a = await one.campaign('e', 'a:v1');
    const session = await two.grantLease({ ttlMs: 60_000 });
    const campaigning = probe(two.campaign('e', 'b:v1', { lease: session }));
    await clock.settle();
    const late = observed(one, 'e');
    await clock.settle();
    await a.proclaim('a:v2');
    // What waits changes its own value, as another client of its session could.
    const own = `e/${BigInt(session.id).toString(16)}`;
    await two.put(own, 'b:v2', { lease: session.id });
    await clock.settle();
    expect([one.leader('e')?.value, two.leader('e')?.value, campaigning.state]).toEqual(['a:v2', 'a:v2', 'pending']);
    expect([early.seen, late.seen]).toEqual([
      ['a:v1', 'a:v2'],
      ['a:v1', 'a:v2'],
    ]);
    await a.resign();
    await clock.settle();
    const b = campaigning.value;
    expect([b?.key, two.leader('e')?.value]).toEqual([own, 'b:v2']);
    await b?.proclaim('b:v3');
    await clock.settle();
    expect([early.seen, late.seen]).toEqual([
      ['a:v1', 'a:v2', 'b:v2', 'b:v3'],
      ['a:v1', 'a:v2', 'b:v2', 'b:v3'],
    ]);
    expect(early.tokens.toSorted((x, y) => x - y)).toEqual(early.tokens);
    await close();
    await expect(early.ended).rejects.toBeInstanceOf(ClosedError);
    await expect(late.ended).rejects.toBeInstanceOf(ClosedError);
    expect(clock.pending).toBe(0);
  });

  it('R49: the leader publishes under its token, and nobody who is not it', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const a = await one.campaign('e', 'a');
    expect([a.value, a.name, one.get(a.key)?.createRevision]).toEqual(['a', 'e', a.fencingToken]);
    await a.proclaim('a2');
    expect([a.value, one.get(a.key)?.lease]).toEqual(['a2', a.lease.id]);
    await two.delete(a.key);
    await expect(a.proclaim('a3')).rejects.toBeInstanceOf(NotLeaderError);
    expect([a.value, one.leader('e')]).toEqual(['a2', undefined]);
    await clock.settle();
    expect(a.signal.reason).toMatchObject({ code: 'NOT_LEADER', end: 'lost', election: 'e' });
    const b = await two.campaign('e', 'b');
    await a.resign();
    expect([one.leader('e')?.value, b.signal.aborted]).toEqual(['b', false]);
    await b.resign();
    expect(b.signal.reason).toMatchObject({ code: 'NOT_LEADER', end: 'resigned' });
    await expect(b.proclaim('late')).rejects.toMatchObject({ code: 'NOT_LEADER', end: 'resigned' });
    await expect(b.txn({})).rejects.toBeInstanceOf(NotLeaderError);
    expect(two.range({ prefix: 'e/' }).count).toBe(0);
    await close();
  });

  it('a campaign is cancelled like a lock, and leaves no candidate', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    await using a = await one.campaign('e', 'a');
    const late = probe(two.campaign('e', 'b', { timeoutMs: 100 }));
    await clock.advance(100);
    expect([late.error, one.range({ prefix: 'e/' }).count]).toEqual([expect.any(LockTimeoutError), 1]);
    await a[Symbol.asyncDispose]();
    expect(one.leader('e')).toBeUndefined();
    await close();
  });

  it('observe ends by return, by its signal, and by break, with a next() that waits too', async () => {
    const { one, clock, close } = await openMutexRig(kind);
    const open = one.stats().watchers;
    const abort = new AbortController();
    const [first, second] = [observed(one, 'e'), observed(one, 'e', abort.signal)];
    await clock.settle();
    expect(await first.stream.return?.()).toEqual({ done: true, value: undefined });
    await first.ended;
    abort.abort('enough');
    await expect(second.ended).rejects.toBe('enough');
    await one.campaign('e', 'a');
    const found: KeyValue<string>[] = [];
    for await (const leader of one.observe('e')) {
      found.push(leader);
      break;
    }
    expect([found[0]?.value, found[0]?.key]).toEqual(['a', one.leader('e')?.key]);
    // The candidate watches its key.
    expect(one.stats().watchers).toEqual({ idle: open.idle + 1, pending: 0 });
    await close();
  });
});

describe('an observer that lags', () => {
  it('misses what was overtaken, by its bound or by compaction, never the newest', async () => {
    const store = await openStore<string>({ clock: createVirtualClock(), codec: textCodec() });
    const leadership = await store.campaign('e', '0');
    const stream = store.observe('e');
    expect((await stream.next()).value?.value).toBe('0');
    for (let index = 1; index <= 2000; index++) await leadership.proclaim(String(index));
    expect((await stream.next()).value?.value).toBe('2000');
    for (let index = 1; index <= 10; index++) await leadership.proclaim(`c${index}`);
    await store.compact(store.revision);
    expect((await stream.next()).value?.value).toBe('c10');
    await leadership.resign();
    const next = await store.campaign('e', 'next');
    await store.compact(store.revision);
    expect((await stream.next()).value).toMatchObject({ value: 'next', createRevision: next.fencingToken });
    await store.close();
  });
});

describe('what an election is asked for', () => {
  it('names and options are checked before anything happens, values by the store', async () => {
    const store = await openStore<string>({ clock: createVirtualClock(), codec: textCodec() });
    expect(() => store.leader('')).toThrow(RangeError);
    expect(() => store.observe(5 as never)).toThrow(TypeError);
    expect(() => store.observe('e', { sign: 1 } as never)).toThrow('unknown option sign');
    await expect(store.campaign('e', 'a', { ttl: 5 } as never)).rejects.toThrow('unknown option ttl');
    await expect(store.campaign('e', 5 as never)).rejects.toBeInstanceOf(ValueError);
    expect([store.revision, await store.leases()]).toEqual([1, []]);
    await store.close();
    expect(() => store.leader('e')).toThrow(ClosedError);
    expect(() => store.observe('e')).toThrow(ClosedError);
  });
});
