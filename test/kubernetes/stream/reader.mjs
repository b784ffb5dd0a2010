// @ts-check
// A reader, as a process of Node, Deno or Bun: a resource cache in front of an API server, and a consumer of its update handler.
// Its argument is `ReaderOptions` as JSON. Lines on its standard input:
//
//   { "ends": [[key, uid], ...] }   report when all of these have been seen: they were written behind everything else
//   { "now": true }                 report now, with what has not been seen
//
// It prints `Report` as one line, and ends by itself once its standard input does: no timer and no connection is left.
import process from 'node:process';
import { createInterface } from 'node:readline';
import { breakCache, breakTransport } from './broken.mjs';
import { Consumer } from './consumer.mjs';
import { kindText } from './kinds.mjs';
import { keyText } from './objects.mjs';
import { labelOf } from './state.mjs';
import { connect } from './transports.mjs';

/**
 * @typedef {object} ReaderOptions
 * @property {string} url
 * @property {import('./transports.mjs').TransportName} transport
 * @property {string | undefined} [token]
 * @property {string | undefined} [authority] The certificate of who vouches for the server, in PEM.
 * @property {readonly string[] | undefined} [only] The kinds to read, by `kindText`; all, without it.
 * @property {import('./broken.mjs').Broken | undefined} [broken]
 */

/** @type {typeof import('../../../src/adapters/kubernetes/mod.ts')} */
const library = await import(new URL('../../../dist/kubernetes.js', import.meta.url).href);

/** @type {ReaderOptions} */
const options = JSON.parse(process.argv[2] ?? '{}');
const { transport, readPath } = await connect(library, options);
/** Faults come many times a second here; pauses that suit a cluster would make hours of it. */
const backoff = { baseMs: 5, factor: 2, maxMs: 150 };
/** @type {string[]} */
const failures = [];
const silence = () => {};
const cache = library.createResourceCache({
  transport: breakTransport(transport, options.broken),
  discover: library.discoverWith(readPath),
  includes: (resource) => options.only === undefined || options.only.includes(kindText(resource)),
  indexes: { label: breakCache(options.broken, ({ object }) => [labelOf(/** @type {any} */ (object))]) },
  informer: { backoff, retryAfterMaxMs: 100, pageLimit: 50, inactivityMs: 20_000, tombstoneMs: 60_000 },
  backoff,
  logger: {
    debug: silence,
    info: silence,
    warn: silence,
    error: (message, fields) => failures.push(`${message} ${fields?.error ?? ''}`),
  },
});
const { store } = cache;
const consumer = new Consumer(store);
let isTold = false;

for await (const line of createInterface({ input: process.stdin })) {
  const { ends, now = false } = JSON.parse(line);
  if (ends === undefined && !now) cache.start();
  else if (now) await report();
  else void consumer.seen(new Map(ends)).then(report);
}
// Whoever has started it is gone, or has what it wanted.
await cache.close();

async function report() {
  if (isTold) return;
  isTold = true;
  await store.idle();
  try {
    store.checkInvariants();
  } catch (error) {
    failures.push(String(error));
  }
  const resources = store.list();
  const namespaces = new Set(resources.map(({ key }) => key.namespace));
  const keys = (/** @type {readonly { key: any }[]} */ list) => list.map(({ key }) => keyText(key));
  /** @type {import('./state.mjs').Report} */
  const told = {
    state: resources.map(({ key, object }) => [keyText(key), /** @type {any} */ (object)]),
    told: consumer.told(),
    index: [...consumer.labels].map((label) => [label, keys(store.byIndex('label', label))]),
    views: [...namespaces].map((namespace) => [namespace, keys(store.view(namespace).list())]),
    broken: [...consumer.broken, ...failures],
    calls: consumer.calls,
    missing: consumer.missing(),
  };
  await cache.close();
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
