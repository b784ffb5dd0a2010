// @ts-check
// Says what is in a file, as JSON: node sqlite-reader.mjs DIST FILE LIBRARY. One write is made, to see that it goes on.
/** @type {typeof import('../../src/adapters/sqlite/mod.ts')} */
const { openSqliteBackend } = await import(`${process.argv[2]}/sqlite.js`);
const file = /** @type {string} */ (process.argv[3]);
const library = /** @type {'node:sqlite'} */ (process.argv[4]);

const ALL = { start: new Uint8Array(0), end: new Uint8Array(0) };
const KEY = new TextEncoder().encode('opened');
const decoder = new TextDecoder();

const backend = await openSqliteBackend({ file, library });
const { identity, revision, kvs } = await backend.range({ ranges: [ALL] });
const put = { type: /** @type {const} */ ('put'), key: KEY, value: KEY };
const next = await backend.txn({ compare: [], then: [put], else: [] });
await backend[Symbol.asyncDispose]();

const rows = kvs.map(({ key, value, modRevision }) => ({
  key: decoder.decode(key),
  name: decoder.decode(value).split(' ', 1)[0],
  modRevision,
}));
console.log(JSON.stringify({ identity, revision, next: next.revision, rows }));
