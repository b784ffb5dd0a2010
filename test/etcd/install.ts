import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { onExit } from './cleanup.ts';

const PACKAGE = 'etcd-server';
/** Debian asks this script whether a package may start its services; 101 is "no". */
const POLICY = '/usr/sbin/policy-rc.d';
const SYSTEMD = '/run/systemd/system';
/** Where the package's init script writes the process that it started. */
const PID_FILE = '/run/etcd.pid';

/** The etcd to run: the one on the PATH, else that of Debian's package, which is installed if it is not there. */
export async function findOrInstallEtcd(): Promise<string> {
  const found = findProgram('etcd');
  if (found !== undefined) return found;
  if (findProgram('apt-get') === undefined) {
    throw new Error('Cannot install etcd: there is no apt-get here; install etcd, or name it with --etcd PATH');
  }
  if (process.getuid?.() !== 0) {
    const advice = `run "apt-get install ${PACKAGE}" as root, or name an etcd with --etcd PATH`;
    throw new Error(`Cannot install etcd: it is not on the PATH and only root may install it; ${advice}`);
  }
  await installPackage();
  const installed = findProgram('etcd');
  if (installed === undefined) throw new Error(`Cannot find etcd: the package ${PACKAGE} brought none`);
  return installed;
}

async function installPackage(): Promise<void> {
  console.error(`etcd is not on the PATH: installing the package ${PACKAGE}`);
  const allowServices = forbidServices();
  try {
    await run('apt-get', ['update']);
    await run('apt-get', ['install', '-y', '--no-install-recommends', PACKAGE]);
  } catch (error) {
    const reason = 'apt-get failed, see above (is the machine offline?)';
    throw new Error(`Cannot install ${PACKAGE}: ${reason}`, { cause: error });
  } finally {
    allowServices();
  }
  await disableService();
}

/** Keeps the package from starting its service. A policy that the machine has already is left as it is. */
function forbidServices(): () => void {
  if (existsSync(POLICY)) return () => undefined;
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  return onExit(() => rmSync(POLICY, { force: true }));
}

/**
 * Only what this run installed: not started at the next boot, and stopped if it runs all the same. Not by its init
 * script: `stop` there ends every process of this program, whoever started it.
 */
async function disableService(): Promise<void> {
  const commands = [
    ...(findProgram('update-rc.d') === undefined ? [] : [['update-rc.d', 'etcd', 'disable']]),
    ...(findProgram('systemctl') === undefined ? [] : [['systemctl', 'disable', 'etcd.service']]),
    ...(existsSync(SYSTEMD) ? [['systemctl', 'stop', 'etcd.service']] : []),
  ];
  for (const [command = '', ...args] of commands) {
    try {
      await run(command, args);
    } catch (error) {
      console.error(`The package's own service may be enabled: ${error}`);
    }
  }
  if (!existsSync(PID_FILE)) return;
  const id = Number(readFileSync(PID_FILE, 'utf8').trim());
  if (Number.isSafeInteger(id) && id > 1) process.kill(id, 'SIGTERM');
}

/** Runs a command with its output on stderr. Rejects unless it ends with 0. */
function run(command: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(command, args, { stdio: ['ignore', 2, 2], env });
  const kill = onExit(() => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      kill();
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}`));
    });
  });
}

function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
