import type { ModelLease, ModelPin, ReferenceModel } from '../../src/testing/model.ts';
import { LeaseLostError, LeaseNotFoundError, PinBrokenError } from '../../src/types/errors.ts';
import type { GrantLeaseOptions, Lease, TimeToLiveOptions } from '../../src/types/lease.ts';
import type { Pin } from '../../src/types/pin.ts';
import type { Key, Revision } from '../../src/types/revision.ts';
import type { Store, StoreStats } from '../../src/types/store.ts';
import { checkSame, Mismatch, type Outcome, outcome } from './store-outcome.ts';
import type { Step } from './store-program.ts';
import type { Coverage } from './store-watches.ts';

type Both = (what: string, act: () => unknown, expect: () => unknown) => Promise<void>;
type UseStep = Extract<Step, { op: 'revoke' | 'keepAlive' | 'timeToLive' }>;

/** Leases and pins of a run: handles beside what the model has for them, and the ids that the store has chosen. */
export class Handles {
  readonly #mark: Coverage;
  #leases: { lease: Lease; model: ModelLease }[] = [];
  #pins: { pin: Pin; model: ModelPin; deadline: number }[] = [];
  /** Leases whose loss was counted. */
  readonly #heard = new WeakSet<ModelLease>();
  /** Ids that the store has chosen and the model is still to use. */
  #toUse: string[] = [];
  /** Ids of the last leases, of those that are gone too. */
  ids: readonly string[] = [];

  constructor(mark: Coverage) {
    this.#mark = mark;
  }

  learn(ids: readonly string[]): void {
    this.#toUse = [...ids];
    for (const id of ids) this.#remember(id);
  }

  nextId(): string {
    const id = this.#toUse.shift();
    if (id === undefined) throw new Mismatch('the store has made fewer leases than the model');
    return id;
  }

  async grant(
    store: Store<unknown, Key>,
    model: ReferenceModel<unknown, Key>,
    options: GrantLeaseOptions,
    both: Both,
  ): Promise<void> {
    let lease: Lease | undefined;
    let granted: ModelLease | undefined;
    const act = async () => {
      lease = await store.grantLease(options);
      this.learn(options.id === undefined ? [lease.id] : []);
      this.#remember(lease.id);
      return { granted: lease.id, ttlMs: lease.ttlMs };
    };
    const expect = () => {
      // What the store has chosen was learned from the handle, which is no answer with ids in it.
      if (options.id === undefined && lease !== undefined) this.#toUse = [lease.id];
      granted = model.grantLease(options);
      return { granted: granted.id, ttlMs: granted.ttlMs };
    };
    await both('grant', act, expect);
    if (lease !== undefined && granted !== undefined) this.#leases.push({ lease, model: granted });
  }

  /** By id, or by the newest handle of that id: a lost handle stays lost though its id may be there again. */
  async use(
    store: Store<unknown, Key>,
    model: ReferenceModel<unknown, Key>,
    step: UseStep,
    id: string,
    both: Both,
  ): Promise<void> {
    const options: TimeToLiveOptions = step.op === 'timeToLive' ? { keys: step.keys } : {};
    const handles = this.#leases.filter(({ lease }) => lease.id === id);
    const handle = step.byHandle ? (handles.find((one) => one.model.lost !== undefined) ?? handles[0]) : undefined;
    if (handle !== undefined) this.#mark(`handle.${step.op}`);
    const isLost = () => model.revision > 0 && handle?.model.lost !== undefined;
    const whenThere = <T>(fn: () => T): T => {
      if (isLost()) throw new LeaseNotFoundError('use a lease', id);
      return fn();
    };
    switch (step.op) {
      case 'revoke':
        return both(
          step.op,
          () => handle?.lease.revoke() ?? store.revokeLease(id),
          () => whenThere(() => model.revokeLease(id)),
        );
      case 'keepAlive':
        return both(
          step.op,
          () => handle?.lease.keepAlive() ?? store.keepAliveLease(id),
          () => whenThere(() => model.keepAliveLease(id)),
        );
      case 'timeToLive':
        return both(
          step.op,
          () => (handle === undefined ? store.leaseTimeToLive(id, options) : handle.lease.timeToLive(options)),
          () => (isLost() ? undefined : model.leaseTimeToLive(id, options)),
        );
    }
  }

  pin(
    store: Store<unknown, Key>,
    model: ReferenceModel<unknown, Key>,
    revision: Revision,
    { ttlMs, now }: { ttlMs: number | undefined; now: number },
    compare: (what: string, actual: Outcome, expected: Outcome) => void,
  ): void {
    const options = { owner: `owner ${revision}`, ...(ttlMs === undefined ? {} : { ttlMs }) };
    const actual = outcome(() => store.pin(revision, options));
    const expected = outcome(() => model.pin(revision, options));
    if (!('value' in actual && 'value' in expected)) {
      compare('pin', actual, expected);
      return;
    }
    const pin = actual.value as Pin;
    checkSame('pin', [pin.revision, pin.owner], [revision, options.owner]);
    const deadline = now + (ttlMs ?? Number.POSITIVE_INFINITY);
    this.#pins.push({ pin, model: expected.value as ModelPin, deadline });
  }

  release(pick: number): void {
    const [one] = this.#pins.splice(pick % Math.max(this.#pins.length, 1), 1);
    one?.pin.release();
    one?.model.release();
  }

  /** Those that would break at this instant. */
  releaseDue(now: number): void {
    for (let pick = this.#pins.length - 1; pick >= 0; pick--) {
      if (this.#pins[pick]?.deadline === now) this.release(pick);
    }
  }

  releaseAll(): void {
    while (this.#pins.length > 0) this.release(0);
  }

  forgetHandles(): void {
    this.#leases = [];
  }

  /** Signals have aborted where the model has lost something, with the facts, and nowhere else. */
  check(): void {
    for (const { lease, model } of this.#leases) {
      checkSame(`signal of lease ${lease.id}`, lease.signal.aborted, model.lost !== undefined);
      if (model.lost === undefined) continue;
      const { reason } = lease.signal;
      checkSame('reason', reason instanceof LeaseLostError, true);
      checkSame(
        'reason',
        { ...reason, message: '' },
        { ...new LeaseLostError({ leaseId: lease.id, ...model.lost }), message: '' },
      );
      if (this.#heard.has(model)) continue;
      this.#heard.add(model);
      this.#mark(`code:${reason.code}`);
      this.#mark(`lost:${model.lost.end}`);
    }
    this.#leases = this.#leases.filter(
      ({ model }, index, { length }) => model.lost === undefined || index > length - 6,
    );
    for (const { pin, model } of this.#pins) {
      checkSame(`signal of a pin at ${pin.revision}`, pin.signal.aborted, model.isBroken);
      if (!model.isBroken) continue;
      checkSame('reason', pin.signal.reason instanceof PinBrokenError && pin.signal.reason.reason, 'ttlMs');
      this.#mark('code:PIN_BROKEN');
    }
    this.#pins = this.#pins.filter(({ model }) => !model.isBroken);
  }

  checkPins(pins: StoreStats['pins']): void {
    const expected = this.#pins.map(({ pin: { owner, revision } }) => ({ owner, revision }));
    const byRevision = (a: { revision: number }, b: { revision: number }) => a.revision - b.revision;
    checkSame(
      'pins',
      pins.map(({ owner, revision }) => ({ owner, revision })),
      expected.sort(byRevision),
    );
  }

  #remember(id: string): void {
    this.ids = [...this.ids.filter((other) => other !== id).slice(-5), id];
  }
}
