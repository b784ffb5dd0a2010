import { complain } from './complain.ts';
import { runDemo } from './demo/demo-command.ts';
import { DataError, OutputError, UsageError } from './errors.ts';
import { runHash } from './hash-command.ts';
import { type CliHost, Interrupt } from './host.ts';
import { USAGE } from './usage.ts';
import { readVersion } from './version.ts';

/** Runs `plimsoll` with these arguments and resolves with its exit code. What a command throws becomes a message. */
export async function run(args: readonly string[], host: CliHost): Promise<number> {
  try {
    return await dispatch(args, host);
  } catch (error) {
    if (error instanceof Interrupt) return error.exitCode;
    if (error instanceof DataError || error instanceof OutputError) {
      await complain(host, error);
      return 1;
    }
    if (error instanceof UsageError) {
      const help = `plimsoll ${error.command === undefined ? '' : `${error.command} `}--help`;
      await complain(host, error);
      await host.stderr.write(`Try "${help}"\n`);
      return 2;
    }
    // A bug, of this command or of the library: all of it is worth seeing.
    await host.stderr.write(`plimsoll: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 1;
  }
}

async function dispatch(args: readonly string[], host: CliHost): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'demo':
      return runDemo(rest, host);
    case 'hash':
      return runHash(rest, host);
    case '-h':
    case '--help':
      await host.stdout.write(USAGE);
      return 0;
    case '--version':
      await host.stdout.write(`${readVersion()}\n`);
      return 0;
    case undefined:
      throw new UsageError('Cannot run plimsoll: no command is given, there are demo and hash');
    default: {
      const what = command.startsWith('-') ? 'option' : 'command';
      throw new UsageError(`Cannot run plimsoll: unknown ${what} "${command}", the commands are demo and hash`);
    }
  }
}
