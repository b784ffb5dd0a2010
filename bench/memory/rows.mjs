// @ts-check
// What is measured: a row is one question, asked of one store in one process.

/**
 * @typedef {'key' | 'revision' | 'watcher'} Unit
 * @typedef {object} Row
 * @property {string} name
 * @property {Unit} unit What the bytes are divided by.
 * @property {number} n How many of them.
 * @property {number} keys Different keys.
 * @property {'keys' | 'prefix'} [watched] Each watcher its own key, or all the same prefix.
 * @property {boolean} [isWaiting] Each watcher has a consumer that waits in `next()`.
 *
 * @typedef {{ bytes: number, what: string, source: string }} Published
 */

/** One more than a table that doubles holds without doubling once more; 1M is just below 2^20, where it looks best. */
const DOUBLED = 1.1;

/** @param {boolean} quick @returns {Row[]} */
export function rows(quick) {
  const n = quick ? 100_000 : 1_000_000;
  const size = quick ? '100k' : '1M';
  const watchers = quick ? 10_000 : 100_000;
  const watcherSize = quick ? '10k' : '100k';
  return [
    { name: `keys ${size}`, unit: 'key', n, keys: n },
    {
      name: `keys ${quick ? '140k' : '1.1M'}`,
      unit: 'key',
      n: quick ? n * 1.4 : n * DOUBLED,
      keys: quick ? n * 1.4 : n * DOUBLED,
    },
    { name: `revisions ${size}`, unit: 'revision', n, keys: n / 10 },
    { name: `watchers ${watcherSize} of a key each`, unit: 'watcher', n: watchers, keys: watchers, watched: 'keys' },
    {
      name: `watchers ${watcherSize} of a key each, waiting`,
      unit: 'watcher',
      n: watchers,
      keys: watchers,
      watched: 'keys',
      isWaiting: true,
    },
    {
      name: `watchers ${watcherSize} of one prefix, waiting`,
      unit: 'watcher',
      n: watchers,
      keys: 1000,
      watched: 'prefix',
      isWaiting: true,
    },
  ];
}

/**
 * What etcd publishes of itself. Its index keeps a pointer a version besides, and
 * its values are in a file; our pointers to values are in our figures.
 *
 * @type {Readonly<Record<Unit, Published>>}
 */
export const PUBLISHED = {
  key: {
    bytes: 150,
    what: '120 B a key and 30 B for its one version, key bytes excluded',
    source: 'https://etcd.io/docs/v3.4/benchmarks/etcd-storage-memory-benchmark/',
  },
  revision: {
    bytes: 30,
    what: '30 B a version',
    source: 'https://etcd.io/docs/v3.4/benchmarks/etcd-storage-memory-benchmark/',
  },
  watcher: {
    bytes: 350,
    what: '350 B a watch',
    source: 'https://etcd.io/docs/v3.6/benchmarks/etcd-3-watch-memory-benchmark/',
  },
};
