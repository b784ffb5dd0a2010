// @ts-check
// Two processes contend for a lock, or to lead; the one that has it is stopped for longer than its lease lives, then goes on.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EtcdCluster } from './etcd-cluster.mjs';
import { until } from './etcd-load.mjs';

const SCRIPT = fileURLToPath(new URL('etcd-lock-holder.mjs', import.meta.url));

/**
 * @param {import('./etcd.mjs').EtcdWorld} world
 * @param {'lock' | 'election'} kind
 */
export async function stopHolder({ folder, dist, command, say }, kind) {
  const cluster = await EtcdCluster.start({ command, folder, size: 1 });
  /** @type {Holder[]} */
  const holders = [];
  const start = (/** @type {string} */ name) => {
    const holder = new Holder([dist, /** @type {string} */ (cluster.endpoints[0]), kind, name]);
    holders.push(holder);
    return holder;
  };
  try {
    const first = start('first');
    await until(() => first.wrote.length > 5, 'the first one to write');
    const second = start('second');
    await until(() => first.wrote.length > 10, 'the first one to write on');
    if (second.token !== 0) throw new Error('both have it');
    first.child.kill('SIGSTOP');
    await until(() => second.wrote.length > 5, 'the second one to write');
    first.child.kill('SIGCONT');
    await until(() => first.refusal !== '', 'the first one to be refused');
    const late = first.wrote.filter((revision) => revision > second.token);
    if (late.length > 0)
      throw new Error(`the first one wrote at ${late[0]}, after the second one had it at ${second.token}`);
    if (second.token <= first.token) throw new Error(`the token fell from ${first.token} to ${second.token}`);
    if (second.refusal !== '') throw new Error(`the second one was refused: ${second.refusal}`);
    say(`  the first one: ${first.wrote.length} writes, then refused ${first.refusal}`);
  } finally {
    for (const { child } of holders) child.kill('SIGKILL');
    cluster.stop();
  }
}

class Holder {
  token = 0;
  /** @type {number[]} */
  wrote = [];
  refusal = '';

  /** @param {readonly string[]} args */
  constructor(args) {
    this.child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let rest = '';
    this.child.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#read(line);
    });
  }

  /** @param {string} line */
  #read(line) {
    const [word, ...words] = line.split(' ');
    if (word === 'acquired') this.token = Number(words[0]);
    else if (word === 'wrote') this.wrote.push(Number(words[0]));
    else this.refusal = words.join(' ');
  }
}
