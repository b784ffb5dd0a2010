// @ts-check
// A process that writes to a file until it is killed, and says what was acknowledged:
//
//   node sqlite-writer.mjs DIST FILE LIBRARY RUN
//
//   put RUN-N REVISION        both keys of the pair a/RUN-N, b/RUN-N are written, as one transaction
//   deleting RUN-N            what comes next is sent
//   delete RUN-N REVISION     both are deleted, as one transaction
//   refused CODE MESSAGE      the first call that failed; then it ends
import { writeSync } from 'node:fs';

const [, , dist, file, library, run] = process.argv;
/** @type {typeof import('../../src/adapters/sqlite/mod.ts')} */
const { openSqliteBackend } = await import(`${dist}/sqlite.js`);

/** @param {string} text */
const bytes = (text) => new TextEncoder().encode(text);
/** @param {string} line */
const say = (line) => writeSync(1, `${line}\n`);

/** Transactions under way at the same time, so that some share a commit. */
const CHAINS = 4;

const backend = await openSqliteBackend({
  file: /** @type {string} */ (file),
  library: /** @type {'node:sqlite'} */ (library),
  ...(process.env.FILE_BYTES_MAX === undefined ? {} : { fileBytesMax: Number(process.env.FILE_BYTES_MAX) }),
});
say('open');

let count = 0;

/** @param {boolean} isFirst */
async function chain(isFirst) {
  for (;;) {
    const name = `${run}-${count++}`;
    const value = bytes(`${name} ${'x'.repeat(count % 700)}`);
    /** @type {readonly ['a', 'b']} */
    const sides = ['a', 'b'];
    const put = await backend.txn({
      compare: [],
      then: sides.map((side) => ({ type: 'put', key: bytes(`${side}/${name}`), value })),
      else: [],
    });
    say(`put ${name} ${put.revision}`);
    if (count % 5 === 0) {
      say(`deleting ${name}`);
      const gone = await backend.txn({
        compare: [],
        then: sides.map((side) => ({ type: 'delete', range: { start: bytes(`${side}/${name}`) } })),
        else: [],
      });
      say(`delete ${name} ${gone.revision}`);
    }
    // The one chain that does, so that its revisions rise.
    if (isFirst && count % 50 < 4) await backend.compact({ revision: put.revision });
  }
}

try {
  await Promise.all(Array.from({ length: CHAINS }, (_, index) => chain(index === 0)));
} catch (error) {
  const { code, permanent, message } = /** @type {{ code: string, permanent?: boolean, message: string }} */ (error);
  say(`refused ${code} ${permanent} ${message}`);
}
process.exit(0);
