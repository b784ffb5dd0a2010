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
  for (const [name, wanted] of Object.entries(manifest.devDependencies ?? {})) {
    // Under an alias: `npm:@kubernetes/client-node@1.4.0`.
    const version = wanted.replace(/^npm:(?:@[\w-]+\/)?[\w-]+@/, '');
    if (!/^\d+\.\d+\.\d+$/.test(version)) found.push(`${name} is not pinned exactly: ${version}`);
    if (rows.get(name) !== version) found.push(`${name} ${version} has no row in CONTRIBUTING.md`);
    rows.delete(name);
  }
  for (const name of rows.keys()) found.push(`${name} has a row in CONTRIBUTING.md, but is not used`);
  return found.map((message) => ({ path: 'package.json', line: 1, message }));
}

interface Lockfile {
  readonly packages?: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}

/**
 * The packages of a lockfile that run a script when they are installed are those of `allowScripts` in the manifest
 * beside it. npm alone does not see to that: older ones do not know the field, newer ones only tell.
 */
export function checkInstallScripts(
  path: string,
  manifest: { readonly allowScripts?: Readonly<Record<string, boolean>> },
  lockfile: Lockfile,
): readonly Violation[] {
  const allowed = new Set(Object.keys(manifest.allowScripts ?? {}));
  const running = Object.entries(lockfile.packages ?? {})
    .filter(([place, { hasInstallScript }]) => place !== '' && hasInstallScript === true)
    .map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
  const found = running
    .filter((name) => !allowed.has(name))
    .map((name) => `${name} has an install script, but is not in allowScripts`);
  for (const name of allowed) {
    if (!running.includes(name)) found.push(`${name} is in allowScripts, but has no install script`);
  }
  return found.map((message) => ({ path, line: 1, message }));
}
