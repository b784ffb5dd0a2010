/** What `npm run test:etcd -- ...` understands. */
export const USAGE = `npm run test:etcd -- [--smoke | --programs N] [--seed N] [--program N] [--etcd PATH]

  --smoke        150 programs instead of 2000
  --programs N   N programs
  --seed N       the chance of an earlier run
  --program N    only this program of the run
  --etcd PATH    this etcd, instead of the one on the PATH or of Debian's package`;

export interface Options {
  readonly programs: number;
  readonly seed: number;
  readonly program: number | undefined;
  readonly etcd: string | undefined;
  readonly isHelp: boolean;
}

const PROGRAMS_FULL = 2000;
const PROGRAMS_SMOKE = 150;
const PROGRAMS_MAX = 1_000_000;
const SEED_MAX = 0x7fffffff;

export function parseOptions(args: readonly string[]): Options {
  let programs = PROGRAMS_FULL;
  let seed = Math.floor(Math.random() * SEED_MAX);
  let program: number | undefined;
  let etcd: string | undefined;
  const rest = args.flatMap((argument) => /^(--\w+)=(.*)$/s.exec(argument)?.slice(1) ?? [argument]);
  for (let index = 0; index < rest.length; index++) {
    const name = rest[index];
    if (name === '--help') return { programs, seed, program, etcd, isHelp: true };
    if (name === '--smoke') programs = PROGRAMS_SMOKE;
    else if (name === '--programs') programs = integer(name, rest[++index], 1, PROGRAMS_MAX);
    else if (name === '--seed') seed = integer(name, rest[++index], 0, SEED_MAX);
    else if (name === '--program') program = integer(name, rest[++index], 1, PROGRAMS_MAX);
    else if (name === '--etcd') etcd = rest[++index];
    else throw new TypeError(`Cannot compare with etcd: "${name}" is no option\n\n${USAGE}`);
  }
  return { programs, seed, program, etcd, isHelp: false };
}

function integer(name: string, text: string | undefined, min: number, max: number): number {
  const value = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new RangeError(`Cannot compare with etcd: ${name} is "${text}", not an integer from ${min} to ${max}`);
}
