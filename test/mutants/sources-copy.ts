import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onExit } from '../etcd/cleanup.ts';

const COPIED = [
  'src',
  'test',
  'tools',
  'docs',
  'sim',
  'package.json',
  'tsconfig.json',
  'tsconfig.node.json',
  'vitest.config.ts',
];

/**
 * A copy of the sources and tests that faults are put into, one at a time; the tree itself is never touched. It goes at
 * the end of the process, whatever the end is.
 */
export class SourcesCopy {
  readonly folder: string;
  readonly remove: () => void;

  constructor(root: URL) {
    this.folder = mkdtempSync(join(tmpdir(), 'plimsoll-mutants-'));
    this.remove = onExit(() => rmSync(this.folder, { recursive: true, force: true }));
    const filter = (path: string) => !path.includes('node_modules');
    for (const name of COPIED) {
      cpSync(fileURLToPath(new URL(name, root)), join(this.folder, name), { recursive: true, filter });
    }
    symlinkSync(fileURLToPath(new URL('node_modules', root)), join(this.folder, 'node_modules'));
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }
}
