// @ts-check
// The memory suite by itself, on dist/ as it is (or on PLIMSOLL_BENCH_PACKAGE, an address), without building:
//
//   node bench/memory/command.mjs [--json] [--quick] [--processes N] [--case TEXT]
import { availableParallelism, cpus, loadavg } from 'node:os';
import { chooseCases, parseOptions } from '../harness/arguments.mjs';
import * as memory from './suite.mjs';

const { json, quick, processes, cases: beginnings } = parseOptions(['memory', ...process.argv.slice(2)], ['memory']);
const cases = chooseCases(memory.caseNames(quick), beginnings);
const log = (/** @type {string} */ line) => console.error(line);
const address = process.env.PLIMSOLL_BENCH_PACKAGE ?? new URL('../../dist/mod.js', import.meta.url).href;
const { runtime, ...rest } = await memory.measure({ cases, processes, quick, package: address, log });
const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), load: loadavg()[0] ?? 0 };
const result = { suite: memory.name, runtime, machine, settings: { processes, quick }, ...rest };
process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : memory.table(result));
