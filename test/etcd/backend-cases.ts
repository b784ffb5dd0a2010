import { openEtcdBackend } from '../../src/adapters/etcd/mod.ts';
import { hasSoundProgress } from '../../src/backends/etcd/version.ts';
import { type BackendCase, testBackend } from '../../src/testing/backend-suite.ts';
import type { Gateway, LeasesResponse } from './gateway.ts';
import { ownCases } from './own-cases.ts';

/**
 * A start at the very revision of a compaction: the backend refuses it, since etcd may have forgotten a delete there (E2 of
 * docs/etcd-differences.md). Refusing what is legal costs a list; a gap would cost the truth.
 */
const STARTS_AT_THE_COMPACTED_REVISION = [
  'compaction changes no list and no change at or above it',
  'a delete at the compacted revision is still told',
  'a start below the compacted revision ends with CompactedError, and brings nothing',
];

export const TRANSPORTS = ['gateway', 'grpc'] as const;

export interface CasesOptions {
  readonly address: string;
  readonly gateway: Gateway;
  /** Of this etcd. */
  readonly version: string;
  readonly transport: (typeof TRANSPORTS)[number];
}

/** `testBackend` on the backend of `plimsoll/etcd`, in front of a real etcd and in real time, and cases of its own. */
export function backendCases(options: CasesOptions): readonly BackendCase[] {
  const { gateway, address, version, transport } = options;
  const suite = testBackend({
    capabilities: { progress: transport === 'grpc' && hasSoundProgress(version), writable: true, leases: true },
    open: async () => {
      await empty(gateway);
      return openEtcdBackend({ endpoints: [address], transport });
    },
    skip: STARTS_AT_THE_COMPACTED_REVISION,
    advance: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
  });
  return [...suite, ...ownCases(options)];
}

async function empty(gateway: Gateway): Promise<void> {
  const { leases = [] } = await gateway.call<LeasesResponse>('lease/leases', {});
  for (const { ID } of leases) await gateway.call('lease/revoke', { ID });
  await gateway.call('kv/deleterange', { key: 'AA==', range_end: 'AA==' });
}
