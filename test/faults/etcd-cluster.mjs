// @ts-check
// Members of etcd on loopback that can be stopped, killed, started again, and given an empty folder.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../tools/free-port.mjs';

const START_MS_MAX = 20_000;

/** @typedef {{ name: string, client: string, peer: string, folder: string }} Member */

/** Members are in process groups of their own, where Ctrl-C does not reach them. @type {Set<EtcdCluster>} */
const clusters = new Set();
process.once('exit', () => {
  for (const cluster of clusters) cluster.stop();
});

export class EtcdCluster {
  /** @type {readonly Member[]} */
  members;
  /** @type {readonly string[]} client addresses */
  endpoints;
  #command;
  /** @type {unknown} */
  #lastError;
  #token = randomBytes(6).toString('hex');
  /** @type {Map<string, import('node:child_process').ChildProcess>} */
  #running = new Map();

  /**
   * @param {string} command
   * @param {readonly Member[]} members
   */
  constructor(command, members) {
    this.#command = command;
    this.members = members;
    this.endpoints = members.map(({ client }) => client);
  }

  /**
   * @param {{ command: string, folder: string, size: number }} options
   */
  static async start({ command, folder, size }) {
    const members = [];
    for (let index = 0; index < size; index++) {
      const name = `m${index}`;
      const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
      members.push({ name, client, peer, folder: join(folder, `${name}-${randomBytes(3).toString('hex')}`) });
    }
    const cluster = new EtcdCluster(command, members);
    clusters.add(cluster);
    await Promise.all(members.map((member) => cluster.startMember(member)));
    await cluster.untilLed();
    return cluster;
  }

  /** @param {Member} member */
  async startMember(member) {
    await mkdir(member.folder, { recursive: true });
    const cluster = this.members.map(({ name, peer }) => `${name}=${peer}`).join(',');
    const args = ['--name', member.name, '--data-dir', member.folder, '--logger', 'zap', '--log-level', 'error'];
    args.push('--listen-client-urls', member.client, '--advertise-client-urls', member.client);
    args.push('--listen-peer-urls', member.peer, '--initial-advertise-peer-urls', member.peer);
    args.push('--initial-cluster', cluster, '--initial-cluster-token', this.#token);
    args.push('--heartbeat-interval', '50', '--election-timeout', '500', '--unsafe-no-fsync');
    const env = { ...process.env, ...(process.arch === 'x64' ? {} : { ETCD_UNSUPPORTED_ARCH: process.arch }) };
    const child = spawn(this.#command, args, { stdio: 'ignore', env, detached: true });
    child.on('error', (error) => console.error(`Cannot start ${this.#command}: ${error.message}`));
    this.#running.set(member.name, child);
  }

  /**
   * @param {Member} member
   * @param {NodeJS.Signals} signal
   */
  async signal(member, signal) {
    const child = this.#running.get(member.name);
    if (child === undefined) throw new Error(`Cannot send ${signal}: ${member.name} does not run`);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    if (signal !== 'SIGKILL') return;
    await ended;
    this.#running.delete(member.name);
  }

  /**
   * The member stops for good, and another one of the same name and addresses starts with nothing.
   *
   * @param {Member} member
   */
  async wipe(member) {
    await this.signal(member, 'SIGKILL');
    await rm(member.folder, { recursive: true, force: true });
    await this.startMember(member);
    await this.untilLed();
  }

  /** The member that leads, once one does. */
  async untilLed() {
    const until = Date.now() + START_MS_MAX;
    for (;;) {
      const leader = await this.#leader();
      if (leader !== undefined) return leader;
      if (Date.now() > until)
        throw new Error(`Cannot wait for a leader: none in ${START_MS_MAX} ms`, { cause: this.#lastError });
      await delay(50);
    }
  }

  /** @returns {Promise<Member | undefined>} */
  async #leader() {
    for (const member of this.members) {
      try {
        const status = await statusOf(member);
        if (status.leader !== undefined && status.leader === status.header?.member_id) return member;
      } catch (error) {
        // One that is not up yet, or not any more: the next one may know. For who waits in vain.
        this.#lastError = error;
      }
    }
    return undefined;
  }

  stop() {
    for (const child of this.#running.values()) child.kill('SIGKILL');
    this.#running.clear();
    clusters.delete(this);
  }
}

/**
 * @param {Member} member
 * @returns {Promise<{ leader?: string, header?: { member_id?: string } }>}
 */
async function statusOf({ client }) {
  const request = { method: 'POST', body: '{}', signal: AbortSignal.timeout(500) };
  const response = await fetch(`${client}/v3/maintenance/status`, request);
  return /** @type {Promise<{ leader?: string, header?: { member_id?: string } }>} */ (response.json());
}
