// @ts-check
// One row of one store in a process of its own, started by bench/memory/suite.mjs with --expose-gc.
import { garbageCollector } from '../harness/timers.mjs';
import { measureRow } from './measure.mjs';

/** @type {{ row: import('./rows.mjs').Row, contestant: import('./measure.mjs').Contestant, package: string }} */
const job = JSON.parse(process.argv[2] ?? '{}');
const measured = await measureRow(job.row, job.contestant, {
  collectGarbage: garbageCollector(),
  loadPackage: () => import(job.package),
});
process.stdout.write(JSON.stringify({ runtime: `Node.js ${process.versions.node}`, ...measured }));
