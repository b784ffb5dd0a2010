/** What `npm run test:etcd -- ...` understands. */
export const USAGE = `npm run test:etcd -- [--smoke | --programs N] [--expiry-programs N] [--seed N] [--program N] [--etcd PATH]

  --smoke               150 programs and 4 with expiry, instead of 2000 and 40
  --programs N          N programs
  --expiry-programs N   N programs in which leases expire, in real time; 0 to 1000
  --seed N              the chance of an earlier run
  --program N           only this program of the run
  --expiry-program N    only this program with expiry
  --etcd PATH           this etcd, instead of the one on the PATH or of Debian's package`;

export interface Options {
  readonly programs: number;
  readonly seed: number;
  readonly expiryPrograms: number;
  /** The only one to run, if there is one; the same for those with expiry. */
  readonly program: number | undefined;
  readonly expiryProgram: number | undefined;
  readonly etcd: string | undefined;
  readonly isHelp: boolean;
}

const PROGRAMS_FULL = 2000;
const PROGRAMS_SMOKE = 150;
const PROGRAMS_MAX = 1_000_000;
/** Each takes some seconds of real time. */
const EXPIRY_FULL = 40;
const EXPIRY_SMOKE = 4;
const EXPIRY_MAX = 1000;
const SEED_MAX = 0x7fffffff;

export function parseOptions(args: readonly string[]): Options {
  let programs = PROGRAMS_FULL;
  let seed = Math.floor(Math.random() * SEED_MAX);
  let expiryPrograms = EXPIRY_FULL;
  let program: number | undefined;
  let expiryProgram: number | undefined;
  let etcd: string | undefined;
  const rest = args.flatMap((argument) => /^(--[\w-]+)=(.*)$/s.exec(argument)?.slice(1) ?? [argument]);
  for (let index = 0; index < rest.length; index++) {
    const name = rest[index];
    if (name === '--help') return { programs, expiryPrograms, seed, program, expiryProgram, etcd, isHelp: true };
    if (name === '--smoke') [programs, expiryPrograms] = [PROGRAMS_SMOKE, EXPIRY_SMOKE];
    else if (name === '--expiry-programs') expiryPrograms = integer(name, rest[++index], 0, EXPIRY_MAX);
    else if (name === '--expiry-program') expiryProgram = integer(name, rest[++index], 1, EXPIRY_MAX);
    else if (name === '--programs') programs = integer(name, rest[++index], 1, PROGRAMS_MAX);
    else if (name === '--seed') seed = integer(name, rest[++index], 0, SEED_MAX);
    else if (name === '--program') program = integer(name, rest[++index], 1, PROGRAMS_MAX);
    else if (name === '--etcd') etcd = rest[++index];
    else throw new TypeError(`Cannot compare with etcd: "${name}" is no option\n\n${USAGE}`);
  }
  return { programs, expiryPrograms, seed, program, expiryProgram, etcd, isHelp: false };
}

function integer(name: string, text: string | undefined, min: number, max: number): number {
  const value = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new RangeError(`Cannot compare with etcd: ${name} is "${text}", not an integer from ${min} to ${max}`);
}
