import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/open-store.ts';
import { createReferenceModel, type ReferenceModel } from '../../src/testing/model.ts';
import {
  CompactedError,
  DuplicateKeyError,
  KeyNotFoundError,
  LeaseExistsError,
  LeaseNotFoundError,
  LimitExceededError,
} from '../../src/types/errors.ts';
import type { RangeRequest } from '../../src/types/requests.ts';
import type { Operation } from '../../src/types/txn.ts';

/** The reference model against the numbers of the specification: what the store is compared with is right by itself. */
describe('the reference model', () => {
  const keysOf = (model: ReferenceModel<string>, request: RangeRequest) => {
    const { kvs, count, more } = model.range(request);
    return [kvs.map(({ key }) => key).join(','), count, more];
  };

  it.each<[string, Partial<RangeRequest>, string, number, boolean]>([
    ['C27', { limit: 2 }, 'a,b', 6, true],
    ['C28', { start: 'b', end: 'z', sortOrder: 'descend', limit: 2 } as never, 'fop,foo/abc', 5, true],
    ['C29', { sortTarget: 'version' }, 'a,b,foo,foo/abc,fop,c', 6, false],
    ['C30', { sortTarget: 'value' }, 'foo/abc,b,a,c,foo,fop', 6, false],
    ['C30', { sortTarget: 'value', sortOrder: 'descend' }, 'fop,foo,c,a,b,foo/abc', 6, false],
    ['C31', { minModRevision: 4, sortTarget: 'mod' }, 'c,foo,foo/abc,fop', 6, false],
    ['C31', { maxModRevision: 5, sortOrder: 'descend' }, 'b,a', 6, false],
    ['C31', { minCreateRevision: 4, sortTarget: 'version', sortOrder: 'descend' }, 'c,foo,foo/abc,fop', 6, false],
    ['C31', { maxCreateRevision: 7, sortTarget: 'value', sortOrder: 'descend' }, 'foo,c,a,b', 6, false],
  ])('%s: %j', (_case, request, keys, count, more) => {
    const model = createReferenceModel<string>();
    const puts = 'a=aa1 b=a c=ac1 c=ac2 c=aac foo=bar foo/abc=0 fop=s'.split(' ').map((put) => put.split('='));
    for (const [key, value] of puts) model.put(key as string, value as string);
    const range = 'start' in request ? {} : { prefix: '' };
    expect(keysOf(model, { ...range, ...request } as RangeRequest)).toEqual([keys, count, more]);
  });

  const put = (key: string): Operation<string> => ({ type: 'put', key, value: 'x' });
  const del = (key: string): Operation<string> => ({ type: 'delete', key });
  const nested = (then: Operation<string>[], otherwise: Operation<string>[] = []): Operation<string> => {
    return { type: 'txn', then, else: otherwise };
  };

  it.each<[string, Operation<string>[], boolean]>([
    ['two puts', [put('k'), put('k')], true],
    ['a put inside a deleted range', [{ type: 'delete', start: 'a', end: 'c' }, put('b')], true],
    ['then and else of one nested transaction', [nested([put('k')], [put('k')])], false],
    ['two nested ones', [nested([put('k')]), nested([], [put('k')])], true],
    ['a nested put and one outside', [nested([put('k')]), put('k')], true],
    ['a nested put before the delete of its level', [nested([put('k')]), del('k')], true],
    ['a nested delete, then a nested put', [nested([del('k')]), nested([put('k')])], true],
    ['a nested put, then a nested delete', [nested([put('k')]), nested([del('k')])], false],
    ['a put and a nested delete', [put('k'), nested([], [del('k')])], true],
  ])('C37, R20: %s', (_name, then, isRefused) => {
    const model = createReferenceModel<string>();
    const run = () => model.txn({ compare: [{ key: 'k', target: 'version', result: '>', value: 0 }], else: then });
    if (isRefused) expect(run).toThrow(DuplicateKeyError);
    else expect(run().succeeded).toBe(false);
    expect(model.revision).toBe(isRefused || then.length === 0 ? 1 : 2);
  });

  it('R21: nested transactions have what is left of the operations', () => {
    const model = createReferenceModel<string>({ limits: { txnOperations: 3 } });
    expect(() => model.txn({ then: [nested([put('a'), put('b')])] })).not.toThrow();
    expect(() => model.txn({ then: [nested([put('a'), put('b'), put('c')])] })).toThrow(LimitExceededError);
  });

  it('R15, R16: checks are of the path that runs, and nothing is written on an error', () => {
    const model = createReferenceModel<string>();
    const keep: Operation<string> = { type: 'put', key: 'b', ignoreValue: true };
    expect(() => model.txn({ then: [put('a'), keep] })).toThrow(KeyNotFoundError);
    expect(() => model.put('a', 'x', { lease: '999' })).toThrow(LeaseNotFoundError);
    expect(model.txn({ then: [put('a')], else: [keep, { type: 'range', key: 'a', revision: 99 }] }).revision).toBe(2);
  });

  it('C58-C62, scenario 21: leases', () => {
    let now = 0;
    const model = createReferenceModel<string>({ now: () => now });
    const [first, second] = [model.grantLease({ id: '2', ttlMs: 10 }), model.grantLease({ id: '1', ttlMs: 12 })];
    expect(() => model.grantLease({ id: '1', ttlMs: 1 })).toThrow(LeaseExistsError);
    for (const [key, lease] of Object.entries({ b: '2', a: '2', moved: '2', detached: '1', c: '1' })) {
      model.put(key, 'x', { lease });
    }
    model.put('moved', 'x', { lease: '1' });
    model.put('detached', 'x');
    expect(model.leaseTimeToLive('2', { keys: true })).toMatchObject({ remainingMs: 10, keys: ['a', 'b'] });
    const watch = model.watch({ prefix: '' });
    now = 20;
    expect(() => model.keepAliveLease('1')).toThrow(LeaseNotFoundError);
    const keys = () => watch.next()?.events.map(({ kv }) => kv.key);
    expect([keys(), keys(), keys()]).toEqual([['a', 'b'], ['c', 'moved'], undefined]);
    expect([first.lost, second.lost]).toEqual([9, 10].map((revision) => ({ end: 'expired', revision })));
    expect([model.get('detached')?.version, model.revision]).toEqual([2, 10]);
  });

  it('ids of leases are refused as the store does: RangeError for text that is none, TypeError for no text', async () => {
    const model = createReferenceModel<string>();
    const store = await openStore<string>();
    for (const id of ['01', '0', '', '-1', 'x', '9223372036854775808', 7 as never]) {
      const error = typeof id === 'string' ? RangeError : TypeError;
      expect(() => model.revokeLease(id)).toThrow(error);
      expect(() => model.keepAliveLease(id)).toThrow(error);
      expect(() => model.leaseTimeToLive(id)).toThrow(error);
      expect(() => model.grantLease({ ttlMs: 1, id })).toThrow(error);
      await expect(store.revokeLease(id)).rejects.toThrow(error);
      await expect(store.keepAliveLease(id)).rejects.toThrow(error);
      await expect(store.leaseTimeToLive(id)).rejects.toThrow(error);
      await expect(store.grantLease({ ttlMs: 1, id })).rejects.toThrow(error);
      if (id === '0') {
        expect(model.put('k', 'v', { lease: id }).revision).toBe(2);
        continue;
      }
      expect(() => model.put('k', 'v', { lease: id })).toThrow(error);
      await expect(store.put('k', 'v', { lease: id })).rejects.toThrow(error);
    }
  });

  it('a lease of a single key goes with it, at its deadline or when the key leaves it', () => {
    let now = 0;
    const model = createReferenceModel<string>({ now: () => now });
    model.put('a', 'x', { ttlMs: 5 });
    model.put('b', 'x', { ttlMs: 5 });
    model.put('b', 'y', { ignoreLease: true });
    model.put('b', 'z', { ttlMs: 7 });
    expect(model.leases()).toEqual(['1', '3']);
    now = 5;
    expect([model.get('a'), model.get('b')?.lease, model.leases()]).toEqual([undefined, '3', ['3']]);
    model.delete('b');
    expect(model.leases()).toEqual([]);
  });

  it('M16, scenario 10: a pin holds compaction back, which goes on when it is released', () => {
    const model = createReferenceModel<string>();
    for (let value = 0; value < 9; value++) model.put('k', `${value}`);
    const pin = model.pin(4, { owner: 'test' });
    expect(model.compact(8)).toEqual({ requested: 8, compactRevision: 4 });
    expect(model.get('k', { revision: 4 })?.value).toBe('2');
    expect(() => model.compact(4)).toThrow(CompactedError);
    expect(model.compact(6)).toEqual({ requested: 6, compactRevision: 4 });
    pin.release();
    expect([model.compactRevision, pin.isBroken]).toEqual([8, false]);
  });

  it('C49: progress on request, once everything was delivered, and not before a future start', () => {
    const model = createReferenceModel<string>();
    model.put('foo', 'x');
    const watches = [0, 1, 2, 3, 4].map((fromRevision) => model.watch({ key: 'bad' }, { fromRevision }));
    for (const watch of watches) watch.requestProgress();
    const progress = { revision: 2, progress: true, events: [] };
    expect(watches.map((watch) => watch.next())).toEqual([progress, progress, progress, undefined, undefined]);
    expect(watches.map((watch) => watch.next())).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });
});
