import type { LeaseName } from './program.ts';

/** etcd expires a lease within its half a second and what a request takes, so no other one may be due in that time. */
const GAP_MS = 800;
/** What a new deadline keeps from the others; above the gap, so that sleeps do not grow from one to the next. */
const SPACING_MS = 900;

/** When the leases of a program are due, in the program's time. */
export class Deadlines {
  readonly #live = new Map<LeaseName, { readonly ttlMs: number; deadline: number }>();
  #now = 0;

  /** Whether a lease may be due `ttlMs` from now; `undefined` is the TTL that it has. */
  fits(name: LeaseName, ttlMs = this.#live.get(name)?.ttlMs): boolean {
    if (ttlMs === undefined) return true;
    const deadline = this.#now + ttlMs;
    return [...this.#live].every(([other, lease]) => {
      return other === name || Math.abs(lease.deadline - deadline) >= SPACING_MS;
    });
  }

  granted(name: LeaseName, ttlMs: number): void {
    this.#live.set(name, { ttlMs, deadline: this.#now + ttlMs });
  }

  kept(name: LeaseName): void {
    const lease = this.#live.get(name);
    if (lease !== undefined) lease.deadline = this.#now + lease.ttlMs;
  }

  revoked(name: LeaseName): void {
    this.#live.delete(name);
  }

  get names(): readonly LeaseName[] {
    return [...this.#live.keys()];
  }

  /**
   * Moves on by `ms`, and further until nothing is due soon: what etcd expires while it is waited for would be too early
   * here. Returns how far it went and what is due, the first one first.
   */
  sleep(ms: number): { readonly ms: number; readonly due: readonly LeaseName[] } {
    const sorted = [...this.#live].sort(([, left], [, right]) => left.deadline - right.deadline);
    let target = this.#now + ms;
    for (const [, { deadline }] of sorted) if (deadline > target && deadline <= target + GAP_MS) target = deadline;
    const due = sorted.filter(([, { deadline }]) => deadline <= target).map(([name]) => name);
    for (const name of due) this.#live.delete(name);
    const passed = target - this.#now;
    this.#now = target;
    return { ms: passed, due };
  }
}
