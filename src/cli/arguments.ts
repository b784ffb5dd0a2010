import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './errors.ts';

type OptionTypes = NonNullable<ParseArgsConfig['options']>;

/** `util.parseArgs`, strict, with its complaints as `UsageError`. */
export function parseArguments<T extends OptionTypes>(
  command: string,
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true; strict: true; tokens: true }>> {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true, tokens: true });
    checkRepeated(command, parsed.tokens, options);
    return parsed;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    // Only the first sentence: the rest explains how to write positionals that look like options.
    throw new UsageError(`Cannot run ${command}: ${message.split(/\.\s/)[0]?.replaceAll("'", '"')}`, command);
  }
}

/** An option that is given twice with one meaning lost is a mistake. */
function checkRepeated(
  command: string,
  tokens: readonly { readonly kind: string; readonly name?: string }[],
  options: OptionTypes,
): void {
  const seen = new Set<string>();
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || name === undefined || options[name]?.multiple === true) continue;
    if (seen.has(name) && options[name]?.type === 'string') {
      throw new UsageError(`Cannot run ${command}: --${name} is given twice`, command);
    }
    seen.add(name);
  }
}

/** An integer in decimal digits. Throws `UsageError` naming option and range. */
export function parseInteger(
  command: string,
  option: string,
  text: string | undefined,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < range.min || value > range.max) {
    const allowed = `an integer from ${range.min} to ${range.max}`;
    throw new UsageError(`Cannot run ${command}: --${option} is "${text}", not ${allowed}`, command);
  }
  return value;
}
