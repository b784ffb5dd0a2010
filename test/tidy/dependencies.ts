import type { Violation } from './project.ts';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** No run-time dependency; every development dependency pinned exactly, with its row (pin and reason) in CONTRIBUTING.md. */
export function checkDependencies(manifest: Manifest, contributing: string): readonly Violation[] {
  const rows = new Map(
    [...contributing.matchAll(/^\| `([@\w/-]+)` \| (\d+\.\d+\.\d+) \| (\S.*) \|$/gm)].map(([, name, pin]) => [
      name,
      pin,
    ]),
  );
  const found: string[] = [];
  for (const name of Object.keys(manifest.dependencies ?? {})) found.push(`${name} is a run-time dependency`);
  for (const [name, version] of Object.entries(manifest.devDependencies ?? {})) {
    if (!/^\d+\.\d+\.\d+$/.test(version)) found.push(`${name} is not pinned exactly: ${version}`);
    if (rows.get(name) !== version) found.push(`${name} ${version} has no row in CONTRIBUTING.md`);
    rows.delete(name);
  }
  for (const name of rows.keys()) found.push(`${name} has a row in CONTRIBUTING.md, but is not used`);
  return found.map((message) => ({ path: 'package.json', line: 1, message }));
}
