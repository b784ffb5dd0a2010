// @ts-check
// Ends the clients of one file: node sqlite-closer.mjs DIST FILE LIBRARY COUNT. Waits until so many are done.
/** @type {typeof import('../../src/adapters/sqlite/mod.ts')} */
const { openSqliteBackend } = await import(`${process.argv[2]}/sqlite.js`);
const [, , , file, library, count] = process.argv;

/** @param {string} one */
const bytes = (one) => new TextEncoder().encode(one);
const DONE = { start: bytes('done/'), end: bytes('done0') };

const backend = await openSqliteBackend({
  file: /** @type {string} */ (file),
  library: /** @type {'node:sqlite'} */ (library),
  pollMs: 5,
  busyTimeoutMs: 60_000,
});
const { revision, kvs } = await backend.range({ ranges: [DONE] });
let missing = Number(count) - kvs.length;
for await (const { type } of backend.watch({ ranges: [DONE], fromRevision: revision + 1 })) {
  if (type === 'change') missing--;
  if (missing <= 0) break;
}
const end = { type: /** @type {const} */ ('put'), key: bytes('end'), value: new Uint8Array(0) };
await backend.txn({ compare: [], then: [end], else: [] });
await backend[Symbol.asyncDispose]();
