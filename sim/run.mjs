// @ts-check
// The simulations: `npm run sim -- writer-lease`. See docs/simulator.md, and `--help` for the options.
import { setFlagsFromString } from 'node:v8';
import { loadBundle } from '../test/support/load-bundle.mjs';

// Most of what a simulation makes is forgotten at once: a fifth of the time was spent on moving it about.
setFlagsFromString('--max-semi-space-size=64');

let isStopped = false;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    // The seed under way is finished, then what there is gets printed; a second one ends it at once.
    if (isStopped) process.exit(1);
    isStopped = true;
  });
}
// Whoever reads only the beginning (`| head`) has what they wanted.
process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1));

const { main } = await loadBundle(new URL('main.ts', import.meta.url));
process.exitCode = await main(process.argv.slice(2), {
  out: (/** @type {string} */ text) => process.stdout.write(text),
  progress: (/** @type {string} */ text) => process.stderr.write(text),
  nowMs: () => performance.now(),
  yield: () => new Promise((resolve) => setImmediate(resolve)),
  isStopped: () => isStopped,
});
