import fc from 'fast-check';

/**
 * Documents and the many ways to write each of them down.
 *
 * A spelling is a list of small numbers that is consumed left to right: white space, escapes, order of members and
 * duplicates are all decided by the next number, so that a failing case shrinks to plain spelling.
 */
export interface Spelling {
  readonly choices: readonly number[];
  readonly duplicates: boolean;
}

export function spelling(): fc.Arbitrary<Spelling> {
  return fc.record({ choices: fc.array(fc.nat(255), { maxLength: 40 }), duplicates: fc.boolean() });
}

/** Well-formed text: lone surrogates have no UTF-8 and are tested by table. */
function text(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom('a', 'b', '\u0000', '\u001f', '"', '\\', '/', 'é', '\ud7ff', '\ue000', '\uffff', '𐀀', '😂'),
    }),
    fc.constantFrom('', 'a'.repeat(15), 'a'.repeat(16), 'a'.repeat(17), 'a'.repeat(33), 'é'.repeat(40)),
  );
}

function memberName(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom('a', 'b', 'ab', 'a!', '*', '0', '1', '~', '/', '__proto__', 'constructor', 'toJSON', 'metadata'),
    fc.constantFrom('kind', 'status', 'name', 'annotations', 'labels', 'apiVersion', 'uid', 'spec', 'metadata'),
    text(),
  );
}

function annotationName(): fc.Arbitrary<string> {
  const prefix = fc.constantFrom(
    'x.example',
    'y',
    '',
    'plimsoll.dev',
    'cattle.io',
    'a.cattle.io',
    'acattle.io',
    'x.example.z',
  );
  const name = fc.constantFrom('plimsoll-managed', 'a', 'b/c', 'plimsoll-managed/d', '\u0001');
  return fc.oneof(
    fc.tuple(prefix, name).map(([before, behind]) => `${before}/${behind}`),
    fc.constantFrom(
      'plimsoll.dev',
      'kubectl.kubernetes.io/last-applied-configuration',
      'deployment.kubernetes.io/revision',
    ),
    text(),
  );
}

function number(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.tuple(fc.integer({ min: -99999, max: 99999 }), fc.integer({ min: 0, max: 9 })).map(([n, s]) => n / 10 ** s),
    fc.constantFrom(0, -0, 1e21, 1e-6, 1e-7, 2 ** 53, 123456789012345, 1234567890123456, Number.MAX_VALUE, 5e-324),
  );
}

/** A JSON value; half of the time an object with the shape of a Kubernetes one. */
export function jsonDocument(): fc.Arbitrary<unknown> {
  const { value, record } = fc.letrec<{
    value: unknown;
    record: Record<string, unknown>;
    list: unknown[];
    leaf: unknown;
  }>((tie) => ({
    leaf: fc.oneof(text(), number(), fc.boolean(), fc.constant(null)),
    list: fc.array(tie('value'), { maxLength: 5, depthIdentifier: 'json' }),
    record: recordOf(memberName(), tie('value'), 5),
    value: fc.oneof({ depthIdentifier: 'json', maxDepth: 5 }, tie('leaf'), tie('list'), tie('record')),
  }));
  const annotations = fc.oneof({ weight: 5, arbitrary: recordOf(annotationName(), value, 8) }, value);
  const metadata = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(record, fc.option(annotations, { nil: undefined }))
        .map(([fields, notes]) => (notes === undefined ? fields : withMember(fields, 'annotations', notes))),
    },
    { weight: 1, arbitrary: value },
  );
  const kubernetes = fc.tuple(record, metadata).map(([fields, meta]) => withMember(fields, 'metadata', meta));
  const wide = fc
    .array(fc.tuple(memberName(), fc.nat(9)), { maxLength: 80 })
    .map((entries) => Object.fromEntries(entries));
  return fc.oneof(
    { weight: 4, arbitrary: value },
    { weight: 5, arbitrary: kubernetes },
    { weight: 1, arbitrary: wide },
  );
}

function recordOf(
  name: fc.Arbitrary<string>,
  value: fc.Arbitrary<unknown>,
  maxLength: number,
): fc.Arbitrary<Record<string, unknown>> {
  // `fromEntries` defines members, so that `__proto__` is one like any other.
  return fc
    .array(fc.tuple(name, value), { maxLength, depthIdentifier: 'json' })
    .map((entries) => Object.fromEntries(entries));
}

function withMember(record: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(record), [name, value]]);
}

/** Pointers that have a chance to hit. */
export function pointerSet(): fc.Arbitrary<string[]> {
  const escaped = memberName().map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'));
  const segment = fc.oneof(
    fc.constantFrom('*', '0', '1', '2', 'a', 'metadata', 'annotations', 'x.example~1a'),
    escaped,
  );
  const pointer = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
  return fc.array(pointer, { maxLength: 5 });
}

/** Writes the document down in the given style. */
export function spell(document: unknown, style: Spelling): string {
  return new Speller(style).value(document);
}

class Speller {
  readonly #style: Spelling;
  #next = 0;

  constructor(style: Spelling) {
    this.#style = style;
  }

  value(value: unknown): string {
    return `${this.#space()}${this.#bare(value)}${this.#space()}`;
  }

  #choice(): number {
    return this.#style.choices[this.#next++] ?? 0;
  }

  #space(): string {
    const choice = this.#choice();
    if (choice < 180) return '';
    return [' ', '\n', '\t', '\r\n', ' '.repeat(choice - 170), `\n${' '.repeat(17)}`][choice % 6] ?? '';
  }

  #bare(value: unknown): string {
    if (typeof value === 'string') return this.#string(value);
    if (typeof value === 'number') return this.#number(value);
    if (Array.isArray(value)) {
      return value.length === 0 ? `[${this.#space()}]` : `[${value.map((item) => this.value(item)).join(',')}]`;
    }
    return typeof value === 'object' && value !== null ? this.#object(value) : String(value);
  }

  #object(value: object): string {
    const entries: [string, unknown][] = Object.entries(value);
    const turn = entries.length === 0 ? 0 : this.#choice() % entries.length;
    const ordered = [...entries.slice(turn), ...entries.slice(0, turn)];
    if (this.#choice() % 3 === 2) ordered.reverse();
    if (this.#style.duplicates) {
      // Earlier namesakes do not count, whatever they are and whatever lies between.
      const decoys = ordered.map(([name]): [string, unknown] => [
        name,
        [{}, [], 0, { a: { b: 1 } }][this.#choice() % 4],
      ]);
      ordered.unshift(...decoys);
    }
    const members = ordered.map(([name, member]) => {
      return `${this.#space()}${this.#string(name)}${this.#space()}:${this.value(member)}`;
    });
    return members.length === 0 ? `{${this.#space()}}` : `{${members.join(',')}}`;
  }

  #number(value: number): string {
    const text = Object.is(value, -0) ? '-0' : String(value);
    if (/[.e]/.test(text)) return /^-?[0-9]+\.[0-9]+$/.test(text) && this.#choice() > 128 ? `${text}00` : text;
    return [text, text, `${text}.0`, `${text}.000`, `${text}e0`, `${text}E+00`][this.#choice() % 6] ?? text;
  }

  #string(text: string): string {
    let spelled = '';
    for (let place = 0; place < text.length; place++) {
      const unit = text.charCodeAt(place);
      const surrogate = unit >= 0xd800 && unit < 0xe000;
      const choice = surrogate ? 0 : this.#choice();
      const plain = JSON.stringify(text.charAt(place)).slice(1, -1);
      if (surrogate) spelled += text.charAt(place);
      else if (choice % 5 === 3) spelled += unicodeEscape(unit, choice > 128);
      else spelled += choice % 5 === 4 && unit === 0x2f ? '\\/' : plain;
    }
    if (this.#choice() % 4 !== 3) return `"${spelled}"`;
    const pairs = spelled.replace(/[\ud800-\udbff][\udc00-\udfff]/g, (pair) => {
      return unicodeEscape(pair.charCodeAt(0), true) + unicodeEscape(pair.charCodeAt(1), false);
    });
    return `"${pairs}"`;
  }
}

function unicodeEscape(unit: number, upper: boolean): string {
  const digits = unit.toString(16).padStart(4, '0');
  return `\\u${upper ? digits.toUpperCase() : digits}`;
}
