// @ts-check
// A reader as a child process.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./state.mjs').Report} Report */

const PROGRAM = fileURLToPath(new URL('reader.mjs', import.meta.url));
/** Generous: it decides nothing but when to give up. */
const CATCH_UP_MS_MAX = 120_000;
const END_MS_MAX = 20_000;
const ERROR_CHARS_MAX = 4000;

export class ReaderProcess {
  #child;
  #ended;
  #stderr = '';
  /** Its report, or why there is none: it may end before anybody waits for that. @type {Promise<string | Error>} */
  #line;

  /**
   * @param {import('./readers.mjs').Reader} reader
   * @param {import('./reader.mjs').ReaderOptions} options
   * @param {NodeJS.ProcessEnv} env
   */
  constructor(reader, options, env) {
    const args = [...reader.args, PROGRAM, JSON.stringify(options)];
    const child = spawn(reader.command, args, { env: { ...env, ...reader.env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    // A reader that has died does not read what is written to it; its end says so.
    child.stdin.on('error', () => {});
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr = (this.#stderr + text).slice(-ERROR_CHARS_MAX);
    });
    this.#ended = new Promise((resolve) => {
      child.on('error', (error) => resolve(String(error)));
      child.on('close', (code, signal) => resolve(String(code ?? signal)));
    });
    this.#line = new Promise((resolve) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      this.#ended.then((code) => resolve(new Error(`The reader ended with ${code}: ${this.#stderr}`)));
    });
  }

  /** Has it begin. */
  start() {
    this.#write({});
  }

  /**
   * Resolves as `work` does, and rejects if the reader ends meanwhile.
   *
   * @param {Promise<void>} work
   * @returns {Promise<void>}
   */
  async during(work) {
    const ended = this.#line.then((line) => {
      if (line instanceof Error) throw line;
      return work;
    });
    await Promise.race([work, ended]);
  }

  /**
   * What it has, once it has seen these; or, if that takes too long, what it has then.
   *
   * @param {readonly (readonly [key: string, uid: string])[]} ends
   * @returns {Promise<Report>}
   */
  async report(ends) {
    this.#write({ ends });
    const timers = [
      setTimeout(() => this.#write({ now: true }), CATCH_UP_MS_MAX),
      setTimeout(() => this.kill(), CATCH_UP_MS_MAX + END_MS_MAX),
    ];
    try {
      const line = await this.#line;
      if (line instanceof Error) throw line;
      return JSON.parse(line);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  /** Lets it end; says what is wrong with how it does. @returns {Promise<string[]>} */
  async end() {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.kill(), END_MS_MAX);
    const code = await this.#ended;
    clearTimeout(timer);
    if (code !== '0') return [`it ended with ${code}: something was left, or it failed: ${this.#stderr}`];
    return this.#stderr === '' ? [] : [`it said: ${this.#stderr}`];
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  /** @param {object} line */
  #write(line) {
    this.#child.stdin.write(`${JSON.stringify(line)}\n`);
  }
}
