/** What was asked for cannot be done as it was asked: exit code 2, and no stack. */
export class BadCommand extends Error {
  constructor(reason: string, help = '--help tells what there is') {
    super(`Cannot check the tests: ${reason} (${help})`);
  }
}

export interface Flags {
  /** With a value: `--seed 1` or `--seed=1`. */
  readonly values: ReadonlyMap<string, string>;
  /** Alone: `--json`. */
  readonly switches: ReadonlySet<string>;
}

/** Reads a command line of flags only. Throws {@link BadCommand} for any other name. */
export function readFlags(args: readonly string[], values: readonly string[], switches: readonly string[]): Flags {
  const found = { values: new Map<string, string>(), switches: new Set<string>() };
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] as string;
    const equals = argument.indexOf('=');
    const name = equals < 0 ? argument : argument.slice(0, equals);
    if (switches.includes(argument)) found.switches.add(argument);
    else if (values.includes(name)) {
      const value = equals < 0 ? args[++index] : argument.slice(equals + 1);
      if (value === undefined) throw new BadCommand(`${name} needs a value`);
      found.values.set(name, value);
    } else throw new BadCommand(`unknown argument "${argument}"`);
  }
  return found;
}

/** An integer flag within bounds; `undefined` when it was not given. */
export function readInteger(flags: Flags, name: string, min: number, max: number): number | undefined {
  const text = flags.values.get(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new BadCommand(`${name} is "${text}", not an integer from ${min} to ${max}`);
}
