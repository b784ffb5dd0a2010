// @ts-check
// One of several processes on one file: node sqlite-client.mjs DIST FILE LIBRARY NAME COUNT. Raises a number by compare, COUNT
// times, and watches what everybody does; ends when it has seen the key `end`, and prints what it has seen.
/** @type {typeof import('../../src/adapters/sqlite/mod.ts')} */
const { openSqliteBackend } = await import(`${process.argv[2]}/sqlite.js`);
const [, , , file, library, name, text] = process.argv;
const count = Number(text);

/** @param {string} one */
const bytes = (one) => new TextEncoder().encode(one);
const decoder = new TextDecoder();
const ALL = { start: new Uint8Array(0), end: new Uint8Array(0) };
const NUMBER = bytes('number');

const backend = await openSqliteBackend({
  file: /** @type {string} */ (file),
  library: /** @type {'node:sqlite'} */ (library),
  pollMs: 5,
  busyTimeoutMs: 60_000,
});

/** @type {[revision: number, key: string, value: string][]} */
const seen = [];
const isOver = (async () => {
  for await (const item of backend.watch({ ranges: [ALL], fromRevision: 2 })) {
    if (item.type !== 'change') continue;
    for (const event of item.events) {
      if (event.type !== 'put') continue;
      const key = decoder.decode(event.kv.key);
      seen.push([item.revision, key, decoder.decode(event.kv.value)]);
      if (key === 'end') return;
    }
  }
})();

let conflicts = 0;
for (let done = 0; done < count; ) {
  const { kvs } = await backend.range({ ranges: [{ start: NUMBER }] });
  const [kv] = kvs;
  const value = bytes(String(Number(kv === undefined ? 0 : decoder.decode(kv.value)) + 1));
  const { succeeded } = await backend.txn({
    compare: [{ key: NUMBER, target: 'mod', result: '=', value: kv?.modRevision ?? 0 }],
    then: [{ type: 'put', key: NUMBER, value }],
    else: [],
  });
  if (succeeded) done++;
  else conflicts++;
}
const done = { type: /** @type {const} */ ('put'), key: bytes(`done/${name}`), value: new Uint8Array(0) };
await backend.txn({ compare: [], then: [done], else: [] });
await isOver;
await backend[Symbol.asyncDispose]();
console.log(JSON.stringify({ conflicts, seen }));
