import { describe, expect, it } from 'vitest';
import { IdentityChangedError, LockReentryError, NotLeaderError } from '../../../src/types/errors.ts';
import { openMutexRig } from './mutex-rig.ts';

describe('a leadership that is written down', () => {
  it('is taken up elsewhere with the value that was published last; it is renewed there, and resigned', async () => {
    const { one, two, clock, close } = await openMutexRig('replicas');
    const first = await one.campaign('e', 'v1', { ttlMs: 1000 });
    await first.proclaim('v2');
    const token = JSON.parse(JSON.stringify(first));
    expect(token).toEqual({
      identity: one.identity,
      name: 'e',
      leaseId: first.lease.id,
      fencingToken: first.fencingToken,
      ownsLease: true,
    });
    const taken = await two.resumeLeadership(token);
    expect([taken.value, taken.fencingToken, taken.toJSON()]).toEqual(['v2', first.fencingToken, token]);
    await one.close();
    await clock.advance(30_000);
    expect(taken.signal.aborted).toBe(false);
    await taken.proclaim('v3');
    expect(two.leader('e')?.value).toBe('v3');
    await taken.resign();
    await clock.settle();
    expect([two.leader('e'), await two.leases()]).toEqual([undefined, []]);
    await close();
    expect(clock.pending).toBe(0);
  });

  it('is not taken up once it is lost, of other data, or where it is led already', async () => {
    const { one, two, clock, close } = await openMutexRig('replicas');
    const first = await one.campaign('e', 'v1', { ttlMs: 1000 });
    const token = first.toJSON();
    await expect(one.resumeLeadership(token)).rejects.toBeInstanceOf(LockReentryError);
    await expect(two.resumeLeadership({ ...token, identity: 'other' })).rejects.toBeInstanceOf(IdentityChangedError);
    await first.resign();
    await clock.settle();
    await expect(two.resumeLeadership(token)).rejects.toMatchObject({
      constructor: NotLeaderError,
      end: 'lost',
      message: expect.stringContaining('Cannot resume a leadership: '),
    });
    const second = await two.campaign('e', 'v2');
    await expect(two.resumeLeadership(token)).rejects.toBeInstanceOf(NotLeaderError);
    expect(second.signal.aborted).toBe(false);
    await close();
    expect(clock.pending).toBe(0);
  });
});
