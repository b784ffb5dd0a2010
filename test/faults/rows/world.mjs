// @ts-check
// What a row runs in: data of its own (a file of SQLite, or a prefix of an etcd), and processes in front of them.
import { join } from 'node:path';
import { EtcdCluster } from '../etcd-cluster.mjs';
import { createRandom } from '../random.mjs';
import { Peer } from './peers.mjs';

/**
 * @typedef {'sqlite' | 'etcd'} Kind
 * @typedef {object} Setting of all rows of a run
 * @property {string} dist
 * @property {string} folder
 * @property {string} [node24] a Node that has node:sqlite
 * @property {() => Promise<string>} findEtcd
 * @property {boolean} isSmoke
 * @property {number} seed
 * @property {number} deadlineMs
 *
 * @typedef {object} RowWorld
 * @property {Kind} kind
 * @property {(more?: Partial<import('./context.mjs').PeerOptions>) => Promise<Peer>} peer one more process, with a store
 * @property {(more?: Partial<import('./context.mjs').PeerOptions>) => Promise<Peer>} subject the process that a broken run has the fault in
 * @property {() => Promise<{ stop: () => Promise<void>, start: () => Promise<void> }>} ownServer an etcd of this row alone, before any process
 * @property {(smoke: number, full: number) => number} sized
 * @property {() => number} random
 */

/** Processes and servers are started once and used by one row after the other. */
export class Worlds {
  #setting;
  /** Processes that nobody uses, by their program. @type {Map<string, Peer[]>} */
  #idle = new Map();
  /** @type {Set<Peer>} */
  #all = new Set();
  /** @type {Promise<EtcdCluster> | undefined} */
  #shared;
  /** @type {Set<EtcdCluster>} */
  #clusters = new Set();
  #count = 0;

  /** @param {Setting} setting */
  constructor(setting) {
    this.#setting = setting;
  }

  /** The kinds of data that there are here. @type {readonly Kind[]} */
  get kinds() {
    return this.#setting.node24 === undefined ? ['etcd'] : ['sqlite', 'etcd'];
  }

  /**
   * @param {string} id
   * @param {Kind} kind
   * @param {string | undefined} fault
   * @param {(world: RowWorld) => Promise<void>} check
   */
  async run(id, kind, fault, check) {
    const { dist, folder, node24, isSmoke, seed, deadlineMs } = this.#setting;
    const command = kind === 'sqlite' ? /** @type {string} */ (node24) : process.execPath;
    const name = `${id}-${++this.#count}`;
    /** @type {Peer[]} */
    const used = [];
    /** @type {EtcdCluster | undefined} */
    let own;
    /** @param {Partial<import('./context.mjs').PeerOptions>} more */
    const peer = async (more = {}) => {
      const one = this.#idle.get(command)?.pop() ?? new Peer(command, 2 * deadlineMs);
      this.#all.add(one);
      used.push(one);
      const cluster = kind === 'etcd' ? (own ?? (await this.#etcd())) : undefined;
      const place = cluster === undefined ? { file: join(folder, `${name}.db`) } : { endpoint: cluster.endpoints[0] };
      await one.open(/** @type {any} */ ({ dist, prefix: `${name}/`, deadlineMs, ...place, ...more }));
      return one;
    };
    const world = {
      kind,
      peer,
      subject: (more = {}) => peer(fault === undefined ? more : { ...more, fault }),
      ownServer: async () => {
        own = await this.#start(name);
        const [member] = /** @type {[import('../etcd-cluster.mjs').Member]} */ (own.members);
        const cluster = own;
        return {
          stop: () => cluster.signal(member, 'SIGKILL'),
          start: async () => {
            await cluster.startMember(member);
            await cluster.untilLed();
          },
        };
      },
      sized: (/** @type {number} */ smoke, /** @type {number} */ full) => (isSmoke ? smoke : full),
      random: createRandom(seed),
    };
    try {
      await check(world);
    } catch (error) {
      // What they were doing is not known any more.
      for (const one of used) one.kill();
      throw error;
    } finally {
      for (const one of used) {
        const isUsable =
          one.isUsable &&
          (await one.close().then(
            () => true,
            () => false,
          ));
        if (isUsable) this.#idle.set(command, [...(this.#idle.get(command) ?? []), one]);
        else this.#end(one);
      }
      own?.stop();
    }
  }

  /** Ends every process and server. Called in the handler of a signal, too. */
  close() {
    for (const one of this.#all) one.kill();
    for (const cluster of this.#clusters) cluster.stop();
  }

  #etcd() {
    this.#shared ??= this.#start('shared');
    return this.#shared;
  }

  /** @param {string} name */
  async #start(name) {
    const command = await this.#setting.findEtcd();
    const cluster = await EtcdCluster.start({ command, folder: join(this.#setting.folder, name), size: 1 });
    this.#clusters.add(cluster);
    return cluster;
  }

  /** @param {Peer} one */
  #end(one) {
    one.kill();
    this.#all.delete(one);
  }
}
