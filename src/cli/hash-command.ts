import { type DigestAlgorithm, SEED_MAX } from '../core/digest-scheme.ts';
import { createEssenceHasherWith, type EssenceHasher } from '../core/essence-hasher.ts';
import { coreModule } from '../core/module.ts';
import { LimitExceededError } from '../types/errors.ts';
import { parseArguments } from './arguments.ts';
import { complain } from './complain.ts';
import { DataError, textFault, UsageError } from './errors.ts';
import { escapeName } from './escape.ts';
import type { CliHost, Input } from './host.ts';
import { readAll, splitLines, type TextLine } from './line-splitter.ts';
import { HASH_USAGE } from './usage.ts';

/** Largest document in bytes, a whole file or one line with `--ndjson`: the core holds it several times. */
const DOCUMENT_BYTES_MAX = 256 * 1024 * 1024;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  ndjson: { type: 'boolean' },
  ignore: { type: 'string', multiple: true },
  'no-default-ignore': { type: 'boolean' },
  'reject-duplicates': { type: 'boolean' },
  algorithm: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** `plimsoll hash`. Returns the exit code; throws `UsageError`. */
export async function runHash(args: readonly string[], host: CliHost): Promise<number> {
  const { values, positionals } = parseArguments('hash', args, OPTIONS);
  if (values.help === true) {
    await host.stdout.write(HASH_USAGE);
    return 0;
  }
  if (positionals.includes('')) throw new UsageError('Cannot run hash: the name of a file is empty', 'hash');
  const hasher = createHasher({
    ignore: values.ignore ?? [],
    defaults: values['no-default-ignore'] !== true,
    duplicates: values['reject-duplicates'] === true ? 'reject' : 'last',
    ...(values.algorithm === undefined ? {} : { algorithm: parseAlgorithm(values.algorithm) }),
    ...(values.seed === undefined ? {} : { seed: parseSeed(values.seed) }),
  });
  const command = new HashCommand(host, hasher, values.json === true);
  for (const path of positionals.length === 0 ? ['-'] : positionals) {
    if (host.stdout.isClosed) break;
    await command.hash(path, values.ndjson === true);
  }
  return command.exitCode;
}

function parseAlgorithm(text: string): DigestAlgorithm {
  if (text === 'xxh3-128' || text === 'sha256') return text;
  throw new UsageError(`Cannot run hash: --algorithm is "${text}", not xxh3-128 or sha256`, 'hash');
}

function parseSeed(text: string): bigint {
  const seed = /^(?:[0-9]{1,20}|0x[0-9a-f]{1,16})$/i.test(text) ? BigInt(text) : 0n;
  if (seed >= 1n && seed <= SEED_MAX) return seed;
  throw new UsageError(`Cannot run hash: --seed is "${text}", not an integer from 1 to ${SEED_MAX}`, 'hash');
}

/** A pointer that cannot be is a mistake on the command line. */
function createHasher(options: Parameters<typeof createEssenceHasherWith>[1]): EssenceHasher {
  try {
    return createEssenceHasherWith(coreModule(), options);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof LimitExceededError)) throw error;
    throw new UsageError(error.message, 'hash');
  }
}

class HashCommand {
  exitCode = 0;
  readonly #host: CliHost;
  readonly #hasher: EssenceHasher;
  readonly #isJson: boolean;

  constructor(host: CliHost, hasher: EssenceHasher, isJson: boolean) {
    this.#host = host;
    this.#hasher = hasher;
    this.#isJson = isJson;
  }

  async hash(path: string, isNdjson: boolean): Promise<void> {
    const input = this.#host.openInput(path);
    try {
      if (isNdjson) await this.#hashLines(path, input);
      else await this.#hashWhole(path, input);
    } catch (error) {
      await this.#complain(error);
    } finally {
      input.close();
    }
  }

  async #hashWhole(path: string, input: Input): Promise<void> {
    const bytes = await readAll(input.chunks, `hash ${input.name}`, DOCUMENT_BYTES_MAX);
    const start = { bytes, line: 1, offset: 0, isTooLong: false };
    await this.#print(this.#digest(start, input.name), path, undefined);
  }

  /** One faulty line does not keep the others from being hashed. */
  async #hashLines(path: string, input: Input): Promise<void> {
    for await (const line of splitLines(input.chunks, DOCUMENT_BYTES_MAX)) {
      if (this.#host.stdout.isClosed) return;
      if (!line.isTooLong && isBlank(line.bytes)) continue;
      try {
        await this.#print(this.#digest(line, input.name), path, line.line);
      } catch (error) {
        await this.#complain(error);
      }
    }
  }

  #digest(text: TextLine, name: string): string {
    const action = `hash ${name}`;
    if (text.isTooLong) {
      throw new DataError(action, `the line is longer than ${DOCUMENT_BYTES_MAX} bytes`, { place: text });
    }
    try {
      return this.#hasher.digest(text.bytes);
    } catch (error) {
      throw textFault(error, action, text);
    }
  }

  async #print(digest: string, file: string, line: number | undefined): Promise<void> {
    if (this.#isJson) {
      // A file is one document, which has no line of its own.
      await this.#host.stdout.write(`${JSON.stringify({ digest, file, line: line ?? null })}\n`);
      return;
    }
    const name = line === undefined ? file : `${file}:${line}`;
    const escaped = escapeName(name);
    // As sha256sum does it: a name that cannot stand on a line is escaped, and the line says so.
    await this.#host.stdout.write(`${escaped === name ? '' : '\\'}${digest}  ${escaped}\n`);
  }

  async #complain(error: unknown): Promise<void> {
    if (!(error instanceof DataError)) throw error;
    this.exitCode = 1;
    await complain(this.#host, error);
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
