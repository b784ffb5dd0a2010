import { canonicalJson } from './canonical-json.ts';
import type { CheckedOptions, CheckedRules } from './essence-options.ts';
import { ANNOTATION_MARKERS, compileRules, DEFAULT_POINTERS, HARD_PREFIXES, SOFT_PREFIXES } from './essence-rules.ts';

/**
 * All rules of a hasher as one canonical text, of which `schemaId` is the digest: what can change a digest is in it, and
 * nothing else (E15). The order of options and of pointers is not, nor is anything said twice. A function is told by there
 * being one, and by `version`. `tag` is that of the digest, with the algorithm and the seed's fingerprint.
 */
export function schemaText(options: CheckedOptions, tag: string): string {
  const { defaults, nullIsAbsent, alsoCompare, version } = options;
  const text = {
    ...rulesOf(options),
    format: 1,
    tag,
    defaults: defaults ? [...DEFAULT_POINTERS, ...HARD_PREFIXES, ...SOFT_PREFIXES, ...ANNOTATION_MARKERS] : undefined,
    kinds: Object.fromEntries(options.kinds.map(([pattern, rules]) => [pattern, rulesOf(rules)])),
    nullIsAbsent,
    alsoCompare: alsoCompare !== undefined,
    version,
  };
  return canonicalJson(text, compileRules({ ignore: [], defaults: false }), 'describe the essence rules');
}

function rulesOf({ ignore, keep, lists, normalise }: CheckedRules): object {
  return {
    ignore: [...new Set(ignore)].sort(),
    keep: [...new Set(keep)].sort(),
    lists: Object.fromEntries(lists),
    normalise: normalise !== undefined,
  };
}
