import {
  type Controller,
  createController,
  createEssenceHasher,
  createStoreSource,
  openStore,
  UnsupportedError,
} from 'plimsoll';
import { type ErrorExpectation, equal, test, throws } from '../harness.ts';
import { createWorld, type Thing } from './handlers-support.ts';

const wrong = (value: unknown) => value as never;
const nothing = () => {};

function controller(options: object = {}): Controller<Thing> {
  const { clock, source } = createWorld();
  return createController<Thing>({ source, clock, ...options });
}

const OPTIONS: [string, object, ErrorExpectation][] = [
  ['a taken id', { id: 'taken' }, { class: TypeError }],
  ['an empty id', { id: '' }, { class: TypeError }],
  ['an id with a slash', { id: 'a/b' }, { class: TypeError }],
  ['an id of 254 units', { id: 'x'.repeat(254) }, { class: TypeError }],
  ['an id that is no string', { id: 1 }, { class: TypeError }],
  ['a field and a select', { field: 'spec', select: nothing }, { class: TypeError }],
  ['an empty field', { field: '' }, { class: TypeError }],
  ['a field with an empty key', { field: 'a..b' }, { class: TypeError }],
  ['an unknown option', { retry: 1 }, { class: TypeError }],
  ['a select that is no function', { select: 'spec' }, { class: TypeError }],
  ['retries that are no whole number', { retries: 0.5 }, { class: RangeError }],
  ['negative retries', { retries: -1 }, { class: RangeError }],
  ['no time', { timeoutMs: 0 }, { class: RangeError }],
  ['a backoff without a base', { backoff: { baseMs: 0 } }, { class: RangeError }],
  ['a backoff that shrinks', { backoff: { factor: 0.5 } }, { class: RangeError }],
  ['a filter that is no function', { when: true }, { class: TypeError }],
  ['retries as text', { retries: '3' }, { class: TypeError }],
  ['a backoff with a name too many', { backoff: { max: 1 } }, { class: TypeError }],
  ['a backoff with more chance than wait', { backoff: { jitter: 2 } }, { class: RangeError }],
];

for (const [name, options, expected] of OPTIONS) {
  test(`wrong handler: ${name}`, () => {
    const target = controller();
    target.on('change', { id: 'taken' }, nothing);
    throws(() => target.on('change', wrong({ id: 'h', ...options }), nothing), expected);
    // Nothing was registered by half.
    target.on('change', { id: 'h' }, nothing);
  });
}

test('wrong handler: a kind of tomorrow is unsupported', () => {
  const all = 'change, create, update, resume, delete, event, timer, daemon, index, startup, cleanup';
  for (const kind of ['timers', 'validate', 'Change', '']) {
    const error = throws(() => controller().on(kind as 'change', { id: 'h' }, nothing), {
      class: UnsupportedError,
      code: 'UNSUPPORTED',
    });
    equal(error.capability, `the kind "${kind}" (there are ${all})`);
  }
});

test('wrong controller: an object is asked about by its name', () => {
  const target = controller();
  for (const name of [5, undefined, null, {}, ['a'], new String('a')]) {
    throws(() => target.explain(wrong(name)), { class: TypeError });
    throws(() => target.state(wrong(name)), { class: TypeError });
  }
  equal(target.state('a'), undefined);
});

test('wrong controller: figures out of range are refused', () => {
  for (const options of [
    { concurrency: 0 },
    { concurrency: Number.NaN },
    { drainMs: -1 },
    { drainMs: Number.NaN },
    { backoff: { maxMs: 1 } },
    { backoff: { maxMs: Number.POSITIVE_INFINITY } },
  ]) {
    throws(() => controller(options), { class: RangeError });
  }
});

test('wrong controller: options that are misspelt, of the wrong type or exclude each other are refused', () => {
  for (const options of [
    { concurency: 1 },
    { source: undefined },
    { source: {} },
    { progress: new Map() },
    { essence: { digest: () => '' } },
    { clock: { now: () => 0 } },
    { logger: {} },
    { random: 1 },
    { view: 'spec' },
    { policy: 'newest' },
    { essence: createEssenceHasher(), view: (object: unknown) => object },
  ]) {
    throws(() => controller(options), { class: TypeError });
  }
});

test('wrong store source: a prefix that is no text, an unknown name, and no store', async () => {
  const store = await openStore();
  for (const options of [{}, { prefix: 1 }, { prefix: '', limit: 1 }, undefined]) {
    throws(() => createStoreSource(store, wrong(options)), { class: TypeError });
  }
  for (const other of [undefined, {}]) {
    throws(() => createStoreSource(wrong(other), { prefix: '' }), { class: TypeError });
  }
  await store.close();
});
