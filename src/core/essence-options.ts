import { LimitExceededError } from '../types/errors.ts';
import { shown } from '../types/shown.ts';
import type { DigestAlgorithm } from './digest-scheme.ts';
import { type KindPattern, parseKindPattern } from './essence-kinds.ts';
import { HARD_POINTERS, HARD_PREFIXES, type ListOrder, SOFT_POINTERS, SOFT_PREFIXES } from './essence-rules.ts';

/** Options of `createEssenceHasher`. */
export interface EssenceHasherOptions extends EssenceRuleOptions {
  /** Leave out what Kubernetes and controllers write for themselves; `docs/essence.md` has the list. @default true */
  readonly defaults?: boolean;
  /**
   * More rules for objects of some kinds, by `apiVersion/kind`: `apps/v1/Deployment`, `v1/Secret`. A `*` stands for any
   * kind, any version of a group, or any apiVersion at all. The rules of all patterns that match count, beside those for
   * all objects. At most 1000. Bytes are parsed twice. @default {}
   */
  readonly kinds?: Readonly<Record<string, EssenceRuleOptions>>;
  /** Members of objects that are null are as good as absent (E6). All input takes the slow way. @default false */
  readonly nullIsAbsent?: boolean;
  /**
   * Something derived from the whole object, excluded parts and all, that has to be equal too for digests to be equal,
   * such as whether it is healthy. Plain JSON data; `undefined` is as good as null. Pure. It is hashed beside the essence
   * and is no part of it. All input takes the slow way.
   */
  readonly alsoCompare?: (object: unknown) => unknown;
  /** Names what `normalise` and `alsoCompare` mean, which no `schemaId` can tell: change it with them. @default none */
  readonly version?: string;
  /**
   * When `normalise` is checked (E16): `sampled` for the first 100 objects of each set of rules and then for one of 64,
   * `always` for each, which makes two calls of one. @default 'sampled'
   */
  readonly checkNormalise?: 'sampled' | 'always';
  /**
   * Told once, after the first 100 objects, which pointers of `ignore` and `lists` matched nothing in any of them (E13):
   * most often a slip of the pen. Not told if all matched. What it throws, the digest of that object throws. While it
   * looks, bytes are parsed twice.
   * @default nobody
   */
  readonly onUnmatched?: (rules: readonly UnmatchedRule[]) => void;
  /**
   * What to do when JSON bytes name a member twice: the last one counts, as with `JSON.parse`, or the text is refused,
   * wherever in it the second one is. Parsed values cannot have any. @default 'last'
   */
  readonly duplicates?: 'last' | 'reject';
  /**
   * What the canonical text is hashed with. `sha256` is for those who cannot rule out that somebody builds two objects
   * with one digest; it takes several times as long. @default 'xxh3-128'
   */
  readonly algorithm?: DigestAlgorithm;
  /**
   * Seed of XXH3-128, from 1n to 2n ** 64n - 1n: digests made with different seeds are never equal, and who does not know
   * the seed cannot prepare objects that collide. It is no MAC: do not let a digest prove who made it. Only with
   * `xxh3-128`. @default none
   */
  readonly seed?: bigint;
}

/** What does not count in an object: for all objects, and for those of a kind. */
export interface EssenceRuleOptions {
  /**
   * JSON pointers (RFC 6901) of parts that do not count, added to the defaults. A segment `*` matches every element of
   * an array (and nothing in an object); a decimal segment matches that element, or that member of an object.
   * @default []
   */
  readonly ignore?: readonly string[];
  /**
   * Exclusions of the default list that do count after all, each as the list has it: `/status`, `/metadata/generation`,
   * or the prefix of annotations `cattle.io`. Those that are marked there as fixed cannot be put back. @default []
   */
  readonly keep?: readonly string[];
  /**
   * Arrays whose order does not count, by their JSON pointer, with `*` as in `ignore`: sets, and maps told apart by a
   * member, or several, of their elements (conditions by `type`, containers by `name`). All input takes the slow way.
   * @default {}
   */
  readonly lists?: Readonly<Record<string, EssenceList>>;
  /**
   * What an object is to be taken for, such as one with its defaults filled in: plain JSON data. Pure, leaves its
   * argument alone, and makes of its own result the same again (E16). All input takes the slow way.
   */
  readonly normalise?: (object: unknown) => unknown;
}

/** A pointer that matched nothing. */
export interface UnmatchedRule {
  readonly option: 'ignore' | 'lists';
  readonly pointer: string;
  /** The pattern of `kinds` that it stands under. */
  readonly kind?: string;
}

export type EssenceList = 'set' | { readonly key: string | readonly string[] };

/** The rules of one `EssenceRuleOptions`, checked. */
export interface CheckedRules {
  readonly ignore: readonly string[];
  readonly keep: readonly string[];
  readonly lists: readonly (readonly [pointer: string, order: ListOrder])[];
  readonly normalise: ((object: unknown) => unknown) | undefined;
}

/** The options with their defaults. */
export interface CheckedOptions extends CheckedRules {
  readonly defaults: boolean;
  readonly kinds: readonly (readonly [pattern: KindPattern, rules: CheckedRules])[];
  readonly nullIsAbsent: boolean;
  readonly alsoCompare: ((object: unknown) => unknown) | undefined;
  readonly version: string | undefined;
  readonly onUnmatched: ((rules: readonly UnmatchedRule[]) => void) | undefined;
  readonly alwaysChecks: boolean;
  readonly rejectDuplicates: boolean;
}

/** Patterns of kinds; more is `LimitExceededError`. */
export const KIND_PATTERNS_MAX = 1000;

/** Throws `TypeError` naming the option, and `LimitExceededError`. Pointers, algorithm and seed are checked where they are used. */
export function checkOptions(options: EssenceHasherOptions): CheckedOptions {
  checkNames(options, 'the options are not an object', 'option', OPTION_NAMES);
  const {
    defaults = true,
    duplicates = 'last',
    nullIsAbsent = false,
    kinds = {},
    checkNormalise = 'sampled',
  } = options;
  checkBoolean('defaults', defaults);
  checkBoolean('nullIsAbsent', nullIsAbsent);
  checkWord('duplicates', duplicates, ['last', 'reject']);
  checkWord('checkNormalise', checkNormalise, ['sampled', 'always']);
  checkFunction('alsoCompare', options.alsoCompare);
  checkFunction('onUnmatched', options.onUnmatched);
  const { version } = options;
  if (version !== undefined && (typeof version !== 'string' || !version.isWellFormed())) {
    throw refusal('version is not a well-formed string');
  }
  if (typeof kinds !== 'object' || kinds === null) throw refusal('kinds is not an object');
  const patterns = Object.entries(kinds);
  if (patterns.length > KIND_PATTERNS_MAX) {
    const actual = patterns.length;
    throw new LimitExceededError(ACTION, { limit: 'the number of kinds', max: KIND_PATTERNS_MAX, actual });
  }
  return {
    ...checkRules(options, ''),
    defaults,
    nullIsAbsent,
    kinds: patterns.map(([pattern, rules]) => {
      const where = `kinds[${JSON.stringify(pattern)}]`;
      checkNames(rules, `${where} is not an object`, `option of ${where}`, RULE_NAMES);
      return [parseKindPattern(pattern), checkRules(rules, ` of ${where}`)];
    }),
    alsoCompare: options.alsoCompare,
    version,
    onUnmatched: options.onUnmatched,
    alwaysChecks: checkNormalise === 'always',
    rejectDuplicates: duplicates === 'reject',
  };
}

/** `where`: whose rules these are, for messages. */
function checkRules(
  { ignore = [], keep = [], lists = {}, normalise }: EssenceRuleOptions,
  where: string,
): CheckedRules {
  if (!Array.isArray(ignore)) throw refusal(`ignore${where} is not an array`);
  if (!Array.isArray(keep)) throw refusal(`keep${where} is not an array`);
  for (const entry of keep) checkKept(entry, where);
  if (typeof lists !== 'object' || lists === null || Array.isArray(lists)) {
    throw refusal(`lists${where} is not an object`);
  }
  checkFunction(`normalise${where}`, normalise);
  return {
    ignore,
    keep,
    lists: Object.entries(lists).map(([pointer, list]) => [pointer, orderOf(list, pointer, where)]),
    normalise,
  };
}

function checkKept(entry: unknown, where: string): void {
  if (typeof entry !== 'string') throw refusal(`a keep entry${where} is of type ${typeof entry}, not a string`);
  if (SOFT_POINTERS.includes(entry) || SOFT_PREFIXES.includes(entry)) return;
  const isHard = HARD_POINTERS.includes(entry) || HARD_PREFIXES.includes(entry);
  const reason = isHard ? 'cannot be put back' : 'is not in the list of default exclusions';
  throw refusal(`the keep entry ${JSON.stringify(entry)}${where} ${reason}`);
}

function orderOf(list: unknown, pointer: string, where: string): ListOrder {
  const refuse = (reason: string): TypeError => refusal(`lists[${JSON.stringify(pointer)}]${where} ${reason}`);
  if (list === 'set') return [];
  if (typeof list !== 'object' || list === null || !('key' in list) || Object.keys(list).length !== 1) {
    throw refuse('is neither "set" nor { key }');
  }
  const order: readonly unknown[] = Array.isArray(list.key) ? list.key : [list.key];
  if (order.length === 0) throw refuse('has no key');
  if (order.length > KEYS_MAX) throw refuse(`has more than ${KEYS_MAX} keys`);
  return order.map((name) => {
    if (typeof name !== 'string' || !name.isWellFormed()) throw refuse('has a key that is not a well-formed string');
    return name;
  });
}

/** Names of members that make up one key. */
const KEYS_MAX = 16;

const RULE_NAMES: ReadonlySet<string> = new Set<keyof EssenceRuleOptions>(['ignore', 'keep', 'lists', 'normalise']);

const OPTION_NAMES: ReadonlySet<string> = new Set<keyof EssenceHasherOptions>([
  'ignore',
  'keep',
  'lists',
  'normalise',
  'kinds',
  'defaults',
  'nullIsAbsent',
  'alsoCompare',
  'version',
  'checkNormalise',
  'onUnmatched',
  'duplicates',
  'algorithm',
  'seed',
]);

const ACTION = 'create the essence hasher';

function refusal(reason: string): TypeError {
  return new TypeError(`Cannot ${ACTION}: ${reason}`);
}

function checkNames(options: unknown, reason: string, what: string, names: ReadonlySet<string>): void {
  if (typeof options !== 'object' || options === null) throw refusal(reason);
  for (const name of Object.keys(options)) if (!names.has(name)) throw refusal(`unknown ${what} ${name}`);
}

function checkBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw refusal(`${name} is not a boolean`);
}

function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function')
    throw refusal(`${name} is of type ${typeof value}, not a function`);
}

function checkWord(name: string, value: unknown, words: readonly [string, string]): void {
  if (words.some((word) => word === value)) return;
  throw refusal(`${name} is ${shown(value)}, not "${words[0]}" or "${words[1]}"`);
}
