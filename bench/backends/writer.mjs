// @ts-check
// Who writes to etcd while others watch: a process of its own, so that what a write costs is nobody's who is measured.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { RawClient } from './clients.mjs';

/**
 * @typedef {{ id: number, key: string, value: string }} Asked
 * @typedef {{ id: number, revision?: number, error?: string }} Answered
 */

/** The side of the process that is measured: a message there and one back for each put. */
export class Writer {
  #child;
  #ids = 0;
  /** @type {Map<number, { resolve: (revision: number) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();

  /** @param {string} address */
  constructor(address) {
    this.#child = fork(fileURLToPath(import.meta.url), [address], { execArgv: [] });
    this.#child.on('message', (/** @type {Answered} */ { id, revision, error }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (revision === undefined) waiting?.reject(new Error(error));
      else waiting?.resolve(revision);
    });
    this.#child.on('exit', (code, signal) => this.#refuse(`the writer has ended (${signal ?? code})`));
    this.#child.on('error', (error) => this.#refuse(String(error)));
  }

  /** @param {string} key @param {string} value @returns {Promise<number>} the revision */
  put(key, value) {
    return new Promise((resolve, reject) => {
      const id = ++this.#ids;
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, key, value }, (error) => {
        if (error !== null) this.#refuse(String(error));
      });
    });
  }

  close() {
    this.#child.disconnect();
  }

  /** @param {string} why */
  #refuse(why) {
    for (const { reject } of this.#waiting.values()) reject(new Error(`Cannot write to etcd: ${why}`));
    this.#waiting.clear();
  }
}

/** The other side. It ends with the one that started it, which closes the channel. @param {string} address */
function serve(address) {
  const client = new RawClient(address);
  process.on('message', (/** @type {Asked} */ { id, key, value }) => {
    client.put(key, value).then(
      (revision) => process.send?.({ id, revision }),
      (error) => process.send?.({ id, error: String(error) }),
    );
  });
  process.on('disconnect', () => client.close());
}

const [, file, address] = process.argv;
if (file === fileURLToPath(import.meta.url) && address !== undefined) serve(address);
