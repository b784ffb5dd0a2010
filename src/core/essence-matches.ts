import { isOfKind } from './essence-kinds.ts';
import type { CheckedOptions, CheckedRules, UnmatchedRule } from './essence-options.ts';
import { unescapeSegment } from './json-pointer.ts';

/** Objects that are looked at before rules are said to match nothing. */
export const OBJECTS_LOOKED_AT = 100;

/**
 * Watches which pointers match something in the first objects, and tells once of those that did not (E13). The rules
 * themselves do not know: they are one trie, whose walk costs the same whatever of it matches.
 */
export class RuleMatches {
  readonly #tell: (rules: readonly UnmatchedRule[]) => void;
  readonly #unmatched: Set<UnmatchedRule>;
  #objects = 0;

  constructor(options: CheckedOptions, tell: (rules: readonly UnmatchedRule[]) => void) {
    this.#tell = tell;
    const kinds = options.kinds.flatMap(([kind, rules]) => unmatchedOf(rules).map((rule) => ({ ...rule, kind })));
    this.#unmatched = new Set([...unmatchedOf(options), ...kinds]);
  }

  /** Nothing is left to be told. */
  get isOver(): boolean {
    return this.#objects >= OBJECTS_LOOKED_AT || this.#unmatched.size === 0;
  }

  look(value: unknown): void {
    this.#objects++;
    for (const rule of this.#unmatched) {
      if (rule.kind !== undefined && !isOfKind(value, rule.kind)) continue;
      if (hasMatch(value, rule.pointer.slice(1).split('/'), 0)) this.#unmatched.delete(rule);
    }
    if (this.#objects === OBJECTS_LOOKED_AT && this.#unmatched.size > 0) this.#tell([...this.#unmatched]);
  }
}

function unmatchedOf({ ignore, lists }: CheckedRules): readonly UnmatchedRule[] {
  return [
    ...ignore.map((pointer): UnmatchedRule => ({ option: 'ignore', pointer })),
    ...lists.map(([pointer]): UnmatchedRule => ({ option: 'lists', pointer })),
  ];
}

/** Looks at each part once at most, since a pointer leads to it in one way. */
function hasMatch(value: unknown, segments: readonly string[], place: number): boolean {
  const segment = segments[place];
  if (segment === undefined) return value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  if (segment === '*') return Array.isArray(value) && value.some((element) => hasMatch(element, segments, place + 1));
  const name = unescapeSegment(segment);
  if (!Object.hasOwn(value, name) || (Array.isArray(value) && name === 'length')) return false;
  return hasMatch(Reflect.get(value, name), segments, place + 1);
}
