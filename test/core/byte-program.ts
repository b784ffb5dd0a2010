import { createHash } from 'node:crypto';
import { createXXHash128 } from 'hash-wasm';
import { DEPTH_MAX } from '../../src/core/canonical-text.ts';
import {
  createEssenceHasherWith,
  type EssenceHasher,
  type EssenceHasherOptions,
} from '../../src/core/essence-hasher.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { JsonSyntaxError } from '../../src/types/errors.ts';
import { Dice } from '../etcd/dice.ts';
import { oracleText } from '../unit/essence/oracle.ts';
import { GuardedScan, type Scanned } from './guarded-scan.ts';
import { makeBytes } from './hostile-bytes.ts';
import { type Fault, faultOf } from './json-reference.ts';

/** A hasher, and what its digests have behind the tag by somebody else's implementation. */
interface Scheme {
  readonly hasher: EssenceHasher;
  digest(text: string): string;
}

const PLAIN: EssenceHasherOptions = { defaults: false };

/**
 * Bytes against `JSON.parse`, a strict UTF-8 decoder, a plain scanner and other hashes: what is valid has the canonical
 * text and the digests of the parsed value, what is not is refused at its byte; and no guard is hit.
 */
export class ByteChecker {
  readonly #guarded: GuardedScan;
  readonly #guardedRules: GuardedScan;
  readonly #hasher: EssenceHasher;
  readonly #strict: EssenceHasher;
  readonly #schemes: readonly Scheme[];

  private constructor(module: WebAssembly.Module, schemes: readonly Scheme[]) {
    this.#guarded = new GuardedScan(module, false);
    this.#guardedRules = new GuardedScan(module, true);
    this.#hasher = createEssenceHasherWith(module, PLAIN);
    this.#strict = createEssenceHasherWith(module, { ...PLAIN, duplicates: 'reject' });
    this.#schemes = schemes;
  }

  static async create(module: WebAssembly.Module): Promise<ByteChecker> {
    const xxh3 = await createXXHash128();
    const schemes: Scheme[] = [
      { hasher: createEssenceHasherWith(module, PLAIN), digest: (text) => xxh3.init().update(text).digest('hex') },
      {
        hasher: createEssenceHasherWith(module, { ...PLAIN, algorithm: 'sha256' }),
        digest: (text) => createHash('sha256').update(text).digest('hex'),
      },
    ];
    for (const seed of [1n, 0x0123456789abcdefn, 2n ** 64n - 1n]) {
      const seeded = await createXXHash128(Number(seed & 0xffffffffn), Number(seed >> 32n));
      const hasher = createEssenceHasherWith(module, { ...PLAIN, seed });
      schemes.push({ hasher, digest: (text) => seeded.init().update(text).digest('hex') });
    }
    return new ByteChecker(module, schemes);
  }

  /** Throws when something is wrong with the answers for these bytes; says whether they are accepted. */
  check(bytes: Uint8Array): boolean {
    const parsed = parse(bytes);
    const fault = faultOf(bytes, DEPTH_MAX);
    if (fault === undefined ? parsed === undefined : parsed !== undefined && !fault.grammatical) {
      throw new Error('the scanner of the tests and JSON.parse disagree');
    }
    const scanned = this.#guarded.scan(bytes);
    this.#checkRules(bytes, fault, parsed?.value);
    if (fault !== undefined) {
      checkRefusal(scanned, fault);
      this.#checkError(bytes, scanned.offset ?? -1);
      return false;
    }
    const value = parsed?.value;
    const expected = oracleText(value, { defaults: false });
    const text = Buffer.from(scanned.text ?? '').toString();
    if (scanned.offset !== undefined) throw new Error(`a valid text is refused at byte ${scanned.offset}`);
    if (scanned.undecided !== true && text !== expected)
      throw new Error(`the text is ${text}, and should be ${expected}`);
    for (const { hasher, digest } of this.#schemes) {
      const digits = digest(expected);
      for (const [what, input] of [['bytes', bytes] as const, ['value', value] as const]) {
        const got = hasher.digest(input);
        if (!got.endsWith(`:${digits}`))
          throw new Error(`the digest of the ${what} is ${got}, and should be ${digits}`);
      }
    }
    this.#checkDuplicates(bytes, value);
    return true;
  }

  /** With the default rules: parts that are left out may hold what has no canonical form. */
  #checkRules(bytes: Uint8Array, fault: Fault | undefined, value: unknown): void {
    const scanned = this.#guardedRules.scan(bytes);
    if (fault?.grammatical === true) return;
    if (fault !== undefined) checkRefusal(scanned, fault);
    else if (scanned.offset !== undefined)
      throw new Error(`with rules a valid text is refused at byte ${scanned.offset}`);
    else if (scanned.text !== undefined) {
      const expected = oracleText(value);
      const text = Buffer.from(scanned.text).toString();
      if (text !== expected) throw new Error(`with rules the text is ${text}, and should be ${expected}`);
    }
  }

  #checkError(bytes: Uint8Array, offset: number): void {
    try {
      this.#hasher.digest(bytes);
    } catch (error) {
      if (error instanceof JsonSyntaxError && error.offset === offset) return;
      throw error;
    }
    throw new Error('the hasher accepts what the core refuses');
  }

  /** Members are refused as duplicates exactly when the value has fewer of them than the text. */
  #checkDuplicates(bytes: Uint8Array, value: unknown): void {
    const repeated = membersOf(value) < membersInText(bytes);
    try {
      this.#strict.digest(bytes);
    } catch (error) {
      if (error instanceof JsonSyntaxError && error.reason === 'the member name was used before' && repeated) return;
      throw error;
    }
    if (repeated) throw new Error('a member name is used twice, and not refused');
  }
}

function checkRefusal({ offset }: Scanned, { from, to }: Fault): void {
  if (offset === undefined) throw new Error('the text is accepted, and should not be');
  if (offset < from || offset > to) throw new Error(`refused at byte ${offset}, the fault is in ${from}..${to}`);
}

/** The bytes of one program. */
export function bytesOf(seed: number): Uint8Array {
  return makeBytes(new Dice(createSeededRandom(seed)));
}

/** A valid text and what JavaScript makes of it, or `undefined` when it refuses. */
export function parse(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(strictUtf8.decode(bytes)) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts: unknown[] = Object.values(value);
  return parts.reduce<number>((sum, part) => sum + membersOf(part), Array.isArray(value) ? 0 : parts.length);
}

/** Colons outside of strings, of a text that is known to be valid. What is shadowed counts too. */
function membersInText(bytes: Uint8Array): number {
  return (
    strictUtf8
      .decode(bytes)
      .replace(/"(?:[^"\\]|\\.)*"/g, '')
      .split(':').length - 1
  );
}
