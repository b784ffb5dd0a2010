import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lessor } from '../../../src/lease/lessor.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { LeaseExistsError, LeaseNotFoundError } from '../../../src/types/errors.ts';
import type { LeaseId } from '../../../src/types/lease.ts';
import { sized, testSeed } from '../../support/size.ts';

/** What a put does to a key: from the lease that it had to the one that it gets. */
function move(lessor: Lessor, text: string, from: LeaseId | undefined, to: LeaseId | undefined): boolean {
  if (to !== undefined) lessor.attach(to, text);
  return from !== undefined && from !== to && lessor.detach(from, text);
}

/**
 * Random programs on the books and on a plain list that is searched and sorted for each answer. Time passes in two ways:
 * `advance` runs timers, `stall` does not, as in a process that is busy or was suspended.
 */
const IDS = ['1', '2', '9', '10', '11', '99', '100', '4294967296', '9223372036854775806', '9223372036854775807'];
const KEYS = ['a', 'b', 'c', 'd'];

const ttlMs = fc.constantFrom(1, 2, 5, 5, 10, 20);
const id = fc.constantFrom(...IDS);
const key = fc.constantFrom(...KEYS);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('grant' as const), ttlMs, id: fc.option(id, { nil: undefined }) }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('putWithTtl' as const), ttlMs, key }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('keepAlive' as const), pick: fc.nat(), id }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('put' as const), pick: fc.nat(), key }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('delete' as const), key }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('revoke' as const), pick: fc.nat() }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('stall' as const), ms: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('restart' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface NaiveLease {
  readonly id: string;
  readonly ttlMs: number;
  deadline: number;
  readonly keyed: boolean;
}

class Rig {
  readonly clock = createVirtualClock();
  readonly random = createSeededRandom(testSeed());
  /** What `stall` has added to the clock. */
  stalledMs = 0;
  lessor = this.#books();
  /** The plain list, and which lease each key has. */
  leases: NaiveLease[] = [];
  readonly leaseOf = new Map<string, string>();
  /** Leases that the books gave up as due, in order, with the time. */
  readonly gone: { readonly id: string; readonly at: number }[] = [];

  now(): number {
    return this.clock.now() + this.stalledMs;
  }

  #books(): Lessor {
    return new Lessor({
      clock: { now: () => this.now(), after: (delayMs, fn) => this.clock.after(delayMs, fn) },
      random: this.random,
      leasesMax: 1000,
      onDue: () => this.expire(),
    });
  }

  /** What a store does before each operation. Of the plain list nothing is changed here. */
  expire(): void {
    for (let most = this.lessor.size; most > 0; most--) {
      const due = this.lessor.next(this.now());
      if (due === undefined) break;
      const keys = [...this.leaseOf].filter(([, lease]) => lease === due.id).map(([name]) => name);
      expect(this.lessor.keys(due).sort()).toEqual(keys.sort());
      for (const name of keys) this.leaseOf.delete(name);
      this.gone.push({ id: due.id, at: this.now() });
      this.lessor.remove(due.id);
    }
  }

  /** The same on the list: what is due, in the order in which a perfect timer would have found it. */
  expireNaively(): NaiveLease[] {
    const due = this.leases.filter(({ deadline }) => deadline <= this.now());
    this.leases = this.leases.filter(({ deadline }) => deadline > this.now());
    return due.sort((a, b) => a.deadline - b.deadline || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }

  restart(): void {
    const dump = [...this.lessor.dump()];
    this.lessor.close();
    expect(this.clock.pending).toBe(0);
    this.lessor = this.#books();
    this.lessor.restore(dump, 'open a store');
    // Nothing has less than nothing left: how long it was due is not kept.
    for (const lease of this.leases) lease.deadline = Math.max(lease.deadline, this.now());
    for (const [name, lease] of this.leaseOf) this.lessor.attach(lease, name);
  }

  pick(pick: number): NaiveLease | undefined {
    return this.leases[pick % Math.max(1, this.leases.length)];
  }

  /** The key gets another lease, or none; a keyed lease without a key goes. */
  setLease(name: string, to: string | undefined): void {
    const from = this.leaseOf.get(name);
    if (to === undefined) this.leaseOf.delete(name);
    else this.leaseOf.set(name, to);
    const old = this.leases.find((lease) => lease.id === from);
    const goes = old?.keyed === true && ![...this.leaseOf.values()].includes(old.id);
    if (goes) this.leases = this.leases.filter((lease) => lease !== old);
    expect(move(this.lessor, name, from, to)).toBe(goes);
  }

  enter(granted: string, ttl: number, keyed: boolean): void {
    expect(this.leases.map((lease) => lease.id)).not.toContain(granted);
    this.leases.push({ id: granted, ttlMs: ttl, deadline: this.now() + ttl, keyed });
  }

  async run(step: Step): Promise<void> {
    switch (step.op) {
      case 'grant':
        if (step.id !== undefined && this.leases.some((lease) => lease.id === step.id)) {
          expect(() => this.lessor.grant(step.ttlMs, step.id, 'grant')).toThrow(LeaseExistsError);
        } else {
          this.enter(this.lessor.grant(step.ttlMs, step.id, 'grant').id, step.ttlMs, false);
        }
        return;
      case 'putWithTtl': {
        const granted = this.lessor.grant(step.ttlMs, undefined, 'put', { keyed: true }).id;
        this.enter(granted, step.ttlMs, true);
        this.setLease(step.key, granted);
        return;
      }
      case 'keepAlive': {
        const lease = step.pick % 4 === 0 ? this.leases.find((other) => other.id === step.id) : this.pick(step.pick);
        if (lease === undefined || lease.deadline <= this.now()) {
          expect(() => this.lessor.keepAlive(lease?.id ?? step.id, 'keep')).toThrow(LeaseNotFoundError);
        } else {
          lease.deadline = this.now() + lease.ttlMs;
          expect(this.lessor.keepAlive(lease.id, 'keep').deadline).toBe(lease.deadline);
        }
        return;
      }
      case 'put':
        return this.setLease(step.key, step.pick % 4 === 0 ? undefined : this.pick(step.pick)?.id);
      case 'delete':
        return this.setLease(step.key, undefined);
      case 'revoke': {
        const lease = this.pick(step.pick);
        if (lease === undefined) return;
        this.leases = this.leases.filter((other) => other !== lease);
        for (const [name, owner] of this.leaseOf) if (owner === lease.id) this.leaseOf.delete(name);
        return this.lessor.remove(lease.id);
      }
      case 'stall':
        this.stalledMs += step.ms;
        return;
      case 'restart':
        return this.restart();
      case 'advance':
        return this.advance(step.ms);
    }
  }

  async advance(ms: number): Promise<void> {
    this.gone.length = 0;
    await this.clock.advance(ms);
    this.expire();
    const due = this.expireNaively();
    expect(this.gone.map((lease) => lease.id)).toEqual(due.map((lease) => lease.id));
    // Timers that nothing held up are exact.
    if (this.stalledMs === 0) expect(this.gone.map(({ at }) => at)).toEqual(due.map(({ deadline }) => deadline));
  }

  check(): void {
    const { clock, leases, lessor } = this;
    const byId = [...leases].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    expect(lessor.ids()).toEqual(byId.map((lease) => lease.id));
    expect([lessor.size, clock.pending]).toEqual([leases.length, leases.length > 0 ? 1 : 0]);
    for (const lease of leases) {
      const record = lessor.require(lease.id, 'read');
      expect(record).toMatchObject(lease);
      expect(lessor.remaining(record)).toBe(Math.max(0, lease.deadline - this.now()));
      const keys = KEYS.filter((name) => this.leaseOf.get(name) === lease.id);
      expect(lessor.keys(record).sort()).toEqual(keys);
    }
  }
}

describe('the books of the leases', () => {
  it('agree with a plain list in random programs', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (program) => {
        const rig = new Rig();
        for (const each of program) {
          await rig.run(each);
          rig.check();
        }
        await rig.advance(1000);
        rig.check();
      }),
      { numRuns: sized({ smoke: 200, full: 5_000 }) },
    );
  });
});
