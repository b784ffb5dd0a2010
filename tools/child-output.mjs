// @ts-check
// What a program says, and how it ends.
import { spawn } from 'node:child_process';

/**
 * Runs a program without input. `end`: its exit code, the signal that ended it, or why it could not begin; never rejects.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, msMax?: number }} options env: beside that of this process; msMax: killed after that
 * @returns {Promise<{ output: string, end: number | string }>}
 */
export function outputOf(command, args, { cwd, env = {}, msMax }) {
  const child = spawn(command, [...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what it has started ends with it.
    detached: true,
  });
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      // All of the group has ended already.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
    }
  };
  // It does not hear of a Ctrl-C for this process.
  process.on('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const timer = msMax === undefined ? undefined : setTimeout(kill, msMax);
  return new Promise((resolve) => {
    /** @type {string | undefined} */
    let problem;
    child.on('error', (error) => {
      problem = `Cannot run ${command}: ${error.message}`;
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      process.off('exit', kill);
      resolve({ output, end: problem ?? code ?? signal ?? 'nothing' });
    });
  });
}
