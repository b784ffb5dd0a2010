// @ts-check
// A TCP proxy in front of a real API server, which has no verbs for faults: what networks do to connections, whatever is in them.
import { connect, createServer } from 'node:net';

/** @typedef {'drop' | 'reset' | 'stall' | 'half'} ProxyFault */

/** @type {readonly ProxyFault[]} */
export const PROXY_FAULTS = ['drop', 'reset', 'stall', 'half'];

export class FaultyProxy {
  /** Connections that each was done to. @type {Map<string, number>} */
  hits = new Map(PROXY_FAULTS.map((name) => [name, 0]));
  connections = 0;
  /** @type {Set<Pair>} */
  #pairs = new Set();
  #isStalled = false;
  /** @type {Set<() => void>} */
  #waiting = new Set();
  #server;

  /** @param {number} port of the server, on loopback */
  constructor(port) {
    this.#server = createServer((client) => {
      this.connections++;
      const pair = new Pair(client, connect(port, '127.0.0.1'), () => this.#pairs.delete(pair));
      this.#pairs.add(pair);
      if (this.#isStalled) pair.stall(true);
      for (const wake of this.#waiting) wake();
      this.#waiting.clear();
    });
  }

  /** @returns {Promise<number>} its port */
  listen() {
    return new Promise((resolve, reject) => {
      this.#server.on('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }

  /** Resolves when somebody is connected. @returns {Promise<void>} */
  connected() {
    if (this.#pairs.size > 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /**
   * Does it to about this share of the connections, from 0 to 1.
   *
   * @param {ProxyFault} fault
   * @param {number} share
   * @param {() => number} random
   */
  hurt(fault, share, random) {
    if (fault === 'stall') this.#isStalled = true;
    for (const pair of [...this.#pairs]) {
      if (fault !== 'stall' && random() >= share) continue;
      this.hits.set(fault, (this.hits.get(fault) ?? 0) + 1);
      if (fault === 'stall') pair.stall(true);
      else pair[fault]();
    }
  }

  /** What was stalled goes on. */
  heal() {
    this.#isStalled = false;
    for (const pair of this.#pairs) pair.stall(false);
  }

  /** @returns {Promise<void>} */
  close() {
    for (const pair of [...this.#pairs]) pair.drop();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** A connection of a client, and the one behind it. */
class Pair {
  #client;
  #server;
  #isCut = false;
  #isStalled = false;
  #isDropped = false;

  /**
   * @param {import('node:net').Socket} client
   * @param {import('node:net').Socket} server
   * @param {() => void} ended
   */
  constructor(client, server, ended) {
    this.#client = client;
    this.#server = server;
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
        ended();
      });
    }
    client.pipe(server);
    server.on('data', (bytes) => this.#pass(bytes));
    server.on('end', () => client.end());
    client.on('drain', () => {
      if (!this.#isStalled) server.resume();
    });
  }

  /** As when a machine on the way forgets the connection, and says so. */
  drop() {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#client.destroySoon();
  }

  reset() {
    this.#client.resetAndDestroy();
  }

  /** The next bytes of the server arrive by half, then nothing more. */
  half() {
    this.#isCut = true;
  }

  /** @param {boolean} isStalled */
  stall(isStalled) {
    this.#isStalled = isStalled;
    if (isStalled) this.#server.pause();
    else this.#server.resume();
  }

  /** @param {Buffer} bytes */
  #pass(bytes) {
    if (this.#isDropped) return;
    if (this.#isCut) {
      this.#client.write(bytes.subarray(0, Math.ceil(bytes.length / 2)));
      this.drop();
    } else if (!this.#client.write(bytes)) this.#server.pause();
  }
}
