import { describe, expect, it } from 'vitest';
import type { EssenceHasherOptions } from '../../../src/core/essence-hasher.ts';
import { DEFAULT_POINTERS, RULE_NODES_MAX } from '../../../src/core/essence-rules.ts';
import { LimitExceededError } from '../../../src/types/errors.ts';
import { createHasher, utf8 } from './support.ts';

/** The same answer from both paths, or the test fails. */
function essence(value: unknown, options?: EssenceHasherOptions): string {
  const hasher = createHasher(options);
  const fromValue = hasher.canonicalize(value);
  expect(hasher.canonicalize(utf8(JSON.stringify(value)))).toBe(fromValue);
  expect(hasher.digest(utf8(JSON.stringify(value)))).toBe(hasher.digest(value));
  return fromValue;
}

function digest(value: unknown): string {
  return createHasher().digest(value);
}

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    uid: 'u-1',
    resourceVersion: '7',
    labels: { app: 'web' },
    annotations: { note: 'x' },
    managedFields: [{ manager: 'kubectl', time: '2026-01-01T00:00:00Z' }],
  },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i:1' }] },
  status: { phase: 'Running' },
};
type Pod = typeof POD;

function changed(change: (pod: Pod & { metadata: Record<string, unknown> }) => void): unknown {
  const pod = structuredClone(POD);
  change(pod);
  return pod;
}

describe('essence rules', () => {
  it('leaves digests alone on own writes: progress, finalizers, resource version (E1)', () => {
    const written = changed(({ metadata }) => {
      Object.assign(metadata.annotations, { 'plimsoll.dev/progress': '{"a":1}', 'plimsoll.dev/plimsoll-managed': '' });
      metadata.finalizers = ['plimsoll.dev/cleanup'];
      metadata.resourceVersion = '8';
    });
    expect(digest(written)).toBe(digest(POD));
  });

  it('leaves digests alone when the same manifest is applied again (E2)', () => {
    const applied = changed(({ metadata }) => {
      Object.assign(metadata.annotations, { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}\n' });
      metadata.generation = 1;
    });
    expect(digest(applied)).toBe(digest(POD));
  });

  it('leaves digests alone when only managedFields change (E3)', () => {
    expect(digest(changed(({ metadata }) => metadata.managedFields.push({ manager: 'm', time: 't' })))).toBe(
      digest(POD),
    );
  });

  it('sees a label (E4)', () => {
    expect(digest(changed(({ metadata }) => (metadata.labels.app = 'api')))).not.toBe(digest(POD));
  });

  it('leaves the object alone on a status change, and sees it with the defaults off (E5)', () => {
    const other = changed((pod) => (pod.status.phase = 'Failed'));
    expect(digest(other)).toBe(digest(POD));
    const view = createHasher({ defaults: false });
    expect(view.digest(other)).not.toBe(view.digest(POD));
  });

  it('does not see key order or undefined, and tells null from absent (E6)', () => {
    expect(digest({ spec: { b: 1, a: 2 } })).toBe(digest({ spec: { a: 2, c: undefined, b: 1 } }));
    expect(digest({ spec: { a: null } })).not.toBe(digest({ spec: {} }));
    expect(digest({ spec: {} })).not.toBe(digest({}));
  });

  it('does not see the deletion timestamp: deletion is a phase, not content (E9)', () => {
    const deleted = changed(({ metadata }) => {
      metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
      metadata.deletionGracePeriodSeconds = 30;
    });
    expect(digest(deleted)).toBe(digest(POD));
  });

  it('is stable and leaves the input as it is, frozen or not (E10)', () => {
    const before = JSON.stringify(POD);
    const frozen = Object.freeze(structuredClone(POD));
    const once = essence(frozen);
    expect(essence(JSON.parse(once))).toBe(once);
    expect(JSON.stringify(POD)).toBe(before);
  });

  it('reads every member once, and copies nothing (E12)', () => {
    const reads = new Map<string, number>();
    const spec = Object.freeze(Object.fromEntries(Array.from({ length: 1000 }, (_, place) => [`m${place}`, [place]])));
    const read = (name: string, value: unknown): unknown => {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return value;
    };
    const object = {
      get spec() {
        return read('spec', spec);
      },
      get status() {
        return read('status', {});
      },
    };
    for (const options of [{}, { lists: { '/spec/m1': 'set' } }, { normalise: (value: unknown) => value }] as const) {
      reads.clear();
      createHasher({ ...options, checkNormalise: 'sampled' }).digest(object);
      // An excluded part is not looked at by the writer, and its getter may be called by the other; a check is one walk more.
      expect(reads.get('spec')).toBe('normalise' in options ? 2 : 1);
      expect(reads.get('status') ?? 0).toBeLessThanOrEqual('normalise' in options ? 2 : 1);
    }
  });

  it('throws rather than give an empty digest, so that nothing can equal it (E11)', () => {
    const hasher = createHasher();
    expect(() => hasher.digest(utf8('{"spec":'))).toThrow('the text ends too early at byte 8');
    expect(() => hasher.digest({ spec: Number.NaN })).toThrow('Cannot digest the value: the value at /spec is NaN');
    expect(hasher.digest({})).toMatch(/^xxh3-128:[0-9a-f]{32}$/);
  });
});

describe('essence rules: defaults', () => {
  it('removes every default pointer', () => {
    const object = {
      apiVersion: 1,
      kind: 1,
      status: 1,
      spec: 1,
      metadata: Object.fromEntries(
        DEFAULT_POINTERS.flatMap((pointer) => /^\/metadata\/([^/]+)$/.exec(pointer)?.[1] ?? []).map((name) => [
          name,
          1,
        ]),
      ),
    };
    expect(essence(object)).toBe('{"spec":1}');
    expect(essence({ spec: { status: 1, kind: 2, metadata: { name: 3, labels: {} } } })).toBe(
      '{"spec":{"kind":2,"metadata":{"labels":{},"name":3},"status":1}}',
    );
  });

  it.each([
    // annotations, what stays of them
    [
      { 'plimsoll.dev/a': 1, 'plimsoll.dev': 2, 'xplimsoll.dev/a': 3, 'a.plimsoll.dev/b': 4 },
      ['a.plimsoll.dev/b', 'plimsoll.dev', 'xplimsoll.dev/a'],
    ],
    [
      {
        'cattle.io/a': 1,
        'field.cattle.io/b': 2,
        'a.b.cattle.io/c': 3,
        'xcattle.io/d': 4,
        'cattle.io.x/e': 5,
        'a/cattle.io/f': 6,
      },
      ['a/cattle.io/f', 'cattle.io.x/e', 'xcattle.io/d'],
    ],
    [
      { 'o.example/a': 1, 'o.example/plimsoll-managed': null, 'o.example.z/b': 2, 'o.example': 3 },
      ['o.example', 'o.example.z/b'],
    ],
    [
      { 'o/plimsoll-managed/x': 1, 'plimsoll-managed': 2, 'o/a': 3 },
      ['o/a', 'o/plimsoll-managed/x', 'plimsoll-managed'],
    ],
    [{ '/plimsoll-managed': 1, '/a': 2, b: 3 }, ['b']],
    [{ 'o/plimsoll-managed': {}, 'o/a': 1, 'p/a': [] }, []],
    [
      { 'deployment.kubernetes.io/revision': '1', 'deployment.kubernetes.io/revisions': '2' },
      ['deployment.kubernetes.io/revisions'],
    ],
  ])('of the annotations %j keeps %j', (annotations, kept) => {
    const text = essence({ metadata: { annotations } });
    const { metadata } = JSON.parse(text) as { metadata?: { annotations?: object } };
    expect(Object.keys(metadata?.annotations ?? {})).toEqual(kept);
  });

  it('finds a marker that an ignore pointer removes, and none that is undefined', () => {
    const object = { metadata: { annotations: { 'o/plimsoll-managed': '', 'o/a': 1 } } };
    expect(essence(object, { ignore: ['/metadata/annotations/o~1plimsoll-managed'] })).toBe('{}');
    const absent = { metadata: { annotations: { 'o/plimsoll-managed': undefined, 'o/a': 1 } } };
    expect(essence(absent)).toBe('{"metadata":{"annotations":{"o/a":1}}}');
  });

  it.each([
    // object, essence
    [{ metadata: {} }, '{}'],
    [{ metadata: { labels: {}, x: { y: { z: [] } } } }, '{}'],
    [{ metadata: { x: [{}, [], { y: {} }] } }, '{"metadata":{"x":[{},[],{}]}}'],
    [{ metadata: { annotations: { 'plimsoll.dev/x': '1' } }, spec: {} }, '{"spec":{}}'],
    [{ metadata: [] }, '{"metadata":[]}'],
    [{ metadata: [{ name: 1, x: {} }] }, '{"metadata":[{"name":1,"x":{}}]}'],
    [{ metadata: 'text' }, '{"metadata":"text"}'],
    [{ metadata: { annotations: [{ a: {} }] } }, '{"metadata":{"annotations":[{}]}}'],
    [{ metadata: { annotations: 'a/b' } }, '{"metadata":{"annotations":"a/b"}}'],
    [[{ metadata: { name: 'a' }, kind: 'b' }], '[{"kind":"b","metadata":{"name":"a"}}]'],
    ['metadata', '"metadata"'],
    [null, 'null'],
  ])('of %j the essence is %s', (object, expected) => {
    expect(essence(object)).toBe(expected);
  });

  it('judges an empty member of metadata after duplicates are resolved', () => {
    const hasher = createHasher();
    expect(hasher.canonicalize(utf8('{"metadata":{"a":1,"a":{}}}'))).toBe('{}');
    expect(hasher.canonicalize(utf8('{"metadata":{"a":{},"a":1}}'))).toBe('{"metadata":{"a":1}}');
    expect(hasher.canonicalize(utf8('{"metadata":{"a":1},"metadata":{"name":"n"}}'))).toBe('{}');
  });
});

describe('essence rules: ignore', () => {
  const object = { a: [{ b: 1, c: 2 }, { b: 3, c: 4 }, 5], '*': { b: 6 }, 1: { b: 7 }, 'x/y': { '~': 8 } };

  it.each([
    [['/a/*/b'], '{"*":{"b":6},"1":{"b":7},"a":[{"c":2},{"c":4},5],"x/y":{"~":8}}'],
    [['/*/b'], JSON.stringify({ '*': { b: 6 }, 1: { b: 7 }, a: object.a, 'x/y': { '~': 8 } })],
    [['/a/1'], '{"*":{"b":6},"1":{"b":7},"a":[{"b":1,"c":2},5],"x/y":{"~":8}}'],
    [['/a/*'], '{"*":{"b":6},"1":{"b":7},"a":[],"x/y":{"~":8}}'],
    [['/1/b', '/a/01', '/a/-'], '{"*":{"b":6},"1":{},"a":[{"b":1,"c":2},{"b":3,"c":4},5],"x/y":{"~":8}}'],
    [['/a/*/b', '/a/0/c'], '{"*":{"b":6},"1":{"b":7},"a":[{},{"c":4},5],"x/y":{"~":8}}'],
    [['/x~1y/~0', '/a'], '{"*":{"b":6},"1":{"b":7},"x/y":{}}'],
    [['/a', '/a/0/b'], '{"*":{"b":6},"1":{"b":7},"x/y":{"~":8}}'],
  ])('with %j', (ignore, expected) => {
    expect(JSON.parse(essence(object, { ignore }))).toEqual(JSON.parse(expected));
    expect(essence(object, { ignore, defaults: false })).toBe(essence(object, { ignore }));
  });

  it('tells names apart that are equal in their first and last bytes', () => {
    const names = ['12345678abcdefgh12345678', '12345678ABCDEFGH12345678', '1234567812345678', '12345678', '1234567'];
    const all = Object.fromEntries(names.map((name) => [name, 1]));
    for (const name of names) {
      const rest = Object.keys(JSON.parse(essence(all, { ignore: [`/${name}`] })) as object);
      expect(rest.sort()).toEqual(names.filter((other) => other !== name).sort());
    }
  });

  it('takes a thousand pointers at no loss', () => {
    const ignore = Array.from({ length: 1000 }, (_, index) => `/spec/field-with-a-long-name-${index}/x`);
    const spec = Object.fromEntries(ignore.map((pointer) => [pointer.split('/')[2], { x: 1, y: 2 }]));
    expect(essence({ spec }, { ignore })).not.toContain('"x"');
  });

  it.each([
    ['', 'the ignore pointer "" is the whole document'],
    ['a/b', 'the ignore pointer "a/b" does not start with "/"'],
    ['/a~b', 'the ignore pointer "/a~b" has a "~" that is neither "~0" nor "~1"'],
    ['/a~', 'the ignore pointer "/a~" has a "~" that is neither "~0" nor "~1"'],
    ['/\ud800', 'the ignore pointer "/\\ud800" has half of a surrogate pair'],
  ])('refuses %j', (pointer, reason) => {
    const create = (): unknown => createHasher({ ignore: ['/ok', pointer] });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`Cannot create the essence hasher: ${reason}`);
  });

  it('refuses options of the wrong type', () => {
    const wrong: readonly unknown[] = [{ ignore: [1] }, { ignore: '/a' }, { defaults: 'yes' }, { duplicates: 'first' }];
    for (const options of wrong) expect(() => createHasher(options as EssenceHasherOptions)).toThrow(TypeError);
    expect(() => createHasher({ ignore: ['/a'.repeat(1001)] })).toThrow(TypeError);
  });

  it('bounds what crossing wildcards multiply to', () => {
    const ignore = Array.from({ length: 20 }, (_, place) => {
      return `/${Array.from({ length: 20 }, (_unused, level) => (level === place ? '0' : '*')).join('/')}/x`;
    });
    expect(() => createHasher({ ignore })).toThrow(LimitExceededError);
    expect(() => createHasher({ ignore })).toThrow(`the number of rule nodes is at most ${RULE_NODES_MAX}`);
    expect(() => createHasher({ ignore: ignore.slice(0, 8) })).not.toThrow();
  });
});

describe('essence options', () => {
  it.each<[unknown, string]>([
    [null, 'the options are not an object'],
    [{ ignored: ['/a'] }, 'unknown option ignored'],
  ])('%j is refused', (options, reason) => {
    const create = () => createHasher(options as EssenceHasherOptions);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`Cannot create the essence hasher: ${reason}`);
  });
});
