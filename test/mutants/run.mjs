// @ts-check
// Faults that the tests must catch: `npm run test:mutants` (a list made by hand) and `npm run test:mutation` (all that a
// machine makes). See test/README.md, and `--help` of each.
import { loadBundle } from '../support/load-bundle.mjs';

process.setSourceMapsEnabled(true);
/** @type {typeof import('./main.ts')} */
const { main } = await loadBundle(new URL('main.ts', import.meta.url));
const root = new URL('../../', import.meta.url);

process.exitCode = await main(process.argv.slice(2), root);
