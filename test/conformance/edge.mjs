// @ts-check
// The suite in the machine of Vercel's edge functions, @edge-runtime/vm, as a process: node edge.mjs SCRIPT
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EDGE_BUNDLE, openEdgeMachine } from '../../tools/edge.mjs';
import { bundle } from './bundle.mjs';

/**
 * @param {string} folder
 * @returns {Promise<string>}
 */
export async function makeEdge(folder) {
  const outfile = join(folder, 'edge.js');
  await bundle({
    entryPoints: [fileURLToPath(new URL('main-edge.ts', import.meta.url))],
    outfile,
    nodePaths: [join(folder, 'node_modules')],
    ...EDGE_BUNDLE,
  });
  return outfile;
}

/** @param {string} script */
async function main(script) {
  const machine = await openEdgeMachine(dirname(script), script, { console });
  await machine.evaluate('plimsollSuite');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2] ?? '');
