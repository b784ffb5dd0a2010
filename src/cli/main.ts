#!/usr/bin/env node
const USAGE = `Usage: plimsoll <command>

Commands:
  demo    run the demonstration`;

console.log(USAGE);
