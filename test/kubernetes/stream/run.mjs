// @ts-check
// The proof of the watch stream, `npm run test:kubernetes` runs it: the stream of the shared data through an API server to a resource cache in
// each runtime, while connections break and the server refuses. Ends with `N passed, N failed` alone on a line.
//
//   node test/kubernetes/stream/run.mjs --smoke --seed 42
//   node test/kubernetes/stream/run.mjs --reader 'bun fetch' --events 3000
//   node test/kubernetes/stream/run.mjs --broken stale-index --smoke            has to fail
import { parseArgs } from 'node:util';
import { build } from '../../../tools/build.mjs';
import { createRandom } from '../../faults/random.mjs';
import { parseCount, SEED_MAX } from '../../support/proof.mjs';
import { BROKEN } from './broken.mjs';
import { prove } from './prove.mjs';
import { findReaders, READER_NAMES } from './readers.mjs';
import { openRealServer } from './real-server.mjs';
import { readStream } from './source.mjs';

const HELP = `Usage: node test/kubernetes/stream/run.mjs [--smoke] [--seed N] [--events N] [--faults N] [--reader NAME]... [--broken NAME] [--generated]

The reader has to have at the end what the server has, and the server what the stream says.

  --smoke        about 1,500 events, in Node alone
  --seed N       the chance of an earlier run, 0 to ${SEED_MAX}
  --events N     about so many: all events of some objects
  --faults N     so many, from 16
  --reader NAME  ${READER_NAMES.join(', ')}
  --broken NAME  a reader with a fault, which has to fail: ${BROKEN.join(', ')}
  --generated    a stream that is made, also where the shared data are

PLIMSOLL_KUBE_APISERVER names the binary of a kube-apiserver: then the server is that one, on an etcd of its own.`;

const SMOKE_READERS = READER_NAMES.filter((name) => name.startsWith('node'));
const FAULTS = { smoke: 30, full: 100 };
const SMOKE_EVENTS = 1500;

/** @param {readonly string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      generated: { type: 'boolean', default: false },
      seed: { type: 'string' },
      events: { type: 'string' },
      faults: { type: 'string' },
      reader: { type: 'string', multiple: true },
      broken: { type: 'string' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const size = values.smoke ? 'smoke' : 'full';
  const seed =
    values.seed === undefined ? Math.floor(Math.random() * SEED_MAX) : parseCount('--seed', values.seed, 0, SEED_MAX);
  const count = values.events === undefined ? undefined : parseCount('--events', values.events, 100, 1_000_000);
  const rounds = values.faults === undefined ? FAULTS[size] : parseCount('--faults', values.faults, 16, 100_000);
  const readers = values.reader ?? (values.smoke ? SMOKE_READERS : READER_NAMES);
  const broken = BROKEN.find((one) => one === values.broken);
  if (broken === undefined && values.broken !== undefined)
    throw new TypeError(`Cannot run the tests: --broken ${values.broken}`);
  const unknown = readers.filter((one) => !READER_NAMES.includes(one));
  if (unknown.length > 0) throw new TypeError(`Cannot run the tests: --reader ${unknown[0]}`);

  await build({ frozen: true, ifStale: true });
  const events = count ?? (values.smoke ? SMOKE_EVENTS : undefined);
  const stream = readStream({ count: events, random: createRandom(seed), isGenerated: values.generated });
  console.log(`seed ${seed}; ${stream.name}: ${stream.events.length} events`);
  const command = process.env.PLIMSOLL_KUBE_APISERVER;
  const open = command === undefined ? {} : { open: openRealServer(command) };
  let failed = 0;
  for (const reader of await findReaders(readers)) {
    const random = createRandom(seed);
    const { wrong, summary, notes } = await prove({ reader, stream, random, rounds, broken, ...open });
    if (wrong.length > 0) failed++;
    console.log(`${wrong.length === 0 ? 'ok    ' : 'FAILED'} ${reader.name}: ${summary}`);
    for (const line of [...wrong, ...notes]) console.log(`         ${line}`);
  }
  const total = readers.length;
  console.log(`\n${total - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TypeError || error instanceof RangeError) || !/^Cannot run/.test(error.message)) throw error;
  console.error(`${error.message}\n\n${HELP}`);
  process.exitCode = 2;
}
