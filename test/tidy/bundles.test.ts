import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseEmbedded } from '../../tools/embed-wasm.mjs';
import { checkBundles, reachable } from './bundles.ts';
import { root } from './project.ts';

const names = readdirSync(`${root}dist`).filter((name) => name.endsWith('.js'));
const built = new Map(names.map((name) => [name, readFileSync(`${root}dist/${name}`, 'utf8')]));

describe('bundles', () => {
  it('hold the core in one way each, and share nothing', () => {
    const inline = ['mod.js', 'etcd.js', 'kubernetes.js', 'sqlite.js', 'testing.js', 'testing-node.js', 'cli.js'];
    expect(
      checkBundles(
        inline,
        ['mod.static.js', 'etcd.static.js', 'kubernetes.static.js', 'sqlite.static.js', 'testing.static.js'],
        built,
      ),
    ).toEqual([]);
  });

  it('are beside the very module that is embedded', () => {
    const embedded = parseEmbedded(readFileSync(`${root}src/core/wasm-bytes.ts`, 'utf8'));
    expect(readFileSync(`${root}dist/core.wasm`).equals(embedded)).toBe(true);
  });

  it('are followed through their chunks', () => {
    const texts = new Map([
      ['mod.js', "import { a } from './chunk-A.js';\nexport { a };"],
      ['chunk-A.js', "import './chunk-B.js';"],
      ['chunk-B.js', ''],
      ['other.js', ''],
    ]);
    expect([...reachable('mod.js', texts)]).toEqual(['mod.js', 'chunk-A.js', 'chunk-B.js']);
  });

  it.each([
    ['is in both bundles', "import './b.js';", "import m from './core.wasm?module';\nimport './b.js';", ''],
    ['of the static bundle carries the bytes', "'AGFzbQEAAAAB'", "import './b.js';", "'AGFzbQEAAAAB'"],
    ['of the inline bundle imports the module', "import './core.wasm?module';", '', ''],
    ['the inline bundle does not carry the bytes', '', "import './core.wasm?module';", ''],
    ['the static bundle does not import the module', "'AGFzbQEAAAAB'", '', ''],
  ])('that are wrong are found: %s', (message, inline, hosted, chunk) => {
    const texts = new Map([
      ['a.js', inline],
      ['s.js', hosted],
      ['b.js', chunk],
    ]);
    expect(checkBundles(['a.js'], ['s.js'], texts).join('\n')).toContain(message);
  });
});
