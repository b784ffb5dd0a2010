import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { type Example, examples } from '../tidy/examples.ts';
import { readProject, root } from '../tidy/project.ts';

/** A program of a page takes no longer than this, even one that waits for a timer. */
const MS_MAX = 15_000;
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-examples-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What somebody stops from outside: it has to run for a moment. */
const ENDLESS = /\belector\.run\(/;
const ENDLESS_MS = 500;
/** Programs for hosts with locks between tabs, which Node 20 has not: they have to say so. */
const WEB_LOCKS = /\bcreateWebLock\(/;
const HAS_WEB_LOCKS = 'locks' in navigatorOf();

/** Node 20 has no navigator at all. */
function navigatorOf(): object {
  return (globalThis as { navigator?: object }).navigator ?? {};
}

interface Ended {
  readonly name: string;
  readonly error?: string;
}

/** Runs programs one after the other in one process; of one that fails, why. */
async function runAll(programs: readonly Example[]): Promise<readonly Ended[]> {
  const names = programs.map(({ page, line, text }, index) => ({
    file: `${index}.mjs`,
    name: `${page}:${line}`,
    ...(ENDLESS.test(text) ? { endlessMs: ENDLESS_MS } : {}),
  }));
  for (const [index, { text }] of programs.entries()) writeFileSync(join(folder, `${index}.ts`), text);
  await esbuild.build({
    entryPoints: programs.map((_, index) => join(folder, `${index}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Apart from the package, which stays one for all of them: an example is what a reader types, not what it imports.
    external: ['file:*', 'node:*'],
    alias: {
      plimsoll: `file://${root}dist/mod.js`,
      'plimsoll/etcd': `file://${root}dist/etcd.js`,
      'plimsoll/kubernetes': `file://${root}dist/kubernetes.js`,
      'plimsoll/sqlite': `file://${root}dist/sqlite.js`,
      'plimsoll/testing': `file://${root}dist/testing.js`,
      'plimsoll/testing/node': `file://${root}dist/testing-node.js`,
    },
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  const script = join(folder, 'run.mjs');
  writeFileSync(
    script,
    `
    const print = process.stdout.write.bind(process.stdout);
    // What the programs print is not asked for.
    for (const name of ['log', 'info', 'warn', 'error', 'debug']) console[name] = () => {};
    let name = '';
    const fail = (error) => print(JSON.stringify({ name, error: String(error?.stack ?? error) }) + '\\n');
    process.on('unhandledRejection', fail);
    process.on('uncaughtException', fail);
    for (const one of ${JSON.stringify(names)}) {
      name = one.name;
      let timer;
      const isLate = new Promise((resolve, reject) => {
        if (one.endlessMs !== undefined) timer = setTimeout(resolve, one.endlessMs);
        else timer = setTimeout(() => reject(new Error('no end after ${MS_MAX} ms')), ${MS_MAX});
      });
      try {
        await Promise.race([import('./' + one.file), isLate]);
        // What it has begun and does not wait for may fail a moment later.
        await new Promise((resolve) => setImmediate(resolve));
        print(JSON.stringify({ name }) + '\\n');
      } catch (error) {
        fail(error);
      }
      clearTimeout(timer);
    }
    process.exit();
    `,
  );
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await new Promise((resolve) => child.on('close', resolve));
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Ended);
}

describe('the programs of pages and doc comments', () => {
  it('run, each of them', { timeout: 120_000 }, async () => {
    const programs = examples(readProject());
    const ended = await runAll(programs);
    expect(ended.length).toBe(programs.length);
    const failed = ended.flatMap(({ name, error }, index) => {
      const isRefused = !HAS_WEB_LOCKS && WEB_LOCKS.test(programs[index]?.text ?? '');
      if (isRefused) return error?.startsWith('UnsupportedError: ') ? [] : [{ name, error: 'it was not refused' }];
      return error === undefined ? [] : [{ name, error }];
    });
    expect(failed).toEqual([]);
    expect(programs.length).toBeGreaterThan(40);
  });

  it('would be told of one that fails, at once or a moment later', async () => {
    const program = (text: string): Example => ({ page: 'docs/page.md', line: 1, text });
    const ended = await runAll([
      program("import { openStore } from 'plimsoll';\nconst store = await openStore();\nawait store.put('', 1);"),
      program("void Promise.reject(new Error('later'));"),
      program("import { createVirtualClock } from 'plimsoll/testing';\ncreateVirtualClock();"),
    ]);
    expect(ended.map(({ error }) => error?.split('\n')[0] ?? 'ended')).toEqual([
      expect.stringContaining('InvalidKeyError'),
      'Error: later',
      'ended',
      'ended',
    ]);
  });
});
