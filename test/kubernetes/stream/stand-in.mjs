#!/usr/bin/env node
// @ts-check
// Stands in for a kube-apiserver where there is none, so that its launcher and the proof on it are tested: it takes the same flags, wants the same
// token, and is the test API server behind TLS. As the real one it wants namespaces to be there and refuses some objects; it keeps its objects in
// memory, and asks its etcd only whether that is there.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** @param {string} name @returns {Promise<any>} */
const fromDist = (name) => import(new URL(`../../../dist/${name}.js`, import.meta.url).href);
/** @type {typeof import('../../../src/testing/mod.ts')} */
const { openTestApiServer } = await fromDist('testing');
/** @type {typeof import('../../../src/adapters/testing-node/mod.ts')} */
const { listen } = await fromDist('testing-node');

const text = { type: /** @type {const} */ ('string') };
const FLAGS = [
  ...['etcd-servers', 'bind-address', 'advertise-address', 'endpoint-reconciler-type', 'secure-port', 'cert-dir'],
  ...['tls-cert-file', 'tls-private-key-file', 'token-auth-file', 'authorization-mode', 'service-account-issuer'],
  ...['service-account-key-file', 'service-account-signing-key-file', 'service-cluster-ip-range', 'allow-privileged'],
  'disable-admission-plugins',
];
const { values } = parseArgs({ options: Object.fromEntries(FLAGS.map((name) => [name, text])) });

/** @param {string} name */
function flag(name) {
  const value = Reflect.get(values, name);
  if (typeof value !== 'string') throw new Error(`--${name} is missing`);
  return value;
}

/** @param {string} name */
const fileOf = (name) => readFileSync(flag(name), 'utf8');
for (const name of ['service-account-key-file', 'service-account-signing-key-file']) {
  if (!/^-----BEGIN (?:PUBLIC|PRIVATE) KEY-----/.test(fileOf(name))) throw new Error(`--${name} is no key`);
}
const health = await fetch(`${flag('etcd-servers')}/health`);
if (!health.ok) throw new Error(`etcd answers ${health.status}`);
const [token] = fileOf('token-auth-file').split(',');
const server = await openTestApiServer();

/** @param {number} code @param {string} reason @param {string} message */
const refuse = (code, reason, message) => {
  return Response.json(
    { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message },
    { status: code },
  );
};

/**
 * @param {Request} input
 * @param {RequestInit} [init]
 */
async function answer(input, init) {
  if (input.headers.get('authorization') !== `Bearer ${token}`) return refuse(401, 'Unauthorized', 'Unauthorized');
  if (input.method !== 'POST') return server.fetch(input, init);
  const namespace = /\/namespaces\/([^/]+)\//.exec(new URL(input.url).pathname)?.[1];
  if (namespace !== undefined && (await server.fetch(`/api/v1/namespaces/${namespace}`)).status !== 200) {
    return refuse(404, 'NotFound', `namespaces "${namespace}" not found`);
  }
  const body = await input.clone().json();
  if (body.spec?.size === 3) return refuse(422, 'Invalid', 'Thing "x" is invalid: spec.size: Invalid value: 3');
  return server.fetch(input, init);
}

await listen(
  { fetch: answer },
  {
    host: flag('bind-address'),
    port: Number(flag('secure-port')),
    tls: { cert: fileOf('tls-cert-file'), key: fileOf('tls-private-key-file') },
  },
);
