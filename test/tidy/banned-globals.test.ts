import { describe, expect, it } from 'vitest';
import { checkGlobals } from './banned-globals.ts';
import { readProject, report, select } from './project.ts';

function globals(text: string, path = 'src/store/store.ts'): readonly string[] {
  return report(checkGlobals([{ path, text }]));
}

describe('globals of time, chance and the host', () => {
  it('are not used in src/ outside system, adapters and cli', () => {
    expect(report(checkGlobals(select(readProject(), ['src'])))).toEqual([]);
  });

  it.each([
    ['Date.now', 'const now = Date.now();'],
    ['Date()', 'const now = new Date();'],
    ['Date()', 'const now = Date();'],
    ['performance', 'const now = performance.now();'],
    ['setTimeout', 'setTimeout(() => wake(), 5);'],
    ['setTimeout', 'const timer = setTimeout;'],
    ['setTimeout', 'const seam = { after: setTimeout };'],
    ['setTimeout', 'const seam = { setTimeout };'],
    ['globalThis.setTimeout', 'globalThis.setTimeout(wake, 5);'],
    ['setInterval', 'class A { #timer = setInterval(tick, 1); }'],
    ['Math.random', 'const jitter = (random = Math.random) => random();'],
    ['crypto.randomUUID', 'const id = crypto.randomUUID();'],
    ['process', 'const home = process.env;'],
    ['Buffer', "const bytes = Buffer.from('a');"],
    ['require', "const fs = require('fs');"],
    ['console', "console.log('here');"],
    ['Deno', 'Deno.exit();'],
  ])('%s is found in: %s', (name, text) => {
    expect(globals(text)).toEqual([`src/store/store.ts:1 ${name} is an argument here`]);
  });

  it('may be named as members, keys, types, own bindings, in strings and in comments', () => {
    expect(
      globals("clock.setTimeout(1); queue.process(); let a = { console: 1, process() {} }; 'Date.now()';"),
    ).toEqual([]);
    expect(
      globals('// Date.now() is banned\nlet a: Date; let b: typeof fetch; let logger: Pick<Console, "log">;'),
    ).toEqual([]);
    expect(globals('function run(process: () => void) { process(); }')).toEqual([]);
    expect(globals('Math.floor(Date.UTC(2026, 1)); crypto.subtle.digest;')).toEqual([]);
  });

  it('are free where they belong', () => {
    expect(globals('Date.now();', 'src/system/system-clock.ts')).toEqual([]);
    expect(globals('process.exit();', 'src/cli/main.ts')).toEqual([]);
    expect(globals('process.exit();', 'src/testing/mod.ts')).toHaveLength(1);
  });
});
