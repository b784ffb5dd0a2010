import { PlimsollError } from '../types/errors.ts';
import { jsonText } from './backend-assertion.ts';

/** A progress store broke a promise. `expected` and `actual` are plain data, or short texts. */
export class ProgressAssertionError extends PlimsollError {
  override readonly name: string = 'ProgressAssertionError';
  declare readonly code: 'ASSERTION';
  /** Id of the rule, as in `docs/spec/handlers.md`. */
  readonly rule: string;
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(facts: { rule: string; what: string; expected: unknown; actual: unknown }, options?: ErrorOptions) {
    const { rule, what, expected, actual } = facts;
    super('ASSERTION', `Cannot rely on ${rule}: ${what}: expected ${shown(expected)}, got ${shown(actual)}`, options);
    this.rule = rule;
    this.expected = expected;
    this.actual = actual;
  }
}

const SHOWN_CHARS_MAX = 2000;

function shown(value: unknown): string {
  const text = value instanceof Error ? `${value.name} "${value.message}"` : jsonText(value);
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}...`;
}
