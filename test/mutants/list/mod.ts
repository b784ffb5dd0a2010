import type { Fault } from '../fault.ts';
import { CACHE_FAULTS } from './cache.ts';
import { ETCD_FAULTS } from './etcd.ts';
import { HANDLER_FAULTS } from './handlers.ts';
import { INFORMER_LOOP_FAULTS } from './informer-loop.ts';
import { KUBERNETES_FAULTS } from './kubernetes.ts';
import { LEASE_FAULTS } from './lease.ts';
import { RESOURCE_CACHE_FAULTS } from './resource-cache.ts';
import { SERVER_FAULTS } from './server.ts';
import { SQLITE_FAULTS } from './sqlite.ts';
import { STORAGE_FAULTS } from './storage.ts';
import { STORE_FAULTS } from './store.ts';
import { TXN_FAULTS } from './txn.ts';
import { WATCH_FAULTS } from './watch.ts';

/** Every deliberate fault. The broken first readings are those of the design's page of checked rules. */
export const FAULTS: readonly Fault[] = [
  ...STORE_FAULTS,
  ...TXN_FAULTS,
  ...WATCH_FAULTS,
  ...LEASE_FAULTS,
  ...CACHE_FAULTS,
  ...HANDLER_FAULTS,
  ...SQLITE_FAULTS,
  ...ETCD_FAULTS,
  ...SERVER_FAULTS,
  ...STORAGE_FAULTS,
  ...KUBERNETES_FAULTS,
  ...INFORMER_LOOP_FAULTS,
  ...RESOURCE_CACHE_FAULTS,
];
