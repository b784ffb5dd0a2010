#!/usr/bin/env node
import { createNodeHost } from './host.ts';
import { run } from './run.ts';

// Ends at once: a pipe that is still open on standard input would keep the process alive.
process.exit(await run(process.argv.slice(2), createNodeHost()));
