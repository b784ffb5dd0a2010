import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hideDecorators, showDecorators, styleAssembly } from '../../tools/style-assembly.mjs';
import { root } from './project.ts';

/** Exit code and output of one of our development tools, run with this very Node. */
async function run(script: string, ...args: readonly string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [`${root}node_modules/${script}`, ...args], {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { code, output: `${stdout ?? ''}${stderr ?? ''}` };
  }
}

describe('the tool chain accepts', () => {
  it('the types of src/ with Web globals only (tsc -p tsconfig.json)', async () => {
    expect(await run('typescript/bin/tsc', '-p', 'tsconfig.json')).toEqual({ code: 0, output: '' });
  });

  it('the types of everything (tsc -p tsconfig.node.json)', async () => {
    expect(await run('typescript/bin/tsc', '-p', 'tsconfig.node.json')).toEqual({ code: 0, output: '' });
  });

  it('format and lint (biome check)', async () => {
    const { code, output } = await run('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--colors=off');
    expect(code === 0 ? '' : output).toBe('');
  });

  it('format and lint of assembly/ (tools/style-assembly.mjs)', async () => {
    const { code, output } = await styleAssembly();
    expect(code === 0 ? '' : output).toBe('');
  });

  it('decorated functions of AssemblyScript: hidden from biome and shown again', () => {
    const text = '@unmanaged\nclass A {\n  @inline f(): void {}\n}\n\n@inline\nexport function f(): void {}\n';
    expect(hideDecorators(text)).toBe(text.replace('\n@inline\nexport', '\n// @@inline\nexport'));
    expect(showDecorators(hideDecorators(text))).toBe(text);
  });
});
