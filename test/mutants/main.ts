import { cleanUpAtExit } from '../etcd/cleanup.ts';
import { BadCommand } from './bad-command.ts';
import { checkFaults } from './check-faults.ts';
import { checkMutants } from './check-mutants.ts';

const COMMANDS: Readonly<Record<string, (args: readonly string[], root: URL) => Promise<number>>> = {
  faults: checkFaults,
  mechanical: checkMutants,
};

/** Runs one of the two checks; resolves with the exit code. */
export async function main(args: readonly string[], root: URL): Promise<number> {
  const [name = '', ...rest] = args;
  const command = COMMANDS[name];
  cleanUpAtExit();
  try {
    if (command !== undefined) return await command(rest, root);
    throw new BadCommand(`"${name}" is none of ${Object.keys(COMMANDS).join(', ')}`);
  } catch (error) {
    if (!(error instanceof BadCommand)) throw error;
    console.error(error.message);
    return 2;
  }
}
