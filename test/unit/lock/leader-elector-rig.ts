import { createLeaderElector } from '../../../src/lock/leader-elector.ts';
import type { LeaderElectorOptions } from '../../../src/lock/leader-elector-options.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { LeaseRecord, LeaseRecordClient, StoredLeaseRecord } from '../../../src/types/lease-record.ts';

/** A record in memory, whose calls can be made to fail, to hang, and to be answered late. */
export class RecordServer {
  stored: StoredLeaseRecord | undefined;
  writes = 0;
  calls = 0;
  #version = 0;

  write(record: LeaseRecord): StoredLeaseRecord {
    this.writes++;
    this.stored = { record, resourceVersion: String(++this.#version) };
    return this.stored;
  }

  client(before: (call: 'get' | 'create' | 'update') => Promise<void> = async () => undefined): LeaseRecordClient {
    return {
      get: async () => {
        this.calls++;
        await before('get');
        return this.stored;
      },
      create: async (record) => {
        this.calls++;
        await before('create');
        return this.stored === undefined ? this.write(record) : undefined;
      },
      update: async (record, resourceVersion) => {
        this.calls++;
        await before('update');
        return this.stored?.resourceVersion === resourceVersion ? this.write(record) : undefined;
      },
    };
  }
}

export interface Candidate {
  readonly said: string[];
  readonly run: Promise<void>;
  readonly stop: () => void;
  readonly isLeader: () => boolean;
  readonly leader: () => string;
  readonly signals: AbortSignal[];
}

/** Starts a candidate that writes down what it is told. */
export function candidate(
  clock: VirtualClock,
  record: LeaseRecordClient,
  identity: string,
  options: Partial<LeaderElectorOptions> = {},
): Candidate {
  const said: string[] = [];
  const signals: AbortSignal[] = [];
  const say = (what: string) => said.push(`${clock.now()} ${what}`);
  const elector = createLeaderElector({
    record,
    identity,
    clock,
    random: () => 0,
    onStartedLeading: (signal) => {
      say('started');
      signals.push(signal);
    },
    onStoppedLeading: (reason) => void say(`stopped: ${reason}`),
    onNewLeader: (leader) => void say(`new leader ${leader}`),
    ...options,
  });
  const abort = new AbortController();
  const run = elector.run({ signal: abort.signal });
  return {
    said,
    signals,
    run,
    stop: () => abort.abort('enough'),
    isLeader: () => elector.isLeader,
    leader: () => elector.leader,
  };
}

export { createVirtualClock };
