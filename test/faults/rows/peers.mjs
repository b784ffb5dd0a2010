// @ts-check
// The processes of rows, from outside: started, told what to do, signalled, ended.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./context.mjs').Context} Context */

const SCRIPT = fileURLToPath(new URL('peer.mjs', import.meta.url));

export class Peer {
  #child;
  #errors = '';
  #count = 0;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #calls = new Map();
  #deadlineMs;
  /** Resolves with the code or signal when the process has ended. @type {Promise<number | string>} */
  ended;
  #hasEnded = false;

  /**
   * @param {string} command a Node
   * @param {number} deadlineMs of each step
   */
  constructor(command, deadlineMs) {
    this.#deadlineMs = deadlineMs;
    this.#child = fork(SCRIPT, [], { execPath: command, execArgv: [], silent: true });
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.#errors = `${this.#errors}${text}`.slice(-2_000);
    });
    this.#child.on('message', (/** @type {{ id: number, value?: unknown, error?: string }} */ { id, value, error }) => {
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error === undefined) call?.resolve(value);
      else call?.reject(new Error(error));
    });
    this.ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(error.message));
      this.#child.on('exit', (code, signal) => resolve(code ?? signal ?? 'nothing'));
    });
    void this.ended.then((how) => {
      this.#hasEnded = true;
      for (const { reject } of this.#calls.values())
        reject(new Error(`a process has ended with ${how} ${this.#errors}`));
      this.#calls.clear();
    });
  }

  get isUsable() {
    return !this.#hasEnded && this.#child.connected;
  }

  /**
   * Runs a function in the process. It is sent as text, so it may use its arguments and nothing around it; these and what it
   * returns have to be JSON.
   *
   * @template {unknown[]} A
   * @template R
   * @param {(context: Context, ...args: A) => R | Promise<R>} step
   * @param {A} args
   * @returns {Promise<R>}
   */
  run(step, ...args) {
    return this.#send(step.toString(), args);
  }

  /** @param {import('./context.mjs').PeerOptions} options */
  open(options) {
    return this.#send('open', [options]);
  }

  close() {
    return this.#send('close', []);
  }

  /** Everything is closed and nobody is left to talk to: the process has to end by itself. */
  async leave() {
    await this.#send('leave', []);
    return this.#within(this.ended, 'a process that has closed everything to end');
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  /**
   * @param {string} text
   * @param {unknown[]} args
   * @returns {Promise<any>}
   */
  #send(text, args) {
    const id = ++this.#count;
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      if (!this.isUsable) reject(new Error(`a process has ended ${this.#errors}`));
      else this.#child.send({ id, text, args });
    });
    return this.#within(answer, `a step: ${text.slice(0, 120)}`);
  }

  /**
   * @template T
   * @param {Promise<T>} promise
   * @param {string} what
   * @returns {Promise<T>}
   */
  async #within(promise, what) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`waited ${this.#deadlineMs} ms for ${what}`)), this.#deadlineMs);
    });
    try {
      return await /** @type {Promise<T>} */ (Promise.race([promise, late]));
    } finally {
      clearTimeout(timer);
    }
  }
}
