import { refuse } from './api-status.ts';

export type Labels = { readonly [name: string]: string };
export type LabelPredicate = (labels: Labels) => boolean;

interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt';
  readonly values: readonly string[];
}

const NAME = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const TOKEN = /\s*(==|!=|[=<>!(),]|[^\s=!<>(),]+)/y;

/**
 * A label selector as text: `app=web,tier in (front, back),!canary,weight>3`. A label that is not there is different from every
 * value, as in Kubernetes; `undefined` for a selector that selects everything.
 *
 * Throws `RequestRefused` for what is none.
 */
export function parseLabelSelector(text: string): LabelPredicate | undefined {
  const tokens = new Tokens(text);
  const all: Requirement[] = [];
  if (tokens.next === undefined) return undefined;
  for (;;) {
    all.push(requirement(tokens));
    if (tokens.next === undefined) break;
    tokens.expect(',');
  }
  return (labels) => all.every((one) => matches(one, labels));
}

function matches({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    default: {
      if (value === undefined || !/^-?\d+$/.test(value)) return false;
      const [number, bound] = [BigInt(value), BigInt(values[0] ?? '0')];
      return operator === 'gt' ? number > bound : number < bound;
    }
  }
}

function requirement(tokens: Tokens): Requirement {
  const isAbsent = tokens.accept('!');
  const key = tokens.word();
  if (!NAME.test(key)) throw tokens.wrong(`"${key}" is no label`);
  if (isAbsent) return { key, operator: 'absent', values: [] };
  const operator = tokens.next;
  if (operator === undefined || operator === ',') return { key, operator: 'exists', values: [] };
  tokens.take();
  switch (operator) {
    case '=':
    case '==':
      return { key, operator: 'in', values: [labelValue(tokens)] };
    case '!=':
      return { key, operator: 'notin', values: [labelValue(tokens)] };
    case '>':
    case '<': {
      const bound = tokens.word();
      if (!/^-?\d+$/.test(bound)) throw tokens.wrong(`"${bound}" is no integer`);
      return { key, operator: operator === '>' ? 'gt' : 'lt', values: [bound] };
    }
    case 'in':
    case 'notin':
      return { key, operator, values: valuesOf(tokens) };
    default:
      throw tokens.wrong(`"${operator}" is no operator`);
  }
}

/** A value may be empty: `a=` and `a=,b`. */
function labelValue(tokens: Tokens): string {
  const { next } = tokens;
  if (next === undefined || next === ',' || next === ')') return '';
  const value = tokens.word();
  if (!VALUE.test(value)) throw tokens.wrong(`"${value}" is no value of a label`);
  return value;
}

function valuesOf(tokens: Tokens): readonly string[] {
  tokens.expect('(');
  const values = [labelValue(tokens)];
  while (tokens.accept(',')) values.push(labelValue(tokens));
  tokens.expect(')');
  return values;
}

class Tokens {
  readonly #text: string;
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    const tokens: string[] = [];
    const end = text.trimEnd().length;
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < end) {
      // Every character begins one of the alternatives, so there always is a match.
      const match = TOKEN.exec(text);
      if (match === null) break;
      tokens.push(match[1] ?? '');
    }
    this.#tokens = tokens;
  }

  get next(): string | undefined {
    return this.#tokens[this.#at];
  }

  take(): void {
    this.#at++;
  }

  accept(token: string): boolean {
    if (this.next !== token) return false;
    this.take();
    return true;
  }

  expect(token: string): void {
    if (!this.accept(token)) throw this.wrong(`expected "${token}", found "${this.next ?? ''}"`);
  }

  word(): string {
    const { next } = this;
    if (next === undefined || /^[=<>!(),]/.test(next)) throw this.wrong(`expected a word, found "${next ?? ''}"`);
    this.take();
    return next;
  }

  wrong(why: string) {
    return refuse(400, `unable to parse requirement of the label selector "${this.#text}": ${why}`);
  }
}
