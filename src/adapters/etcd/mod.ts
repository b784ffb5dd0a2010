/**
 * Plimsoll on etcd: a backend over the JSON gateway of its members, or over gRPC.
 *
 * @module
 */
export { type EtcdBackendOptions, openEtcdBackend } from './open-etcd-backend.ts';
export type { Fetch } from '../../backends/etcd/gateway.ts';
export type { EtcdTlsOptions } from './grpc-transport.ts';
