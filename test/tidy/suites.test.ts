import { describe, expect, it } from 'vitest';
import { parseBudgets, SUITES, USE_BUILD } from '../suites.mjs';
import { readProject, report, select } from './project.ts';
import { checkTestNames } from './suites.ts';

const files = readProject();

describe('suites', () => {
  it('find every file that defines tests', () => {
    expect(report(checkTestNames(select(files, ['test', 'src', 'bench'])))).toEqual([]);
  });

  it('a test file that no suite looks for is found', () => {
    const text = "import { expect, it } from 'vitest';\nit('runs', () => {});";
    expect(checkTestNames([{ path: 'test/unit/store/store.test.ts', text }])).toEqual([]);
    expect(checkTestNames([{ path: 'test/unit/store/store.spec.ts', text }])).toHaveLength(1);
    expect(checkTestNames([{ path: 'test/other/store.test.ts', text }])).toHaveLength(1);
    expect(checkTestNames([{ path: 'test/support/a.ts', text: "import { expect } from 'vitest';" }])).toEqual([]);
  });

  it('have each a budget in test/README.md, 11 minutes in all', () => {
    const budgets = parseBudgets(files.find(({ path }) => path === 'test/README.md')?.text ?? '');
    expect([...budgets.keys()].sort()).toEqual([...SUITES].sort());
    const sum = [...budgets.values()].reduce((total, seconds) => total + seconds, 0);
    expect(sum).toBeLessThanOrEqual(11 * 60);
  });

  it('that look at dist/ have it built before', () => {
    const looking = SUITES.filter((suite) =>
      select(files, [`test/${suite}`], ['.ts', '.mjs']).some(({ text }) => /\bdist\//.test(text)),
    );
    expect(looking).toContain('e2e');
    expect(looking.filter((suite) => !USE_BUILD.includes(suite))).toEqual([]);
  });

  it('budgets are read from the table', () => {
    expect([...parseBudgets('| suite | budget |\n| --- | --- |\n| `unit` | 40 s | x |\n| other | - |')]).toEqual([
      ['unit', 40],
    ]);
  });
});
