import { PlimsollError } from '../types/errors.ts';

/**
 * A backend broke a promise. `expected` and `actual` are short texts, numbers, or lists of them, so that test runners can
 * print the difference; what the backend threw instead of an answer is the `cause`.
 */
export class BackendAssertionError extends PlimsollError {
  override readonly name: string = 'BackendAssertionError';
  declare readonly code: 'ASSERTION';
  /** Id of the rule, as in `docs/backends.md`: 'B4', 'store:R18'. */
  readonly rule: string;
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(facts: { rule: string; what: string; expected: unknown; actual: unknown }, options?: ErrorOptions) {
    const { rule, what, expected, actual } = facts;
    const reason = `${what}: expected ${shown(expected)}, got ${shown(actual)}`;
    super('ASSERTION', `Cannot rely on ${rule}: ${reason}`, options);
    this.rule = rule;
    this.expected = expected;
    this.actual = actual;
  }
}

const SHOWN_CHARS_MAX = 2000;

/** In a few words; of something long the beginning, which is where lists differ mostly. */
function shown(value: unknown): string {
  const text = value instanceof Error ? `${value.name} "${value.message}"` : jsonText(value);
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}...`;
}

/** Two answers in short are the same if and only if this is. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
