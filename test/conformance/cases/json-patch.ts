import { applyPatch, type DiffJsonOptions, diffJson, mergePatchOf, ValueError } from 'plimsoll';
import { equal, test, throws } from '../harness.ts';

test('json patch: a difference makes the other value', () => {
  const before = { name: 'web', ports: [{ port: 80 }, { port: 443 }], tags: ['a', 'b', 'c'], old: null };
  const after = {
    name: 'web',
    ports: [{ port: 8080 }, { port: 443 }, { port: 9 }],
    tags: ['a', 'c', 'd'],
    'a/b': null,
  };
  const patch = diffJson(before, after);
  equal(patch, [
    { op: 'remove', path: '/old' },
    { op: 'replace', path: '/ports/0/port', value: 8080 },
    { op: 'add', path: '/ports/2', value: { port: 9 } },
    { op: 'remove', path: '/tags/1' },
    { op: 'add', path: '/tags/2', value: 'd' },
    { op: 'add', path: '/a~1b', value: null },
  ]);
  equal(applyPatch(before, patch), after);
  equal(diffJson(after, after), []);
});

test('json patch: with the order of members, to the letter', () => {
  const [before, after] = [
    { b: 1, c: 2 },
    { a: 0, b: 1, c: 2 },
  ];
  equal(JSON.stringify(applyPatch(before, diffJson(before, after))), '{"b":1,"c":2,"a":0}');
  equal(JSON.stringify(applyPatch(before, diffJson(before, after, { keyOrder: 'exact' }))), '{"a":0,"b":1,"c":2}');
});

test('merge patch: of a difference, or none', () => {
  equal(mergePatchOf({ a: 1, b: { c: 1, d: 2 } }, { b: { c: 2, d: 2 } }), { a: null, b: { c: 2 } });
  equal(applyPatch({ a: 1, b: { c: 1, d: 2 } }, { a: null, b: { c: 2 } }), { b: { c: 2, d: 2 } });
  equal(mergePatchOf({}, { a: null }), undefined);
});

test('json patch: what is no data, and what does not fit', () => {
  throws(() => diffJson({}, undefined), { class: ValueError });
  throws(() => diffJson(1, 2, { keyOrder: 'sorted' } as unknown as DiffJsonOptions), { class: TypeError });
  throws(() => applyPatch({ a: 1 }, [{ op: 'test', path: '/a', value: 2 }]), { class: ValueError });
});
