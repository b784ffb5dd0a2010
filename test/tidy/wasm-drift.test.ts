import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkWasm, wasmDrift } from '../../tools/check-wasm.mjs';
import { EMBEDDED, parseEmbedded, renderEmbedded } from '../../tools/embed-wasm.mjs';

/** What a page that uses the core may have to load for it; `assembly/README.md` states what it is. */
const GZIP_BYTES_MAX = 20_000;

describe('the embedded core', () => {
  it('is what assembly/ compiles to', async () => {
    expect(await checkWasm()).toBeUndefined();
  });

  it('is at most 20,000 bytes when packed', async () => {
    const text = await readFile(new URL(`../../${EMBEDDED}`, import.meta.url), 'utf8');
    expect(gzipSync(parseEmbedded(text), { level: 9 }).length).toBeLessThanOrEqual(GZIP_BYTES_MAX);
  });

  it('is written and read without loss, whatever its length', () => {
    for (const length of [1, 2, 3, 86, 87, 88, 500]) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 37) & 255);
      expect([...parseEmbedded(renderEmbedded(bytes))]).toEqual([...bytes]);
    }
  });

  it('drifts when a byte differs, or the layout', () => {
    const bytes = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
    expect(wasmDrift(renderEmbedded(bytes), bytes)).toBeUndefined();
    expect(wasmDrift(renderEmbedded(bytes), Uint8Array.of(...bytes, 1))).toContain('it holds 8 bytes');
    expect(wasmDrift(`${renderEmbedded(bytes)}\n`, bytes)).toContain('another layout');
    expect(() => wasmDrift('', bytes)).toThrow('holds no base64 text');
  });
});
