/** What a kube-apiserver of one's own needs, for what is not written in TypeScript: `loadBundle` makes one module of it. */
export { createCertificate } from './certificates.ts';
export { cleanUpAtExit, findOrInstallEtcd, onExit, startEtcd } from './etcd.ts';
