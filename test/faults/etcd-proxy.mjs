// @ts-check
// A TCP proxy that does to connections what networks do: drops, delays, cuts in the middle of a line, closes one half,
// answers with what is no HTTP.
import { connect, createServer } from 'node:net';

/** @typedef {'drop' | 'delay' | 'truncate' | 'half-close' | 'garbage'} ProxyFault */

/** @type {readonly ProxyFault[]} */
export const PROXY_FAULTS = ['drop', 'delay', 'truncate', 'half-close', 'garbage'];

export class FaultyProxy {
  /** What is done to the next bytes of the server, and to how many of a hundred of its packets. */
  percent = 0;
  /** @type {Record<ProxyFault, number>} */
  counts = { drop: 0, delay: 0, truncate: 0, 'half-close': 0, garbage: 0 };
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set();
  #isCut = false;
  #server;
  #random;

  /**
   * @param {string} target an address like http://127.0.0.1:2379
   * @param {() => number} random
   */
  constructor(target, random) {
    const { hostname, port } = new URL(target);
    this.#random = random;
    this.#server = createServer((client) => {
      if (this.#isCut) {
        client.destroy();
        return;
      }
      const server = connect(Number(port), hostname);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
      client.pipe(server);
      server.on('data', (bytes) => this.#pass(bytes, client, server));
      server.on('end', () => client.end());
    });
  }

  /** @returns {Promise<string>} its address */
  listen() {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => {
        const address = this.#server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
      });
    });
  }

  /** Ends every connection that there is, and refuses new ones until `mend`. */
  cut() {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend() {
    this.#isCut = false;
  }

  close() {
    this.#server.close();
    this.cut();
  }

  /**
   * @param {Buffer} bytes
   * @param {import('node:net').Socket} client
   * @param {import('node:net').Socket} server
   */
  #pass(bytes, client, server) {
    if (this.#random() * 100 >= this.percent) {
      client.write(bytes);
      return;
    }
    const fault = /** @type {ProxyFault} */ (PROXY_FAULTS[Math.floor(this.#random() * PROXY_FAULTS.length)]);
    this.counts[fault]++;
    if (fault === 'delay') {
      server.pause();
      setTimeout(() => {
        client.write(bytes);
        server.resume();
      }, 300);
    } else if (fault === 'truncate') client.end(bytes.subarray(0, Math.floor(bytes.length * this.#random())));
    else if (fault === 'half-close') client.end();
    else if (fault === 'garbage') client.end(Buffer.from('{"result":{"header":{}}}\nSSH-2.0-none\r\n\r\n<html>'));
    else client.destroy();
  }
}
