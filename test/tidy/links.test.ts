import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkLinks } from './links.ts';
import { type ProjectFile, readProject, report, root } from './project.ts';

const pages = readProject().filter(({ path }) => path.endsWith('.md'));

function links(text: string, others: readonly ProjectFile[] = []): readonly string[] {
  const known = new Map([{ path: 'docs/page.md', text }, ...others].map((file) => [file.path, file.text]));
  return report(
    checkLinks(
      [{ path: 'docs/page.md', text }],
      (path) => known.has(path),
      (path) => known.get(path),
    ),
  );
}

describe('links', () => {
  it('of all pages lead to files and headings that exist', () => {
    const texts = new Map(pages.map(({ path, text }) => [path, text]));
    expect(
      report(
        checkLinks(
          pages,
          (path) => existsSync(root + path),
          (path) => texts.get(path),
        ),
      ),
    ).toEqual([]);
  });

  it('that lead nowhere are found', () => {
    expect(links('see [there](./missing.md)')).toEqual([
      'docs/page.md:1 links to "./missing.md", which does not exist',
    ]);
    expect(links('text\n\n[there]: ../README.md')).toHaveLength(1);
    expect(links('# One\n[a](#two)')).toEqual(['docs/page.md:2 links to "#two", which has no such heading']);
    expect(links('[a](./b.md#no)', [{ path: 'docs/b.md', text: '# Yes' }])).toHaveLength(1);
  });

  it('that lead somewhere are not', () => {
    expect(
      links('[a](./b.md#the-gate-npm-test) [c](https://example.org/x)', [
        { path: 'docs/b.md', text: '## The gate: `npm test`' },
      ]),
    ).toEqual([]);
    expect(links('```\n[a](./missing.md)\n```\nand `[b](./missing.md)`')).toEqual([]);
    expect(links('# Top\n[a](#top)')).toEqual([]);
  });
});
