// @ts-check
// Starts a kube-apiserver on loopback, on an etcd of its own, for one proof. Both end with this process, on a signal too, and so do their
// folders.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../tools/free-port.mjs';
import { loadBundle } from '../../support/load-bundle.mjs';
import { httpsCall } from './https-call.mjs';

/**
 * @typedef {object} ApiServer
 * @property {number} port
 * @property {string} token
 * @property {string} authority The certificate of who vouches for it, in PEM.
 * @property {string} authorityFile
 * @property {import('./feed.mjs').Call} call
 * @property {() => void} stop
 */

const START_MS_MAX = 120_000;
const POLL_MS = 100;
/** Kept of what it prints, for the message when it dies. */
const LOG_CHARS_MAX = 8000;

/** @type {Promise<typeof import('../../support/kube-apiserver.ts')> | undefined} */
let loaded;

/** Once: it registers what has to be undone at the exit. */
async function load() {
  loaded ??= loadBundle(new URL('../../support/kube-apiserver.ts', import.meta.url)).then((bundle) => {
    bundle.cleanUpAtExit();
    return bundle;
  });
  return loaded;
}

/**
 * @param {string} command
 * @returns {Promise<ApiServer>}
 */
export async function startApiServer(command) {
  const { createCertificate, findOrInstallEtcd, onExit, startEtcd } = await load();
  const etcd = await startEtcd(await findOrInstallEtcd());
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-apiserver-'));
  const removeFolder = onExit(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  const token = randomBytes(16).toString('hex');
  const authority = createCertificate({ name: 'plimsoll test authority' });
  const { cert, key } = createCertificate({ name: 'kube-apiserver', issuer: authority });
  const accounts = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const files = {
    'authority.pem': authority.cert,
    'server.pem': cert,
    'server.key': key,
    'tokens.csv': `${token},proof,proof,"system:masters"\n`,
    'accounts.pem': accounts.publicKey.export({ type: 'spki', format: 'pem' }),
    'accounts.key': accounts.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  const port = await freePort();
  const running = run(command, flagsOf(folder, port, etcd.address));
  const kill = onExit(() => running.kill());
  const stop = () => {
    kill();
    etcd.stop();
    removeFolder();
  };
  const call = httpsCall({ port, token, authority: authority.cert });
  try {
    await ready(call, running);
  } catch (error) {
    stop();
    throw error;
  }
  return { port, token, authority: authority.cert, authorityFile: join(folder, 'authority.pem'), call, stop };
}

/**
 * @param {string} folder
 * @param {number} port
 * @param {string} etcd
 */
function flagsOf(folder, port, etcd) {
  return [
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // There is nobody whom the address of the server in the service `kubernetes` could help.
    '--endpoint-reconciler-type=none',
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
    `--tls-cert-file=${join(folder, 'server.pem')}`,
    `--tls-private-key-file=${join(folder, 'server.key')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=AlwaysAllow',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'accounts.pem')}`,
    `--service-account-signing-key-file=${join(folder, 'accounts.key')}`,
    '--service-cluster-ip-range=10.0.0.0/16',
    '--allow-privileged=true',
    // No controller makes the service accounts that it would want for each pod.
    '--disable-admission-plugins=ServiceAccount',
  ];
}

/**
 * @param {string} command
 * @param {readonly string[]} flags
 */
function run(command, flags) {
  // A process group of its own: Ctrl-C reaches this process first, which then ends the server and deletes its folder.
  const child = spawn(command, flags, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let log = '';
  /** @type {string | undefined} */
  let end;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      log = (log + text).slice(-LOG_CHARS_MAX);
    });
  }
  child.on('error', (error) => {
    end = String(error);
  });
  child.on('exit', (code, signal) => {
    end = String(code ?? signal);
  });
  return {
    kill: () => {
      if (end === undefined) child.kill('SIGKILL');
    },
    death: () => (end === undefined ? undefined : `it ended (${end}) and said:\n${log}`),
    log: () => log,
  };
}

/**
 * Resolves when the server says that it is ready: it has to make its own objects first.
 *
 * @param {import('./feed.mjs').Call} call
 * @param {ReturnType<typeof run>} running
 */
async function ready(call, running) {
  const until = performance.now() + START_MS_MAX;
  for (let last = 'no answer'; ; ) {
    const death = running.death();
    if (death !== undefined) throw new Error(`Cannot start kube-apiserver: ${death}`);
    if (performance.now() > until) throw new Error(`Cannot start kube-apiserver: ${last}, it said:\n${running.log()}`);
    try {
      const { status } = await call('GET', '/readyz');
      if (status === 200) return;
      last = `it answers ${status}`;
    } catch (error) {
      last = String(error);
    }
    await sleep(POLL_MS);
  }
}
