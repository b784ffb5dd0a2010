import { describe, expect, it } from 'vitest';
import { checkCases, checkCoverage, type ExportsList, SUITE, selectCases, vectorDigests } from './conformance.ts';
import { type ProjectFile, readProject, report } from './project.ts';

const files = readProject();
const cases = selectCases(files);

function file(path: string): ProjectFile {
  const found = files.find((candidate) => candidate.path === path);
  if (found === undefined) throw new Error(`Cannot read ${path}: no such file`);
  return found;
}

function inline(text: string, path = 'test/conformance/cases/a.ts'): ProjectFile {
  return { path, text };
}

/** The names that a case with this text leaves out. */
function missing(text: string): readonly string[] {
  const exported = { plimsoll: { values: ['Gone', 'open'] }, 'plimsoll/testing': { values: ['fake'] } };
  return report(checkCoverage([inline(text)], exported)).map((line) => line.split(' ')[4] ?? line);
}

describe('the conformance suite', () => {
  it('uses every run-time name of all entry points', () => {
    const exported = JSON.parse(file('test/tidy/exports.json').text) as ExportsList;
    expect(Object.keys(exported)).toEqual([
      'plimsoll',
      'plimsoll/etcd',
      'plimsoll/kubernetes',
      'plimsoll/sqlite',
      'plimsoll/testing',
      'plimsoll/testing/node',
    ]);
    // That one is of Node alone, and has tests of its own there.
    const { 'plimsoll/testing/node': _, ...everywhere } = exported;
    expect(report(checkCoverage(cases, everywhere))).toEqual([]);
  });

  it('loads every case, and nothing but the package by its name', () => {
    expect(cases.length).toBeGreaterThan(20);
    expect(report(checkCases(file(SUITE), cases))).toEqual([]);
  });

  it('has the test vectors of docs/essence.md', () => {
    const listed = vectorDigests(file('docs/essence.md').text);
    expect(listed.length).toBeGreaterThan(5);
    expect(vectorDigests(file('test/conformance/cases/essence-vectors.ts').text)).toEqual(listed);
  });
});

describe('a name is used', () => {
  it.each([
    ['by name', "import { Gone, open } from 'plimsoll';\nimport { fake } from 'plimsoll/testing';\nfake(open, Gone);"],
    [
      'under another name',
      "import { Gone as A, open as b } from 'plimsoll';\nimport { fake as c } from 'plimsoll/testing';\nc(new A(), b);",
    ],
    [
      'of a namespace',
      "import * as p from 'plimsoll';\nimport * as t from 'plimsoll/testing';\nt.fake(p.open, [{ class: p.Gone }]);",
    ],
    [
      'as a base class and as a shorthand',
      "import { Gone, open } from 'plimsoll';\nimport { fake } from 'plimsoll/testing';\nclass A extends Gone { x = { open, fake }; }",
    ],
  ])('%s', (_, text) => {
    expect(missing(text)).toEqual([]);
  });

  it.each([
    ['not at all', ''],
    ['imported only', "import { Gone, open } from 'plimsoll';\nimport { fake } from 'plimsoll/testing';"],
    ['a type import', "import type { Gone, open } from 'plimsoll';\nGone(open);"],
    ['a type specifier', "import { type Gone, type open } from 'plimsoll';\nGone(open);"],
    [
      'in types',
      "import { Gone, open } from 'plimsoll';\nlet a: Gone;\ntype B = typeof open;\ninterface C { d: Gone }\nf<Gone>(a as Gone);",
    ],
    ['a member of that name', "import { Gone, open } from 'plimsoll';\na.open({ Gone: 1, open: 2 }, b.Gone);"],
    ['a namespace as a whole', "import * as plimsoll from 'plimsoll';\nObject.values(plimsoll);"],
    [
      'of another entry',
      "import { Gone, open } from 'plimsoll/testing';\nimport { fake } from 'plimsoll';\nfake(open, Gone);",
    ],
    ['in strings and comments', "import { Gone, open } from 'plimsoll';\n'Gone open'; // open(Gone)"],
  ])('not when it is %s', (_, text) => {
    expect(missing(text)).toEqual(['Gone', 'open', 'fake']);
  });
});

describe('a case', () => {
  it('that the suite does not load is found, a helper of a loaded one is not', () => {
    const suite = inline("import './cases/a.ts';", SUITE);
    const list = [
      inline("import { b } from './b.ts';"),
      inline('', 'test/conformance/cases/b.ts'),
      inline('', 'test/conformance/cases/c.ts'),
    ];
    expect(report(checkCases(suite, list))).toEqual(['test/conformance/cases/c.ts:1 is not loaded']);
  });

  it.each(['node:fs', '../../../src/mod.ts', 'vitest', '../../unit/handlers/harness.ts', 'plimsoll/core.wasm'])(
    'may not import %s',
    (specifier) => {
      const suite = inline("import './cases/a.ts';", SUITE);
      const found = checkCases(suite, [
        inline(`import { equal } from '../harness.ts';\nimport { a } from '${specifier}';`),
      ]);
      expect(report(found)).toHaveLength(1);
      expect(report(found)[0]).toContain(`cases/a.ts:2 "${specifier}"`);
    },
  );
});
