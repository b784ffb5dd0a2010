/** An etcd of one's own, for what is not written in TypeScript: `loadBundle` makes one module of it, with one list of clean-ups. */
export { cleanUpAtExit, onExit } from '../etcd/cleanup.ts';
export { findOrInstallEtcd } from '../etcd/install.ts';
export { startEtcd } from '../etcd/server.ts';
