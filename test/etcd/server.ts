import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../tools/free-port.mjs';
import { onExit } from './cleanup.ts';
import { Gateway } from './gateway.ts';

/** A running etcd of our own. */
export interface EtcdServer {
  readonly gateway: Gateway;
  readonly version: string;
  /** Of its clients, `http://127.0.0.1:41234`. */
  readonly address: string;
  readonly pid: number;
  /** Where its data are. */
  readonly folder: string;
  /** Whether it waits for the disk before it acknowledges. */
  readonly isSynced: boolean;
  /** What etcd said when it died, `undefined` while it lives. */
  death(): string | undefined;
  stop(): void;
}

const START_MS_MAX = 15_000;
const START_POLL_MS = 50;
/** A free port may be taken between the look and the start. */
const START_TRIES = 4;
/** Kept of what etcd prints, for the message when it dies. */
const LOG_CHARS_MAX = 8_000;
/** etcd's write-ahead log makes files of 64 MB, some of them ahead. */
const TMPFS_BYTES_MIN = 700_000_000;
/** Nobody's default: what listens on these may belong to the machine. */
const RESERVED_PORTS: ReadonlySet<number> = new Set([2379, 2380]);

/**
 * Starts etcd on loopback, on free ports, with a data folder that is deleted with it. Both end with this process, on a
 * signal too. Rejects if etcd does not answer in time, and if it is not this etcd that answers.
 */
export async function startEtcd(command: string): Promise<EtcdServer> {
  const version = /^etcd Version: (\S+)/m.exec(ask(command, '--version'))?.[1];
  if (version === undefined) throw new Error(`Cannot start etcd: ${command} --version does not tell a version`);
  const hasNoFsync = knowsFlag(command, '--unsafe-no-fsync');
  let failure: unknown;
  for (let attempt = 0; attempt < START_TRIES; attempt++) {
    const name = `plimsoll-${randomBytes(8).toString('hex')}`;
    const started = new Running(command, name, await unreservedPort(), await unreservedPort(), hasNoFsync);
    try {
      await started.ready();
      const { gateway, address, folder, pid } = started;
      const facts = { gateway, address, folder, pid, version, isSynced: !hasNoFsync };
      return { ...facts, death: () => started.death(), stop: () => started.stop() };
    } catch (error) {
      failure = error;
      started.stop();
      if (!started.lostItsPort) break;
    }
  }
  throw failure;
}

class Running {
  readonly gateway: Gateway;
  readonly stop: () => void;
  readonly #name: string;
  readonly address: string;
  readonly folder: string;
  /** 0 for one that could not be started. */
  readonly pid: number;
  #log = '';
  #end: string | undefined;

  constructor(command: string, name: string, port: number, peerPort: number, hasNoFsync: boolean) {
    this.#name = name;
    this.address = `http://127.0.0.1:${port}`;
    this.gateway = new Gateway(this.address);
    const folder = mkdtempSync(join(temporaryFolder(), 'plimsoll-etcd-'));
    this.folder = folder;
    const removeFolder = onExit(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
    const peer = `http://127.0.0.1:${peerPort}`;
    const args = ['--name', name, '--data-dir', join(folder, 'data'), '--logger', 'zap', '--log-level', 'error'];
    args.push('--listen-client-urls', this.address, '--advertise-client-urls', this.address);
    args.push(
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `${name}=${peer}`,
    );
    args.push('--initial-cluster-token', name, '--heartbeat-interval', '50', '--election-timeout', '500');
    if (hasNoFsync) args.push('--unsafe-no-fsync');
    // A process group of its own: Ctrl-C reaches this process first, which then ends etcd and deletes its folder.
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment(), detached: true });
    this.pid = child.pid ?? 0;
    this.#follow(child);
    const kill = onExit(() => {
      if (this.#end === undefined && child.pid !== undefined) child.kill('SIGKILL');
    });
    this.stop = () => {
      kill();
      removeFolder();
    };
  }

  get lostItsPort(): boolean {
    return this.#log.includes('address already in use');
  }

  death(): string | undefined {
    return this.#end === undefined ? undefined : `etcd ended (${this.#end}), it said:\n${this.#log}`;
  }

  /** Resolves when etcd answers, and is the one that was started: its only member has our random name. */
  async ready(): Promise<void> {
    const until = performance.now() + START_MS_MAX;
    for (let failure: unknown; ; ) {
      if (this.#end !== undefined) throw new Error(`Cannot start etcd: ${this.death()}`);
      if (performance.now() > until)
        throw new Error(`Cannot start etcd: no answer in time\n${this.#log}`, { cause: failure });
      try {
        const { members = [] } = await this.gateway.call<MemberList>('cluster/member/list', {});
        const [member] = members;
        if (members.length === 1 && member?.name === this.#name) return;
        if (member?.name !== undefined && member.name !== '') throw new ForeignError(this.address, member.name);
      } catch (error) {
        if (error instanceof ForeignError) throw error;
        failure = error;
      }
      await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
    }
  }

  #follow(child: ChildProcess): void {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-LOG_CHARS_MAX);
      });
    }
    child.on('error', (error) => {
      this.#end = String(error);
    });
    child.on('exit', (code, signal) => {
      this.#end = `${code ?? signal}`;
    });
  }
}

class ForeignError extends Error {
  override readonly name = 'ForeignError';

  constructor(address: string, member: string) {
    super(`Cannot start etcd: another one, "${member}", answers at ${address}`);
  }
}

interface MemberList {
  readonly members?: readonly { readonly name?: string }[];
}

/** Memory if the machine has a file system there with room: etcd then waits for no disk. */
function temporaryFolder(): string {
  const shared = '/dev/shm';
  try {
    accessSync(shared, constants.W_OK);
    const { bavail, bsize } = statfsSync(shared);
    if (bavail * bsize >= TMPFS_BYTES_MIN) return shared;
  } catch (error) {
    console.error(`No ${shared} here, etcd writes to ${tmpdir()}: ${error}`);
  }
  return tmpdir();
}

/** Without settings of another etcd; 3.4 starts on other processors than amd64 only when told that this is meant. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ETCD_'));
  const unsupported = process.arch === 'x64' ? {} : { ETCD_UNSUPPORTED_ARCH: process.arch };
  return { ...Object.fromEntries(own), ...unsupported };
}

/** Some versions know flags that their help does not tell. */
function knowsFlag(command: string, flag: string): boolean {
  return spawnSync(command, [flag, '--version'], { env: environment(), stdio: 'ignore' }).status === 0;
}

function ask(command: string, flag: string): string {
  return execFileSync(command, [flag], { encoding: 'utf8', env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
}

async function unreservedPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (!RESERVED_PORTS.has(port)) return port;
  }
}
