// @ts-check
// Clients of etcd: `etcd3`, and gRPC itself with the definitions that come with that package. Both speak gRPC; the backend of
// plimsoll speaks JSON over HTTP, which every runtime has.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * @typedef {{ key: Buffer, value: Buffer, mod_revision: number }} KeyValue
 * @typedef {{ type: string, kv: KeyValue }} Event
 * @typedef {{ watch_id?: number, created?: boolean, canceled?: boolean, events?: Event[] }} WatchResponse
 * @typedef {(request: object, done: (error: Error | null, response: any) => void) => void} Call
 * @typedef {{ write(request: object): void, on(name: 'data', heard: (response: WatchResponse) => void): void,
 *   on(name: 'error', heard: (error: Error) => void): void, cancel(): void }} WatchStream
 *
 * @typedef {object} Etcd3Watcher
 * @property {(name: 'put', heard: (kv: { key: Buffer, value: Buffer, mod_revision: string }) => void) => void} on
 * @property {() => Promise<void>} cancel
 * @typedef {object} Etcd3
 * @property {() => { prefix(text: string): { exec(): Promise<{ kvs: { key: Buffer, value: Buffer }[] }> } }} getAll
 * @property {(key: string) => { value(text: string): { exec(): Promise<{ header: { revision: string } }> } }} put
 * @property {() => { prefix(text: string): { create(): Promise<Etcd3Watcher> } }} watch
 * @property {() => void} close
 */

const require = createRequire(import.meta.url);

/** By a name that the type checker does not follow: without the packages of bench/ it would miss them. @param {string} name @returns {any} */
function load(name) {
  return require(name);
}

/** A list of 100,000 keys is larger than what gRPC takes unless it is told. */
const CHANNEL = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };

/** @param {string} address @returns {Etcd3} */
export function openEtcd3(address) {
  const { Etcd3 } = load('etcd3');
  return new Etcd3({ hosts: address, grpcOptions: CHANNEL });
}

/** The calls of etcd as they are, with promises. */
export class RawClient {
  #kv;
  #watch;

  /** @param {string} address */
  constructor(address) {
    const grpc = load('@grpc/grpc-js');
    const { loadSync } = load('@grpc/proto-loader');
    const folder = join(dirname(require.resolve('etcd3/package.json')), 'proto');
    const definition = loadSync(join(folder, 'rpc.proto'), { keepCase: true, longs: Number, enums: String });
    const { etcdserverpb } = grpc.loadPackageDefinition(definition);
    const { host } = new URL(address);
    this.#kv = new etcdserverpb.KV(host, grpc.credentials.createInsecure(), CHANNEL);
    this.#watch = new etcdserverpb.Watch(host, grpc.credentials.createInsecure(), CHANNEL);
  }

  /** @param {string} key @param {string} value @returns {Promise<number>} the revision */
  async put(key, value) {
    const { header } = await this.#call('Put', { key: Buffer.from(key), value: Buffer.from(value) });
    return header.revision;
  }

  /** @param {string} prefix @param {object} [rest] @returns {Promise<{ kvs?: KeyValue[], count: number }>} */
  range(prefix, rest = {}) {
    return this.#call('Range', { ...rangeOf(prefix), ...rest });
  }

  /** @param {string} key @returns {Promise<KeyValue | undefined>} */
  async get(key) {
    const { kvs = [] } = await this.#call('Range', { key: Buffer.from(key) });
    return kvs[0];
  }

  /** @param {readonly (readonly [string, string])[]} rows as one transaction */
  putAll(rows) {
    const success = rows.map(([key, value]) => ({
      request_put: { key: Buffer.from(key), value: Buffer.from(value) },
    }));
    return this.#call('Txn', { success });
  }

  /** @param {string} prefix */
  deleteAll(prefix) {
    return this.#call('DeleteRange', rangeOf(prefix));
  }

  /** Of so many watches of one prefix, once all are there. @param {string} prefix @param {number} count @param {(place: number, event: Event) => void} heard */
  openWatches(prefix, count, heard) {
    /** @type {WatchStream} */
    const stream = this.#watch.Watch();
    return new Promise((resolve, reject) => {
      let created = 0;
      stream.on('error', reject);
      stream.on('data', ({ watch_id: id = 0, created: isNew, canceled, events = [] }) => {
        if (canceled === true) reject(new Error('Cannot watch with gRPC: etcd has cancelled a watch'));
        if (isNew === true && ++created === count) resolve(() => stream.cancel());
        for (const event of events) heard(id, event);
      });
      for (let place = 0; place < count; place++) stream.write({ create_request: rangeOf(prefix) });
    });
  }

  close() {
    this.#kv.close();
    this.#watch.close();
  }

  /** @param {string} name @param {object} request @returns {Promise<any>} */
  #call(name, request) {
    return new Promise((resolve, reject) => {
      this.#kv[name](request, (/** @type {Error | null} */ error, /** @type {unknown} */ response) => {
        if (error === null) resolve(response);
        else reject(error);
      });
    });
  }
}

/** All prefixes here end with a slash, which is followed by a zero. @param {string} prefix */
function rangeOf(prefix) {
  if (!prefix.endsWith('/')) throw new RangeError(`Cannot ask for the prefix "${prefix}": it ends with no slash`);
  return { key: Buffer.from(prefix), range_end: Buffer.from(`${prefix.slice(0, -1)}0`) };
}
