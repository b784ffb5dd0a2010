// @ts-check
// `npm run bench:all`: the same cases in every runtime, each on the packed package. See docs/benchmarks.md.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../tools/build.mjs';
import { makeProject, packPackage } from '../../tools/packed-project.mjs';
import { ensurePeers } from '../harness/peers.mjs';
import { exitOnSignals, scratchFolder } from '../harness/scratch.mjs';
import { writeReport } from './report.mjs';
import { measureIn, RUNTIMES } from './runtimes.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

const HELP = `npm run bench:all -- [RUNTIME...] [--out FOLDER] [--quick]

Measures one thing of each part of the package in every runtime: ${RUNTIMES.join(', ')};
or in those that are named. One JSON document a runtime, a table and a plot in bench/results; about five minutes.

  --out FOLDER  there instead
  --quick       a tenth of the time: to see that it works, not to publish
  --help        this text

Runtimes that are missing are installed, as \`npm run test:runtimes\` does it. Exit code: 0 done; 1 a runtime answered wrongly or
could not be measured; 2 wrong use. \`npm run bench:compare -- BASE\` compares with a saved run.`;

/** @param {readonly string[]} args */
function parse(args) {
  /** @type {{ names: string[], out: string, quick: boolean, help: boolean }} */
  const options = { names: [], out: RESULTS, quick: false, help: false };
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] ?? '';
    if (argument === '--help') options.help = true;
    else if (argument === '--quick') options.quick = true;
    else if (argument === '--out') options.out = args[++index] ?? '';
    else if (RUNTIMES.includes(argument)) options.names.push(argument);
    else
      throw new RangeError(`Cannot measure: "${argument}" is neither a runtime (${RUNTIMES.join(', ')}) nor an option`);
  }
  if (options.out === '') throw new RangeError('Cannot measure: --out needs a folder');
  return options;
}

/** @param {ReturnType<typeof parse>} options */
async function main({ names, out, quick }) {
  await ensurePeers((line) => console.error(line));
  await build({ frozen: true, ifStale: true });
  await mkdir(out, { recursive: true });
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { folder, remove } = await scratchFolder();
  let failures = 0;
  try {
    const archive = await packPackage(folder);
    for (const name of names.length > 0 ? names : RUNTIMES) {
      const project = join(folder, name);
      await makeProject(project, archive);
      console.error(`${name}: measuring`);
      try {
        const measured = await measureIn(name, project, { seconds: quick ? 0.2 : 2 });
        const about = {
          at: new Date().toISOString(),
          machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism() },
          quick,
        };
        await writeFile(
          join(out, `${name}.json`),
          `${JSON.stringify({ runtime: name, plimsoll: version, ...about, ...measured }, null, 2)}\n`,
        );
      } catch (error) {
        failures++;
        console.error(`Cannot measure in ${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
    await writeReport(out);
  } finally {
    remove();
  }
  process.exitCode = failures === 0 ? 0 : 1;
}

exitOnSignals();

try {
  const options = parse(process.argv.slice(2));
  if (options.help) console.log(HELP);
  else await main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof RangeError ? 2 : 1;
}
