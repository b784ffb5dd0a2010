/**
 * Plimsoll on etcd: a backend over the JSON gateway of its members.
 *
 * @module
 */
export { type EtcdBackendOptions, openEtcdBackend } from './open-etcd-backend.ts';
export type { Fetch } from '../../backends/etcd/gateway.ts';
