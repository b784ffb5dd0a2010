// @ts-check
// Compares the embedded store with a real etcd: `npm run test:etcd`. See test/README.md, and `--help`.
import { loadBundle } from '../support/load-bundle.mjs';

process.setSourceMapsEnabled(true);
/** @type {typeof import('./main.ts')} */
const { main } = await loadBundle(new URL('main.ts', import.meta.url));
const root = new URL('../../', import.meta.url);

try {
  process.exitCode = await main(process.argv.slice(2), root);
} catch (error) {
  // Wrong arguments are for a person; everything else is a fault of the harness, with its stack.
  if (!(error instanceof TypeError || error instanceof RangeError) || !/^Cannot /.test(error.message)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
